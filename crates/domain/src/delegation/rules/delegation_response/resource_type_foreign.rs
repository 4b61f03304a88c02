use crate::delegation::payload::{DelegationInstruction, DelegationResponse};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// An action gives a resource of one kind: a comment gives a comment, an approval a review, a merge the pull
    /// request.
    ///
    /// ## Why
    /// Evidence of another kind of thing is not evidence of this action.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json rejected
    /// {"PLATFORM_EVIDENCE": {"RESOURCE_TYPE": "issue"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {"ACTION": {"TYPE": "ADD_PR_LABELS", "PARAMETERS": {"LABELS": ["ready"]}}}
    /// ```
    /// ```json accepted
    /// {"PLATFORM_EVIDENCE": {"RESOURCE_STATE": "open"}}
    /// ```
    pub static RESOURCE_TYPE_FOREIGN: DelegationResponse = {
        id: "resource-type-foreign",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the resource is not of the kind that the action gives",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(evidence) = &it.record.platform_evidence else { return };
    let Some(instruction) = it.other::<DelegationInstruction>(it.record.instruction_id.as_str()) else { return };
    let info = instruction.action.kind().info();
    if evidence.resource_type != info.produces {
        report.add(
            Pointer::at("/PLATFORM_EVIDENCE/RESOURCE_TYPE"),
            format!("{} gives a {}, not a {}", info.action, info.produces, evidence.resource_type),
            "show the resource that the action gave",
        );
    }
}
