use crate::delegation::payload::{DelegationInstruction, DelegationResponse};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// The resource lies in the repository of the instruction. This is looked at where the address has the form
    /// `/owner/name/kind/…` that code platforms use.
    ///
    /// ## Why
    /// An action in another repository was not asked for.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json rejected
    /// {"PLATFORM_EVIDENCE": {"RESOURCE_URL": "https://github.com/acme/bank/pull/42"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {"REQUESTER": {"REPOSITORY": "Acme/Shop"}}
    /// ```
    /// ```json accepted
    /// {"PLATFORM_EVIDENCE": {"RESOURCE_URL": "https://github.com/acme/shop/pull/42"}}
    /// ```
    pub static RESOURCE_REPOSITORY_FOREIGN: DelegationResponse = {
        id: "resource-repository-foreign",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the resource lies in another repository than the one asked for",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(evidence) = &it.record.platform_evidence else { return };
    let Some((owner, name)) = evidence.resource_url.repository() else { return };
    let Some(instruction) = it.other::<DelegationInstruction>(it.record.instruction_id.as_str()) else { return };
    let repository = &instruction.requester.repository;
    if !repository.is(owner, name) {
        report.add(
            Pointer::at("/PLATFORM_EVIDENCE/RESOURCE_URL"),
            format!("the resource lies in `{}/{}`, the instruction is for `{repository}`", show(owner), show(name)),
            "show the resource that the action gave",
        );
    }
}
