//! The question: does this work meet its criteria?

use super::{CommitHash, CriterionId, PrdId, ValidationTaskId, WebAddress};
use crate::validation::rules;
use countersign_contract::{Contract, Int, List, Name, Rule, Text, Untrusted, choice, shape};

choice! {
    /// What kind of looking is asked for.
    pub enum ValidationType {
        /// Read and run the code.
        Code = "code",
        /// Use the application as a person would.
        Browser = "browser",
        /// Both.
        Both = "both",
    }
}

shape! {
    /// Asks someone other than the author to look at every criterion of a task.
    pub struct ValidationRequest {
        /// The task; the response names the same one.
        pub task_id: ValidationTaskId,
        /// The requirements document that the task comes from.
        pub prd_id: Option<PrdId>,
        /// What kind of looking is asked for.
        pub validation_type: ValidationType,
        /// What must hold. Each is answered once.
        pub acceptance_criteria: List<RequestedCriterion, 1>,
        /// What the author claims. It is a claim, to be looked at and not relied on.
        pub claimed_evidence: Option<ClaimedEvidence>,
        /// Where the work lies; may be absolute.
        pub worktree_path: Option<Text>,
        /// The branch that holds the work.
        pub branch: Option<Text>,
        /// What must be running.
        pub services: Option<Services>,
        /// Where to look first.
        pub focus_areas: Option<List<Text>>,
        /// How long the validator may take; 300 when absent. A request past its time is answered BLOCKED.
        pub timeout_seconds: Option<Int<1>>,
        /// Who did the work, where the requester knows it, so that the validator is seen to be someone else.
        pub x_author: Option<Name>,
    }
}

shape! {
    /// One thing that must hold.
    pub struct RequestedCriterion {
        /// Its id, unique in the request.
        pub id: CriterionId,
        /// What must hold, in words.
        pub description: Untrusted<Text> = "an empty cart is answered with status 400",
        /// Where or how to look.
        pub validation_hint: Option<Untrusted<String>>,
    }
}

shape! {
    /// What the author of the work claims.
    pub struct ClaimedEvidence {
        /// What was done.
        pub summary: Option<String>,
        /// The files that were changed, relative to the worktree.
        pub files_modified: Option<List<Text>>,
        /// How the author's own tests went.
        pub test_results: Option<String>,
        /// The commit that holds the work.
        pub commit_hash: Option<CommitHash>,
    }
}

shape! {
    /// What must be running for the validator to look.
    pub struct Services {
        /// The application, for a browser.
        pub app_url: Option<WebAddress>,
        /// The API.
        pub api_url: Option<WebAddress>,
        /// Ports that must be listening.
        pub required_ports: Option<List<Int<1, 65535>>>,
    }
}

impl ValidationRequest {
    /// How long a validator may take when the request does not say.
    pub const TIMEOUT_SECONDS_DEFAULT: i64 = 300;

    /// How long the validator may take.
    pub fn timeout_seconds(&self) -> i64 {
        self.timeout_seconds.map_or(Self::TIMEOUT_SECONDS_DEFAULT, Int::get)
    }
}

impl Contract for ValidationRequest {
    const NAME: &'static str = "validation_request";
    const VERSION: &'static str = "1.0.0";
    const DOMAIN: &'static str = "validation";
    const SUMMARY: &'static str = "Asks an independent validator to look at every criterion of a task";
    const MARKS: &'static [&'static str] = &["validation_type"];

    fn rules() -> &'static [&'static Rule<Self>] {
        rules::validation_request::RULES
    }

    fn names(&self) -> Vec<String> {
        vec![self.task_id.to_string()]
    }
}
