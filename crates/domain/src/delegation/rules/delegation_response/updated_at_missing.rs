use crate::delegation::action::Effect;
use crate::delegation::payload::{DelegationInstruction, DelegationResponse};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Evidence of an action that changes something says when it was changed.
    ///
    /// ## Why
    /// The time is the platform's own, and shows that the change was made by this action and not before.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json rejected
    /// {"PLATFORM_EVIDENCE": {"UPDATED_AT": null}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {"ACTION": {"TYPE": "DELETE_BRANCH", "PARAMETERS": {"PR_NUMBER": null, "BRANCH_NAME": "old"}}}
    /// ```
    /// ```json accepted
    /// {
    ///   "PLATFORM_EVIDENCE": {
    ///     "RESOURCE_TYPE": "branch", "RESOURCE_NUMBER": null, "RESOURCE_STATE": "deleted", "UPDATED_AT": null
    ///   }
    /// }
    /// ```
    pub static UPDATED_AT_MISSING: DelegationResponse = {
        id: "updated-at-missing",
        code: MissingRequiredInput,
        severity: Error,
        summary: "a resource that the action changed has no time of change",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(evidence) = &it.record.platform_evidence else { return };
    let Some(instruction) = it.other::<DelegationInstruction>(it.record.instruction_id.as_str()) else { return };
    let info = instruction.action.kind().info();
    if info.effect == Effect::Updates && evidence.updated_at.is_none() {
        let message = format!("{} changes a {}, and `UPDATED_AT` is missing", info.action, info.produces);
        report.add(Pointer::at("/PLATFORM_EVIDENCE/UPDATED_AT"), message, "add the time that the platform gave");
    }
}
