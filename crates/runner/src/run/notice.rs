//! Telling somebody that a person is asked.

use super::{Note, Row, Run, State};
use crate::program;
use serde_json::{Value, json};
use std::process::Command;
use std::time::{Duration, Instant};

/// How long that may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many items are looked at in one go.
const PAGE: u64 = 1000;

/// Runs the program that was named for it, once, with what happened on standard input. Nothing depends on it.
pub(super) fn tell(run: &Run<'_>, task: &str, reason: &str) {
    let Some([program, arguments @ ..]) = run.setup.notify else { return };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(run.ground.root());
    command.env("COUNTERSIGN_RUN", run.setup.run).env("COUNTERSIGN_TASK", task);
    let said =
        program::run_with_its_own(command, item(run, task, reason).to_string().as_bytes(), Instant::now() + PATIENCE);
    if !said.is_some_and(|said| said.ok) {
        run.note(&Note::Flag { task, text: "nobody could be told: the program for that did not end well" });
    }
}

/// Tells of everything that waits for a person already when a runner begins: whoever was told before may be somebody else.
pub(super) fn tell_waiting(run: &Run<'_>, rows: &[Row]) {
    for row in rows.iter().filter(|row| row.state == State::Blocked) {
        if run.stop.is_asked() {
            return;
        }
        tell(run, &row.task, row.why.as_deref().unwrap_or_default());
    }
}

/// What is asked, as the inbox has it.
fn item(run: &Run<'_>, task: &str, reason: &str) -> Value {
    let mut question = run.desk.of_run();
    question["limit"] = json!(PAGE);
    loop {
        let Ok(shown) = run.desk.look("inbox.list", &question) else { break };
        let mut items = shown["items"].as_array().into_iter().flatten();
        if let Some(item) = items.find(|item| item["task_id"] == task) {
            return item.clone();
        }
        match shown["next"].as_str() {
            Some(next) => question["cursor"] = json!(next),
            None => break,
        }
    }
    // Somebody was faster than whoever is told.
    json!({ "run_id": run.setup.run, "task_id": task, "reason": reason })
}
