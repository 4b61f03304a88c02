//! Who asks, and on what authority: words that instructions and audit entries share.

use super::ids::Repository;
use crate::wording::says_nothing;
use countersign_contract::{Name, Text, choice, shape};

choice! {
    /// On whose authority an action is asked for, from the least to the most.
    pub enum AuthorizationLevel {
        /// The requester's own.
        Autonomous = "AUTONOMOUS",
        /// A person approved it.
        HumanApproved = "HUMAN_APPROVED",
        /// It follows from an escalation that a person resolved.
        EscalationResolved = "ESCALATION_RESOLVED",
    }
}

choice! {
    /// Whether the rules of the house are kept.
    pub enum GovernanceStatus {
        /// They are.
        Compliant = "COMPLIANT",
        /// They are not, and work has stopped.
        Blocked = "BLOCKED",
        /// They are not, and a person has said to go on.
        Override = "OVERRIDE",
    }
}

choice! {
    /// What the tests say.
    pub enum QaStatus {
        /// All pass.
        Green = "GREEN",
        /// Some are in doubt.
        Amber = "AMBER",
        /// Some fail.
        Red = "RED",
        /// There is nothing to test.
        NotApplicable = "NOT_APPLICABLE",
    }
}

choice! {
    /// Yes or no.
    pub enum YesNo {
        /// Yes.
        Yes = "YES",
        /// No.
        No = "NO",
    }
}

choice! {
    /// Whether an escalation has been brought to its end.
    pub enum Completed {
        /// It has.
        Yes = "YES",
        /// It has not.
        No = "NO",
        /// There was none.
        NotApplicable = "NOT_APPLICABLE",
    }
}

shape! {
    /// Who asks for an action.
    pub struct Requester {
        /// What kind of agent it is: `FOREMAN`, `HUMAN`, or a name from the configuration.
        pub agent_type as "AGENT_TYPE": Name = "FOREMAN",
        /// Which one of them.
        pub agent_instance_id as "AGENT_INSTANCE_ID": Name = "foreman-1",
        /// The repository in which it is to happen.
        pub repository as "REPOSITORY": Repository,
        /// On what authority.
        pub level as "AUTHORIZATION_LEVEL": AuthorizationLevel = "HUMAN_APPROVED",
    }
}

shape! {
    /// Why an action is asked for, so that the record can be understood later.
    pub struct AuditContext {
        /// The requirement or issue that calls for it.
        pub requirement_id as "REQUIREMENT_ID": Text = "REQ-17",
        /// Where in the work it belongs.
        pub build_phase as "BUILD_PHASE": Text = "DELIVERY",
        /// The rule that permits it.
        pub governance_rule as "GOVERNANCE_RULE": Text = "merge policy, section 2",
        /// Why, in words.
        pub reason as "REASON": Text = "pull request 57 replaces it",
    }
}

/// What stands in a field of evidence that has none to name.
pub(crate) const NOT_APPLICABLE: &str = "NOT_APPLICABLE";

/// Whether a field of evidence names any.
pub(crate) fn names_evidence(text: Option<&Text>) -> bool {
    text.is_some_and(|text| is_evidence(text.as_str()))
}

/// Whether a text names evidence: not that there is none, and not merely that all is well.
pub(crate) fn is_evidence(text: &str) -> bool {
    text.trim() != NOT_APPLICABLE && !says_nothing(text)
}
