use crate::delegation::action::Parameters;
use crate::delegation::payload::DelegationInstruction;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// An update says what is to be changed: a title, a body or a state.
    ///
    /// ## Why
    /// An action that does nothing still leaves a response and an audit entry, and hides that what was meant was
    /// not done.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"ACTION": {"TYPE": "UPDATE_PULL_REQUEST"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"ACTION": {"TYPE": "UPDATE_PULL_REQUEST", "PARAMETERS": {"TITLE": "round half to even"}}}
    /// ```
    pub static UPDATE_CHANGES_NOTHING: DelegationInstruction = {
        id: "update-changes-nothing",
        code: MissingRequiredInput,
        severity: Error,
        summary: "an update that changes nothing",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    let empty = match &it.record.action.parameters {
        Parameters::UpdateGithubIssue(update) => {
            update.title.is_none() && update.body.is_none() && update.state.is_none() && update.state_reason.is_none()
        }
        Parameters::UpdatePullRequest(update) => {
            update.title.is_none() && update.body.is_none() && update.state.is_none()
        }
        _ => false,
    };
    if empty {
        let message = format!("`{}` changes nothing", it.record.action.kind());
        report.add(Pointer::at("/ACTION/PARAMETERS"), message, "add `TITLE`, `BODY` or `STATE`");
    }
}
