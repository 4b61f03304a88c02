use crate::delegation::payload::DelegationInstruction;
use crate::delegation::policy::{Claim, Lack};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// An action is asked for on the authority that it needs.
    ///
    /// Commenting, labelling, assigning, linking, opening issues, making branches, asking for a review and asking
    /// for changes are within an agent's own authority (`AUTONOMOUS`). Everything else needs `HUMAN_APPROVED` or
    /// `ESCALATION_RESOLVED`. Setting the state to closed counts as closing.
    ///
    /// ## Why
    /// What cannot be taken back, or what others rely on, is decided by a person.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"REQUESTER": {"AUTHORIZATION_LEVEL": "AUTONOMOUS"}}
    /// ```
    /// ```json rejected
    /// {
    ///   "REQUESTER": {"AUTHORIZATION_LEVEL": "AUTONOMOUS"},
    ///   "ACTION": {"TYPE": "UPDATE_PULL_REQUEST", "PARAMETERS": {"STATE": "closed"}}
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "REQUESTER": {"AUTHORIZATION_LEVEL": "AUTONOMOUS"},
    ///   "ACTION": {"TYPE": "COMMENT_ON_PR", "PARAMETERS": {"COMMENT_BODY": "57 replaces this one"}}
    /// }
    /// ```
    pub static AUTHORITY_LEVEL_TOO_LOW: DelegationInstruction = {
        id: "authority-level-too-low",
        code: AuthorizationMissing,
        severity: Error,
        summary: "the action needs more authority than is claimed",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    let claim = Claim::of_instruction(it.record);
    if claim.lacks(Lack::Level) {
        let message = format!("`{}` needs {}, and only {} is claimed", claim.action, claim.needs(), claim.level);
        let help = "have a person approve the action, and name where the approval is to be found";
        report
            .add(Pointer::at("/REQUESTER/AUTHORIZATION_LEVEL"), message, help)
            .label(Pointer::at("/ACTION/TYPE"), "this action");
    }
}
