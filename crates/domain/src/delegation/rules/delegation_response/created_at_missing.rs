use crate::delegation::action::Effect;
use crate::delegation::payload::{DelegationInstruction, DelegationResponse};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Evidence of an action that makes something says when it was made.
    ///
    /// ## Why
    /// The time is the platform's own, and shows that the thing was made by this action and was not there before.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {"ACTION": {"TYPE": "COMMENT_ON_PR", "PARAMETERS": {"COMMENT_BODY": "57 replaces this one"}}}
    /// ```
    /// ```json rejected
    /// {"PLATFORM_EVIDENCE": {"RESOURCE_TYPE": "comment", "RESOURCE_NUMBER": null}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {"ACTION": {"TYPE": "COMMENT_ON_PR", "PARAMETERS": {"COMMENT_BODY": "57 replaces this one"}}}
    /// ```
    /// ```json accepted
    /// {
    ///   "PLATFORM_EVIDENCE": {
    ///     "RESOURCE_TYPE": "comment", "RESOURCE_NUMBER": null, "CREATED_AT": "2025-12-25T10:30:12Z"
    ///   }
    /// }
    /// ```
    pub static CREATED_AT_MISSING: DelegationResponse = {
        id: "created-at-missing",
        code: MissingRequiredInput,
        severity: Error,
        summary: "a resource that the action made has no time of making",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(evidence) = &it.record.platform_evidence else { return };
    let Some(instruction) = it.other::<DelegationInstruction>(it.record.instruction_id.as_str()) else { return };
    let info = instruction.action.kind().info();
    if info.effect == Effect::Creates && evidence.created_at.is_none() {
        let message = format!("{} makes a {}, and `CREATED_AT` is missing", info.action, info.produces);
        report.add(Pointer::at("/PLATFORM_EVIDENCE/CREATED_AT"), message, "add the time that the platform gave");
    }
}
