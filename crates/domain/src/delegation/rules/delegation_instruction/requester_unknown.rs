use crate::delegation::parties;
use crate::delegation::payload::DelegationInstruction;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The requester is a `FOREMAN`, a `HUMAN`, or of a kind that the configuration names.
    ///
    /// ## Why
    /// What an agent may ask for depends on what it is. An unknown kind has no authority that could be checked.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"REQUESTER": {"AGENT_TYPE": "INTERN"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"REQUESTER": {"AGENT_TYPE": "HUMAN"}}
    /// ```
    pub static REQUESTER_UNKNOWN: DelegationInstruction = {
        id: "requester-unknown",
        code: SchemaInvalid,
        severity: Error,
        summary: "the kind of requester is not known",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    parties::check_requester(it.record.requester.agent_type.as_str(), it.settings, report);
}
