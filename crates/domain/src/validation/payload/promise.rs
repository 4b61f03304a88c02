//! The claim: what a session promises, and what it says it has met.

use super::{PromiseCriterionId, PromiseId};
use crate::validation::rules;
use crate::work::authorship;
use countersign_contract::{Contract, List, Name, Rule, Text, Timestamp, Untrusted, choice, shape};

choice! {
    /// How far a promise has come.
    pub enum PromiseStatus {
        /// Made, not begun.
        Pending = "pending",
        /// Someone works on it.
        InProgress = "in_progress",
        /// Every criterion is met. Final.
        Verified = "verified",
        /// Given up. Final.
        Cancelled = "cancelled",
    }
}

choice! {
    /// How far a criterion of a promise has come.
    pub enum PromiseCriterionStatus {
        /// Not met yet.
        Pending = "pending",
        /// Met, as its owner says, with evidence.
        Met = "met",
    }
}

choice! {
    /// What kind of evidence shows that a criterion is met.
    pub enum EvidenceType {
        /// A test.
        Test = "test",
        /// The application in a browser.
        Browser = "browser",
        /// An answer of an API.
        Api = "api",
        /// A person looked.
        Manual = "manual",
        /// A test from end to end.
        E2e = "e2e",
    }
}

shape! {
    /// What a session takes upon itself, by which criteria it will be judged, and what it has met so far.
    pub struct Promise {
        /// Its id.
        pub id: PromiseId,
        /// How far it has come.
        pub status: PromiseStatus,
        /// What is promised, in a few words.
        pub title: Text = "Refuse empty carts",
        /// What is promised, in full.
        pub summary: Text = "The checkout answers an empty cart with status 400 and a reason",
        /// What must hold; the n-th is `AC-n`.
        pub acceptance_criteria: List<PromisedCriterion, 1>,
        /// Whose it is.
        pub ownership: Ownership,
    }
}

shape! {
    /// One thing that must hold, and what shows it.
    pub struct PromisedCriterion {
        /// `AC-` and its number.
        pub id: PromiseCriterionId,
        /// What must hold, in words.
        pub description: Untrusted<Text> = "an empty cart is answered with status 400",
        /// Whether it is met.
        pub status: PromiseCriterionStatus,
        /// What shows that it is met.
        pub evidence: Option<Untrusted<String>>,
        /// What kind of evidence that is.
        pub evidence_type: Option<EvidenceType>,
        /// When it was met.
        pub met_at: Option<Timestamp>,
        /// Who met it.
        pub met_by: Option<Name>,
    }
}

shape! {
    /// Whose a promise is. Without an owner it is released, and may be adopted.
    pub struct Ownership {
        /// Who made it.
        pub created_by: Name = "session-2026-02-07-a",
        /// When it was made.
        pub created_at: Timestamp,
        /// Who owns it, and alone may change it.
        pub owned_by: Option<Name>,
        /// Since when.
        pub owned_since: Option<Timestamp>,
    }
}

impl PromiseStatus {
    /// Whether nothing changes any more.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Verified | Self::Cancelled)
    }
}

impl PromisedCriterion {
    /// Whether it is said to be met.
    pub fn is_met(&self) -> bool {
        self.status == PromiseCriterionStatus::Met
    }

    /// The evidence, if it is more than white space.
    pub fn evidence(&self) -> Option<&Untrusted<String>> {
        self.evidence.as_ref().filter(|evidence| !evidence.is_blank())
    }
}

impl Contract for Promise {
    const NAME: &'static str = "promise";
    const VERSION: &'static str = "1.0.0";
    const DOMAIN: &'static str = "validation";
    const SUMMARY: &'static str = "What a session promises, the criteria it will be judged by, and what it has met";
    const MARKS: &'static [&'static str] = &["ownership"];
    const HAS_PAST: bool = true;

    fn rules() -> &'static [&'static Rule<Self>] {
        rules::promise::RULES
    }

    fn names(&self) -> Vec<String> {
        let owner = self.ownership.owned_by.iter();
        let people = owner.chain(self.acceptance_criteria.iter().filter_map(|it| it.met_by.as_ref()));
        let hands = people.map(|person| authorship::by(self.id.as_str(), person.as_str()));
        std::iter::once(self.id.to_string()).chain(hands).collect()
    }
}
