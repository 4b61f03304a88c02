use crate::delegation::payload::DelegationInstruction;
use crate::delegation::policy::{Claim, Lack};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// `OVERRIDE` sets governance aside, and only a person can do that: it needs `HUMAN_APPROVAL` `YES` with its
    /// evidence, whatever the authorization level is.
    ///
    /// ## Why
    /// An agent that can override what holds it back is held back by nothing.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "REQUESTER": {"AUTHORIZATION_LEVEL": "ESCALATION_RESOLVED"},
    ///   "AUTHORIZATION": {
    ///     "GOVERNANCE_STATUS": "OVERRIDE",
    ///     "HUMAN_APPROVAL": "NO",
    ///     "HUMAN_APPROVAL_EVIDENCE": null,
    ///     "ESCALATION_COMPLETED": "YES",
    ///     "ESCALATION_EVIDENCE": "issue 130, resolved"
    ///   }
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"AUTHORIZATION": {"GOVERNANCE_STATUS": "OVERRIDE"}}
    /// ```
    pub static OVERRIDE_UNAPPROVED: DelegationInstruction = {
        id: "override-unapproved",
        code: AuthorizationMissing,
        severity: Error,
        summary: "an override without approval by a person",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    if Claim::of_instruction(it.record).lacks(Lack::Override) {
        let help = "have a person approve the override, and name where the approval is to be found";
        report
            .add(Pointer::at("/AUTHORIZATION/GOVERNANCE_STATUS"), "an override has no approval by a person", help)
            .label(Pointer::at("/AUTHORIZATION/HUMAN_APPROVAL"), "approval, with its evidence, is wanted here");
    }
}
