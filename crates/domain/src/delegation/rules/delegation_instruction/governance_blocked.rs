use crate::delegation::payload::DelegationInstruction;
use crate::delegation::policy::{Claim, Lack};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// While governance is blocked, only two things may be done: opening an issue and commenting on one, and both
    /// only with a person's approval or a resolved escalation to show for it.
    ///
    /// ## Why
    /// A blocked project waits for a person. All that an agent can do until then is to say so.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"AUTHORIZATION": {"GOVERNANCE_STATUS": "BLOCKED"}}
    /// ```
    /// ```json rejected
    /// {
    ///   "REQUESTER": {"AUTHORIZATION_LEVEL": "AUTONOMOUS"},
    ///   "ACTION": {
    ///     "TYPE": "COMMENT_ON_ISSUE",
    ///     "PARAMETERS": {"PR_NUMBER": null, "ISSUE_NUMBER": 130, "COMMENT_BODY": "the build is still stuck"}
    ///   },
    ///   "AUTHORIZATION": {"GOVERNANCE_STATUS": "BLOCKED", "HUMAN_APPROVAL": "NO", "HUMAN_APPROVAL_EVIDENCE": null}
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "ACTION": {
    ///     "TYPE": "COMMENT_ON_ISSUE",
    ///     "PARAMETERS": {"PR_NUMBER": null, "ISSUE_NUMBER": 130, "COMMENT_BODY": "the build is still stuck"}
    ///   },
    ///   "AUTHORIZATION": {"GOVERNANCE_STATUS": "BLOCKED"}
    /// }
    /// ```
    pub static GOVERNANCE_BLOCKED: DelegationInstruction = {
        id: "governance-blocked",
        code: AuthorizationMissing,
        severity: Error,
        summary: "governance is blocked and permits no such action",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    let claim = Claim::of_instruction(it.record);
    if claim.lacks(Lack::Governance) {
        let message = format!("governance is blocked, and `{}` is not permitted so", claim.action);
        let help = "wait until a person has lifted the block; an approved issue or comment may ask for it";
        report
            .add(Pointer::at("/AUTHORIZATION/GOVERNANCE_STATUS"), message, help)
            .label(Pointer::at("/ACTION/TYPE"), "this action");
    }
}
