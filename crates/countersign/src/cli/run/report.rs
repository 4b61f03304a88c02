//! What is said at the end of a run.

use crate::cli::asking::line;
use crate::cli::checkpoint;
use crate::cli::words::{Table, span};
use crate::client::Client;
use countersign_diagnostic::visible;
use countersign_runner::run::{End, Outcome, Row, State};
use serde_json::{Value, json};
use std::fmt::Write;

/// How a task stands, in a word or two.
fn stands(task: &Row) -> String {
    let state = task.state.as_str().replace('_', " ");
    match &task.assurance {
        Some(assurance) => format!("{state} ({assurance})"),
        None => state,
    }
}

/// How a run came to its end, in a sentence.
fn ended(outcome: &Outcome) -> String {
    let done = outcome.tasks.iter().filter(|task| task.state == State::Done).count();
    let all = outcome.tasks.len();
    let took = span(i64::try_from(outcome.took.as_secs()).unwrap_or(i64::MAX));
    let how = match &outcome.end {
        End::Finished => String::new(),
        End::Waits => "; what is left waits for a person".to_owned(),
        End::Stuck => "; what is left depends on what will never be done".to_owned(),
        End::Stopped => "; it was stopped".to_owned(),
        End::Spent(spent) => format!("; {}", spent.what),
    };
    format!("{done} of {all} tasks are done after {took}{how}")
}

/// The command that goes on with a run. None, if nothing is left of it.
fn go_on(run: &str, outcome: &Outcome) -> Option<String> {
    let more = match &outcome.end {
        End::Finished => return None,
        End::Spent(spent) => spent.more.as_ref().map(|more| format!(" --budget {more}")).unwrap_or_default(),
        End::Waits | End::Stuck | End::Stopped => String::new(),
    };
    Some(format!("countersign run --resume {run}{more}"))
}

/// For people: a table, the reasons of what is not done, what to do, and the checkpoint to keep.
pub fn text(client: &Client<'_>, run: &str, outcome: &Outcome, over: Option<&str>) -> anyhow::Result<String> {
    let mut table = Table::new(["TASK", "STATUS", "ATTEMPTS", "AGENT", "TITLE"]);
    for task in &outcome.tasks {
        let row = [task.task.clone(), stands(task), task.works.to_string(), task.agent.clone(), task.title.clone()];
        table.row(row.map(|cell| visible(&cell).into_owned()));
    }
    let mut out = format!("\n{}\n{}.\n", table.text_or("the plan has no tasks"), ended(outcome));
    if let Some(status) = over {
        let _ = writeln!(out, "  run {run} is {status}; there is nothing to go on with");
    }
    for (task, why) in outcome.tasks.iter().filter_map(|task| Some((task, task.why.as_deref()?))) {
        let _ = writeln!(out, "  {} is {}: {}", task.task, stands(task), visible(why));
    }
    if outcome.tasks.iter().any(|task| task.state == State::Blocked) {
        let _ = writeln!(out, "  what a person can do is in `countersign inbox`");
    }
    if let Some(command) = go_on(run, outcome) {
        let before = match &outcome.end {
            End::Spent(_) => "to spend as much again, ",
            End::Stuck => "after that, ",
            _ => "",
        };
        let _ = writeln!(out, "  {before}go on with `{command}`");
    }
    match checkpoint::signed(client.engine()?) {
        Ok(Some((_, note))) => {
            let _ =
                write!(out, "\nKeep this checkpoint somewhere else; it shows any later rewrite of the ledger:\n{note}");
        }
        Ok(None) => {}
        Err(error) => {
            let _ = writeln!(out, "\nno checkpoint was signed: {error:#}");
        }
    }
    Ok(out)
}

/// For programs: one line.
pub fn json(client: &Client<'_>, run: &str, outcome: &Outcome, over: Option<&str>) -> anyhow::Result<String> {
    let tasks: Vec<Value> = outcome
        .tasks
        .iter()
        .map(|task| {
            json!({
                "task_id": task.task, "status": task.state.as_str(), "assurance": task.assurance, "attempts": task.works,
                "agent": task.agent, "title": task.title, "blocker": task.blocker, "reason": task.why,
            })
        })
        .collect();
    let (end, reason) = match &outcome.end {
        End::Finished => ("finished", None),
        End::Waits => ("waits", None),
        End::Stuck => ("stuck", None),
        End::Stopped => ("stopped", None),
        End::Spent(spent) => ("spent", Some(&spent.what)),
    };
    let note = checkpoint::signed(client.engine()?).ok().flatten().map(|(_, note)| note);
    let took = u64::try_from(outcome.took.as_millis()).unwrap_or(u64::MAX);
    Ok(line(&json!({
        "note": "end", "run_id": run, "end": end, "reason": reason, "text": ended(outcome), "over": over,
        "go_on": go_on(run, outcome), "took_ms": took, "tasks": tasks, "checkpoint": note,
    })))
}
