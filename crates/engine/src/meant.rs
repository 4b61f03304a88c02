//! What a request that is refused is about, as far as it can be read: so that it is counted where it belongs, and whoever works
//! on a task can be told what was wrong with the last result that they brought.

use crate::look;
use countersign_contract::{Form, SIZE_MAX, parse};
use countersign_domain::deciding::{About, Need, Seen};
use countersign_domain::work::indexes::open_runs;
use countersign_domain::work::row::{TaskRow, run_key, run_of, task_key, task_of};
use countersign_domain::work::task_state::TaskStatus;
use countersign_ledger::{Result, Transaction};
use serde_json::Value;

/// Commands about tasks mean the only open run where they name none.
const OF_TASKS: &[&str] = &["task.", "worklog."];
/// Documents that come with a request and name a run themselves.
const DOCUMENTS: &[&str] = &["result", "envelope"];

/// What a request names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Meant {
    /// The run.
    run: Option<String>,
    /// The task.
    task: Option<String>,
    /// Whether the only open run is meant, if none is named.
    only_open: bool,
}

impl Meant {
    /// What a request to a command names.
    pub(crate) fn of(id: &str, request: &Value) -> Self {
        let named = |name: &str| {
            let own = request.get(name).and_then(Value::as_str).map(str::to_owned);
            own.or_else(|| DOCUMENTS.iter().find_map(|document| named_in(request.get(document)?, name)))
        };
        Self { run: named("run_id"), task: named("task_id"), only_open: is_of_tasks(id) }
    }

    /// What a command says itself that it is about.
    pub(crate) fn about(id: &str, about: About) -> Self {
        Self { run: about.run, task: Some(about.task), only_open: is_of_tasks(id) }
    }

    /// Whether it is about a run.
    pub(crate) fn is_of(&self, run: &str) -> bool {
        self.run.as_deref() == Some(run)
    }

    /// The run that there really is: the one that a refusal tells, or the one that is meant.
    pub(crate) fn run(&self, told: Option<&str>, transaction: &mut Transaction<'_>) -> Result<Option<String>> {
        let named = told.or(self.run.as_deref());
        let seen = look::inside(transaction, &|_| match named {
            Some(run) => vec![Need::Entity(run_key(run))],
            None if self.only_open => vec![Need::Range(open_runs())],
            None => Vec::new(),
        })?;
        Ok(match named {
            Some(run) => run_of(seen.entity(&run_key(run))).map(|run| run.run),
            None if self.only_open => only_open(&seen),
            None => None,
        })
    }

    /// The task, if the actor works on it.
    pub(crate) fn task(&self, run: &str, actor: &str, transaction: &mut Transaction<'_>) -> Result<Option<String>> {
        let Some(task) = &self.task else { return Ok(None) };
        let key = task_key(run, task);
        let seen = look::inside(transaction, &|_| vec![Need::Entity(key.clone())])?;
        let works = |row: &TaskRow| row.status == TaskStatus::InProgress && row.owner.as_deref() == Some(actor);
        Ok(task_of(seen.entity(&key)).filter(works).map(|row| row.task))
    }
}

fn is_of_tasks(id: &str) -> bool {
    OF_TASKS.iter().any(|prefix| id.starts_with(prefix))
}

fn only_open(seen: &Seen) -> Option<String> {
    let open = open_runs();
    let runs: Vec<&str> = seen.range(&open).map(|(_, key)| key.id.as_str()).collect();
    match runs.as_slice() {
        [only] => Some((*only).to_owned()),
        _ => None,
    }
}

/// What a document names, be it an object or a text in any of the forms.
fn named_in(document: &Value, name: &str) -> Option<String> {
    match document {
        Value::String(text) => {
            let parsed = parse(text, Form::of_text(text), SIZE_MAX).ok()?;
            parsed.root().get(name).and_then(|at| at.text().map(str::to_owned))
        }
        document => document.get(name).and_then(Value::as_str).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_request_is_about_what_it_or_its_document_names() {
        let names = |id: &str, request: Value| {
            let Meant { run, task, only_open } = Meant::of(id, &request);
            (run.unwrap_or_default(), task.unwrap_or_default(), only_open)
        };
        let both = |run: &str, task: &str, open: bool| (run.to_owned(), task.to_owned(), open);
        let document = json!({ "run_id": "r", "task_id": "T-1", "status": 7 });
        let cases = [
            ("task.claim", json!({ "run_id": "r", "task_id": "T-1" }), both("r", "T-1", true)),
            ("task.claim", json!({ "run_id": 7 }), both("", "", true)),
            ("task.submit", json!({ "result": document }), both("r", "T-1", true)),
            ("task.submit", json!({ "result": document, "task_id": "T-2" }), both("r", "T-2", true)),
            ("task.submit", json!({ "result": document.to_string() }), both("r", "T-1", true)),
            ("task.submit", json!({ "result": "run_id: r\ntask_id: T-1\nstatus: [" }), both("", "", true)),
            ("task.submit", json!({ "result": "run_id: r\ntask_id: T-1\n" }), both("r", "T-1", true)),
            ("apply", json!({ "envelope": { "run_id": "r" } }), both("r", "", false)),
            ("project.init", json!([]), both("", "", false)),
        ];
        for (id, request, expected) in cases {
            assert_eq!(names(id, request.clone()), expected, "{id} {request}");
        }
    }
}
