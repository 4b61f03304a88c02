use crate::delegation::action::{Action, ActionType, Parameters};
use crate::delegation::parameters::State;
use crate::delegation::payload::{DelegationInstruction, DelegationResponse};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// An action that opens, closes or merges leaves the resource open, closed or merged. A merged pull request may
    /// also be called closed, and an opened one a draft.
    ///
    /// ## Why
    /// A pull request that is still open was not closed, whatever the status says.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json rejected
    /// {"PLATFORM_EVIDENCE": {"RESOURCE_STATE": "open"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {"ACTION": {"TYPE": "MERGE_PULL_REQUEST", "PARAMETERS": {"MERGE_METHOD": "squash"}}}
    /// ```
    /// ```json accepted
    /// {"PLATFORM_EVIDENCE": {"RESOURCE_STATE": "merged"}}
    /// ```
    pub static RESOURCE_STATE_UNEXPECTED: DelegationResponse = {
        id: "resource-state-unexpected",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the state of the resource is not what the action leads to",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(evidence) = &it.record.platform_evidence else { return };
    let Some(instruction) = it.other::<DelegationInstruction>(it.record.instruction_id.as_str()) else { return };
    let Some(expected) = expected_states(&instruction.action) else { return };
    let state = evidence.resource_state.as_str();
    if !expected.iter().any(|it| it.eq_ignore_ascii_case(state)) {
        report.add(
            Pointer::at("/PLATFORM_EVIDENCE/RESOURCE_STATE"),
            format!("after {} the state is `{}`, not `{}`", instruction.action.kind(), show(state), expected[0]),
            "report the state that the platform shows, and the status that follows from it",
        );
    }
}

/// The words for the state that an action leads to, the usual one first; none if it leads to no certain state.
fn expected_states(action: &Action) -> Option<&'static [&'static str]> {
    let open: &[&str] = &["open", "opened", "draft"];
    let reopened = match &action.parameters {
        Parameters::UpdateGithubIssue(update) => update.state == Some(State::Open),
        Parameters::UpdatePullRequest(update) => update.state == Some(State::Open),
        _ => false,
    };
    match action.amounts_to() {
        ActionType::CreateGithubIssue | ActionType::CreatePullRequest => Some(open),
        ActionType::CloseGithubIssue | ActionType::ClosePullRequest => Some(&["closed"]),
        ActionType::MergePullRequest => Some(&["merged", "closed"]),
        _ if reopened => Some(open),
        _ => None,
    }
}
