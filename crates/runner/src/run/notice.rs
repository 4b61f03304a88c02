//! Telling somebody that a person is asked.

use super::{Note, Run};
use crate::program;
use serde_json::json;
use std::process::Command;
use std::time::{Duration, Instant};

/// How long that may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs the program that was named for it, once, with what happened on standard input. Nothing depends on it.
pub(super) fn tell(run: &Run<'_>, task: &str, reason: &str) {
    let Some([program, arguments @ ..]) = run.setup.notify else { return };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(run.ground.root());
    command.env("COUNTERSIGN_RUN", run.setup.run).env("COUNTERSIGN_TASK", task);
    let told = json!({ "run_id": run.setup.run, "task_id": task, "reason": reason }).to_string();
    let said = program::run(command, told.as_bytes(), Instant::now() + PATIENCE);
    if !said.is_some_and(|said| said.ok) {
        run.note(&Note::Flag { task, text: "nobody could be told: the program for that did not end well" });
    }
}
