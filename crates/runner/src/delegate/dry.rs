//! Saying what would be done, and doing nothing.

use super::{Attempt, Executor, Obstacle, Seen};
use countersign_domain::delegation::command::ExecutorKind;
use countersign_domain::delegation::payload::DelegationInstruction;
use serde_json::Value;

/// Carries nothing out. What it is given is answered as an invalid request that says what would have been done: of the
/// four answers that is the one which promises that nothing was sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct DryRun;

impl Executor for DryRun {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::DryRun
    }

    fn seconds(&self) -> u32 {
        1
    }

    fn obstacles(&self, instruction: &DelegationInstruction, _: bool) -> Vec<Obstacle> {
        let info = instruction.action.kind().info();
        let (action, repository) = (info.action.as_str(), instruction.requester.repository.as_str());
        let what = info.summary.trim_end_matches('.').to_lowercase();
        vec![Obstacle {
            field: "ACTION.TYPE",
            error: format!("this was a dry run, and nothing was done; {action} in {repository} {what}"),
            expected: "an executor that acts, such as git or github, and a new instruction id".to_owned(),
        }]
    }

    fn before(&self, _: &DelegationInstruction) -> Option<String> {
        None
    }

    fn act(&self, _: &DelegationInstruction, _: &Attempt<'_>) -> Result<Value, String> {
        Err("a dry run acts never".to_owned())
    }

    fn verify(&self, _: &DelegationInstruction, _: &Value) -> Result<Seen, String> {
        Err("a dry run has done nothing that could be looked at".to_owned())
    }

    fn constraint(&self, _: &DelegationInstruction) -> Result<Option<String>, String> {
        Ok(None)
    }
}
