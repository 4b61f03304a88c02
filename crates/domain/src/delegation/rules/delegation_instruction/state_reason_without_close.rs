use crate::delegation::action::Parameters;
use crate::delegation::parameters::State;
use crate::delegation::payload::DelegationInstruction;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// `STATE_REASON` says why an issue is closed, and so stands only beside `STATE` closed.
    ///
    /// ## Why
    /// Either the state was forgotten or the reason was left over; the platform would take neither as it is.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ACTION": {
    ///     "TYPE": "UPDATE_GITHUB_ISSUE",
    ///     "PARAMETERS": {"PR_NUMBER": null, "ISSUE_NUMBER": 7, "TITLE": "new", "STATE_REASON": "completed"}
    ///   }
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "ACTION": {
    ///     "TYPE": "UPDATE_GITHUB_ISSUE",
    ///     "PARAMETERS": {"PR_NUMBER": null, "ISSUE_NUMBER": 7, "STATE": "closed", "STATE_REASON": "completed"}
    ///   }
    /// }
    /// ```
    pub static STATE_REASON_WITHOUT_CLOSE: DelegationInstruction = {
        id: "state-reason-without-close",
        code: SchemaInvalid,
        severity: Error,
        summary: "a reason for closing without closing",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    let Parameters::UpdateGithubIssue(update) = &it.record.action.parameters else { return };
    if update.state_reason.is_some() && update.state != Some(State::Closed) {
        let message = "a reason for closing is given, and the issue is not closed";
        let help = "set `STATE` to closed, or leave the reason out";
        report.add(Pointer::at("/ACTION/PARAMETERS/STATE_REASON"), message, help);
    }
}
