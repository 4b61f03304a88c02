//! Who was caught, by what, and what came of it: read from the events of the ledger and from nothing else.

use crate::cli::words::Table;
use countersign_diagnostic::visible;
use countersign_domain::delegation::event::DELEGATION_PLANNED;
use countersign_domain::validation::event::{EVIDENCE_COLLECTED, FAILURES_ACCEPTED};
use countersign_domain::work::event::{
    EFFECT_FINISHED, TASK_BLOCKED, TASK_CLAIMED, TASK_COMPLETED, TASK_REPLANNED, TASK_REQUEUED,
};
use countersign_engine::Engine;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// An attempt that did not pass.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Row {
    task: String,
    agent: String,
    attempt: u64,
    /// The event that holds the task back; none for an attempt that had nothing to be caught at.
    event: Option<u64>,
    by: String,
    then: String,
}

/// What is known of the attempt that goes on.
#[derive(Default)]
struct Attempt {
    agent: String,
    number: u64,
    /// What shows that it is not as it was said.
    shown: Option<String>,
}

/// Every attempt of a run that did not pass, in order, and those that did at once.
pub fn rows(engine: &Engine, run: &str) -> anyhow::Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    let mut attempts: BTreeMap<String, Attempt> = BTreeMap::new();
    let mut actions: BTreeSet<String> = BTreeSet::new();
    for event in engine.stored(1, engine.ledger().head()?.seq)? {
        let facts = event.facts();
        let (Some(task), true) = (facts["task"].as_str(), facts["run"] == run) else { continue };
        // What is done on an instruction is nobody's claim.
        if event.text("kind") == DELEGATION_PLANNED {
            actions.insert(task.to_owned());
        }
        if actions.contains(task) {
            continue;
        }
        let attempt = attempts.entry(task.to_owned()).or_default();
        match event.text("kind") {
            TASK_CLAIMED => begin(attempt, facts),
            EVIDENCE_COLLECTED if facts["status"] != "PASS" && attempt.shown.is_none() => {
                attempt.shown = Some(evidence(facts));
            }
            EFFECT_FINISHED if facts["kind"] == "agent" && facts["outcome"] != "exited with 0" => {
                attempt.shown = Some(format!("process: {}", text(facts, "outcome")));
            }
            TASK_BLOCKED => rows.push(Row {
                task: task.to_owned(),
                agent: attempt.agent.clone(),
                attempt: attempt.number,
                event: Some(event.seq),
                // What was refused before anybody looked for evidence says so by its code.
                by: attempt.shown.take().unwrap_or_else(|| text(facts, "code")),
                then: String::new(),
            }),
            TASK_REQUEUED if facts["retry"] == true => then(&mut rows, task, "told why, tried again"),
            TASK_REPLANNED => then(&mut rows, task, &format!("sent back by {}", event.text("actor"))),
            FAILURES_ACCEPTED => then(&mut rows, task, &format!("accepted by {}", event.text("actor"))),
            TASK_COMPLETED => match rows.iter_mut().rfind(|row| row.task == task) {
                Some(row) => row.then.push_str(&format!(", done ({})", text(facts, "assurance"))),
                None => rows.push(Row {
                    task: task.to_owned(),
                    agent: attempt.agent.clone(),
                    attempt: attempt.number,
                    by: "nothing".to_owned(),
                    then: format!("done ({})", text(facts, "assurance")),
                    ..Row::default()
                }),
            },
            _ => {}
        }
    }
    rows.sort_by(|one, other| (&one.task, one.attempt).cmp(&(&other.task, other.attempt)));
    Ok(rows)
}

/// Where a person has answered, a task is taken up again without another attempt.
fn begin(attempt: &mut Attempt, facts: &Value) {
    *attempt =
        Attempt { agent: text(facts, "owner"), number: facts["attempt"].as_u64().unwrap_or_default(), shown: None };
}

/// What came of the last attempt of a task that did not pass.
fn then(rows: &mut [Row], task: &str, what: &str) {
    if let Some(row) = rows.iter_mut().rfind(|row| row.task == task) {
        row.then = what.to_owned();
    }
}

/// What evidence against a claim comes to, in a few words: its counts, or what was looked at.
fn evidence(facts: &Value) -> String {
    let [passed, failed, skipped] = ["passed", "failed", "skipped"].map(|name| facts[name].as_u64());
    let what = match (passed, failed, skipped) {
        (Some(passed), Some(failed), Some(skipped)) => {
            let (count, how) = if failed > 0 { (failed, "failed") } else { (skipped, "skipped") };
            format!("{count} of {} {how}", passed + failed + skipped)
        }
        _ => format!("{} {}", text(facts, "criterion"), text(facts, "status")),
    };
    format!("{}: {what}", text(facts, "kind"))
}

fn text(facts: &Value, name: &str) -> String {
    facts[name].as_str().map(|text| visible(text).into_owned()).unwrap_or_default()
}

/// Whether an agent was caught at something.
pub fn is_caught(rows: &[Row], agent: &str) -> bool {
    rows.iter().any(|row| row.agent == agent && row.event.is_some())
}

/// The same for people.
pub fn table(rows: &[Row]) -> String {
    let mut table = Table::new(["TASK", "AGENT", "TRY", "CAUGHT BY", "EVENT", "AND THEN"]);
    for row in rows {
        let event = row.event.map_or_else(String::new, |event| event.to_string());
        let (by, then) = (row.by.clone(), row.then.clone());
        table.row([row.task.clone(), row.agent.clone(), row.attempt.to_string(), by, event, then]);
    }
    table.text_or("nobody worked")
}
