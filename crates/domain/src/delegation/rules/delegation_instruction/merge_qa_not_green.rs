use crate::delegation::payload::DelegationInstruction;
use crate::delegation::policy::{Claim, Lack};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A pull request is not merged while the tests are red or amber, unless a person has set governance aside.
    ///
    /// ## Why
    /// What is merged is what everyone builds on.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ACTION": {"TYPE": "MERGE_PULL_REQUEST", "PARAMETERS": {"MERGE_METHOD": "squash"}},
    ///   "AUTHORIZATION": {"QA_STATUS": "AMBER"}
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "ACTION": {"TYPE": "MERGE_PULL_REQUEST", "PARAMETERS": {"MERGE_METHOD": "squash"}},
    ///   "AUTHORIZATION": {"QA_STATUS": "GREEN"}
    /// }
    /// ```
    pub static MERGE_QA_NOT_GREEN: DelegationInstruction = {
        id: "merge-qa-not-green",
        code: AuthorizationMissing,
        severity: Error,
        summary: "a merge while the tests are not green",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    if Claim::of_instruction(it.record).lacks(Lack::Qa) {
        let message = format!("a merge is asked for while the tests are {}", it.record.authorization.qa_status);
        report
            .add(Pointer::at("/AUTHORIZATION/QA_STATUS"), message, "make the tests green, and name their results")
            .label(Pointer::at("/ACTION/TYPE"), "the merge");
    }
}
