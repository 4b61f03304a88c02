use crate::delegation::payload::{DelegationInstruction, YesNo};
use crate::delegation::policy::{Claim, Lack};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// `HUMAN_APPROVED` rests on a person's approval: `HUMAN_APPROVAL` is `YES`, and `HUMAN_APPROVAL_EVIDENCE` says
    /// where it is to be found.
    ///
    /// ## Why
    /// The level is a claim of the requester. Only the evidence lets someone else see that a person said yes.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"AUTHORIZATION": {"HUMAN_APPROVAL": "NO", "HUMAN_APPROVAL_EVIDENCE": null}}
    /// ```
    /// ```json rejected also:approval-evidence-missing
    /// {"AUTHORIZATION": {"HUMAN_APPROVAL_EVIDENCE": "NOT_APPLICABLE"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"AUTHORIZATION": {"HUMAN_APPROVAL": "YES", "HUMAN_APPROVAL_EVIDENCE": "comment of the owner on issue 123"}}
    /// ```
    pub static HUMAN_APPROVAL_MISSING: DelegationInstruction = {
        id: "human-approval-missing",
        code: AuthorizationMissing,
        severity: Error,
        summary: "approval by a person is claimed and not shown",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    if !Claim::of_instruction(it.record).lacks(Lack::Approval) {
        return;
    }
    let given = it.record.authorization.human_approval == YesNo::Yes;
    let (pointer, message) = if given {
        ("/AUTHORIZATION/HUMAN_APPROVAL_EVIDENCE", "HUMAN_APPROVED is claimed, and nothing shows the approval")
    } else {
        ("/AUTHORIZATION/HUMAN_APPROVAL", "HUMAN_APPROVED is claimed, and no person approved")
    };
    report
        .add(
            Pointer::at(pointer),
            message,
            "have a person approve the action, and name where the approval is to be found",
        )
        .label(Pointer::at("/REQUESTER/AUTHORIZATION_LEVEL"), "claimed here");
}
