//! The three gates of a promise: claimed, validated by somebody else, judged. Whether work may stop follows from what was
//! said at them, and from nothing else.

use super::row::{BUILTIN, NONE, PERSON, PromiseRow};
use super::verdict::{CriterionStatus, Verdict};
use std::collections::BTreeMap;

/// How far a promise has come. Each gate is looked at only when the one before it is passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Gate 1: these criteria are not said to be met.
    Unclaimed(Vec<String>),
    /// Gate 2: these have not looked yet.
    Unvalidated(Vec<String>),
    /// Gate 2: the verdict holds it back, because of these criteria.
    Failed(Verdict, Vec<String>),
    /// Gate 2: some criteria hold, these do not. A person may accept that.
    Partial(Vec<String>),
    /// Gate 3: the judge has not spoken yet.
    Unjudged,
    /// Gate 3: the judge said FAIL.
    Rejected,
    /// Gate 3: the judge could not be reached.
    Unreached,
    /// Every gate is passed.
    Passed,
}

impl Standing {
    /// The gate that holds it back: 1, 2 or 3. None, if it is through.
    pub fn gate(&self) -> Option<u8> {
        match self {
            Self::Unclaimed(_) => Some(1),
            Self::Unvalidated(_) | Self::Failed(..) | Self::Partial(_) => Some(2),
            Self::Unjudged | Self::Rejected | Self::Unreached => Some(3),
            Self::Passed => None,
        }
    }

    /// The same in a sentence.
    pub fn says(&self) -> String {
        match self {
            Self::Unclaimed(criteria) if criteria.is_empty() => "no result was brought yet".to_owned(),
            Self::Unclaimed(criteria) => format!("not said to be met: {}", criteria.join(", ")),
            Self::Unvalidated(who) if who.is_empty() => "nobody else has looked at it yet".to_owned(),
            Self::Unvalidated(who) => format!("not validated yet by {}", who.join(", ")),
            Self::Failed(verdict, criteria) => format!("validated as {verdict}: {}", criteria.join(", ")),
            Self::Partial(criteria) => {
                format!("validated as PARTIAL: {} not shown to hold; a person may accept that", criteria.join(", "))
            }
            Self::Unjudged => "the judge has not spoken yet".to_owned(),
            Self::Rejected => "the judge said FAIL".to_owned(),
            Self::Unreached => "the judge could not be reached".to_owned(),
            Self::Passed => "every gate is passed".to_owned(),
        }
    }
}

impl PromiseRow {
    /// How far it has come.
    pub fn standing(&self) -> Standing {
        if self.claim.is_none() {
            return Standing::Unclaimed(if self.of_task.is_some() { Vec::new() } else { self.unmet() });
        }
        let missing = self.unvalidated();
        if (!missing.is_empty() && !self.is_refuted()) || self.verdicts.is_empty() {
            return Standing::Unvalidated(missing);
        }
        let results = self.results();
        let failures: Vec<String> =
            results.iter().filter(|(_, it)| *it != CriterionStatus::Pass).map(|(id, _)| id.clone()).collect();
        match Verdict::of(results.iter().map(|(_, status)| *status)) {
            Verdict::Pass => self.third(),
            Verdict::Partial if self.acceptance.as_ref().is_some_and(|it| it.failures == failures) => self.third(),
            Verdict::Partial => Standing::Partial(failures),
            verdict => Standing::Failed(verdict, failures),
        }
    }

    fn third(&self) -> Standing {
        if self.judge == NONE {
            return Standing::Passed;
        }
        match self.judgement.as_ref().map(|it| it.verdict.as_str()) {
            None => Standing::Unjudged,
            Some("PASS" | "WARN") => Standing::Passed,
            Some("UNREACHED") if self.judge_optional => Standing::Passed,
            Some("UNREACHED") => Standing::Unreached,
            Some(_) => Standing::Rejected,
        }
    }

    /// The criteria that are not said to be met.
    pub fn unmet(&self) -> Vec<String> {
        self.criteria.iter().filter(|it| it.met.is_none()).map(|it| it.id.clone()).collect()
    }

    /// Who must still validate.
    pub fn unvalidated(&self) -> Vec<String> {
        self.validators.iter().filter(|it| !self.verdicts.contains_key(*it)).cloned().collect()
    }

    /// Whether the checks refute a criterion: whatever others would find, it does not pass, and nobody else need look. Where a
    /// person has accepted that, the others look after all.
    fn is_refuted(&self) -> bool {
        let fails =
            |results: &BTreeMap<String, CriterionStatus>| results.values().any(|it| *it == CriterionStatus::Fail);
        self.acceptance.is_none() && self.verdicts.get(BUILTIN).is_some_and(|verdict| fails(&verdict.results))
    }

    /// What all validators together found: one that fails a criterion outweighs all that pass it, one that could not see it
    /// likewise; to pass, somebody must have seen it.
    pub fn results(&self) -> Vec<(String, CriterionStatus)> {
        let found = |id: &str| {
            let all: Vec<CriterionStatus> =
                self.verdicts.values().filter_map(|verdict| verdict.results.get(id).copied()).collect();
            let order = [CriterionStatus::Fail, CriterionStatus::Blocked, CriterionStatus::Pass, CriterionStatus::Skip];
            order.into_iter().find(|status| all.contains(status)).unwrap_or(CriterionStatus::Skip)
        };
        self.criteria.iter().map(|criterion| (criterion.id.clone(), found(&criterion.id))).collect()
    }

    /// Whether only a person can go on with it.
    pub fn waits_for_a_person(&self) -> bool {
        match self.standing() {
            Standing::Unvalidated(who) => !who.is_empty() && who.iter().all(|it| it == PERSON),
            Standing::Unjudged => self.judge == PERSON,
            Standing::Partial(_) | Standing::Unreached => true,
            _ => false,
        }
    }
}
