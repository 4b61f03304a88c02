use crate::delegation::payload::DelegationInstruction;
use crate::delegation::policy::{Claim, Lack};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// `ESCALATION_RESOLVED` rests on an escalation that has come to its end: `ESCALATION_COMPLETED` is `YES`, and
    /// `ESCALATION_EVIDENCE` says where. Only opening the issue that begins the escalation needs no end of it.
    ///
    /// ## Why
    /// Until a person has resolved the escalation, nothing has been decided that an agent could act on.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"REQUESTER": {"AUTHORIZATION_LEVEL": "ESCALATION_RESOLVED"}, "AUTHORIZATION": {"ESCALATION_COMPLETED": "NO"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "REQUESTER": {"AUTHORIZATION_LEVEL": "ESCALATION_RESOLVED"},
    ///   "AUTHORIZATION": {"ESCALATION_COMPLETED": "YES", "ESCALATION_EVIDENCE": "issue 130, resolved"}
    /// }
    /// ```
    /// ```json accepted
    /// {
    ///   "REQUESTER": {"AUTHORIZATION_LEVEL": "ESCALATION_RESOLVED"},
    ///   "ACTION": {
    ///     "TYPE": "CREATE_GITHUB_ISSUE",
    ///     "PARAMETERS": {"PR_NUMBER": null, "TITLE": "the build is stuck", "BODY": "see the log of run 17"}
    ///   },
    ///   "AUTHORIZATION": {"ESCALATION_COMPLETED": "NO"}
    /// }
    /// ```
    pub static ESCALATION_UNRESOLVED: DelegationInstruction = {
        id: "escalation-unresolved",
        code: AuthorizationMissing,
        severity: Error,
        summary: "a resolved escalation is claimed and not resolved",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    if Claim::of_instruction(it.record).lacks(Lack::Escalation) {
        let message = "ESCALATION_RESOLVED is claimed, and no resolved escalation is shown";
        let help = "wait until a person has resolved it, and name where the resolution is to be found";
        report
            .add(Pointer::at("/AUTHORIZATION/ESCALATION_COMPLETED"), message, help)
            .label(Pointer::at("/REQUESTER/AUTHORIZATION_LEVEL"), "claimed here");
    }
}
