//! What tasks hand over to each other: made when the one is done, and received before the other begins.
//!
//! ```text
//! source done ─▶ made from its result, within the budget ─▶ sent ─▶ received: is it what was sent? ─▶ target begins, and is told
//!                  └ cannot be                                        └ no: changed, expired, gone
//!                    └────────────────────────────────────────────────┴──▶ the target waits for a person; nothing else does
//! ```
//!
//! What was sent stands in the ledger under a trace that follows from run and task, so that whoever goes on after a crash finds
//! it there and sends nothing twice. What was made and not sent is made again: a file alone is nobody's word.
//!
//! **Invariant:** no agent begins before everything that is handed to its task was received as it was sent.
//! **Invariant:** when a person has let a task go on whose handoff had gone wrong, it is made anew from what the ledger has.

mod giving;
mod taking;
mod telling;
mod words;
mod words_of_action;

pub(super) use giving::give;
pub(super) use taking::take;
pub(super) use telling::tell;

use super::Run;
use super::attempt::stopped;
use super::no::No;
use countersign_domain::plan::payload::{HandoffEdge, Plan};
use countersign_domain::work::event::TASK_BLOCKED;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Who is at which handoff: one at a time. Handoffs of one trace are sent one after the other.
pub(super) struct Turns {
    edges: Vec<Mutex<()>>,
    sending: Mutex<()>,
}

impl Turns {
    pub(super) fn of(plan: &Plan) -> Self {
        Self { edges: plan.edges().iter().map(|_| Mutex::new(())).collect(), sending: Mutex::new(()) }
    }

    /// Waits until nobody else is at a handoff.
    fn turn(&self, number: usize) -> Option<MutexGuard<'_, ()>> {
        Some(self.edges.get(number)?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until nobody else of this run sends.
    fn sending(&self) -> MutexGuard<'_, ()> {
        self.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The handoffs of the plan that are asked for, with their numbers.
fn edges<'r>(run: &'r Run<'_>, of: impl Fn(&HandoffEdge) -> bool) -> Vec<(usize, &'r HandoffEdge)> {
    run.setup.plan.edges().iter().enumerate().filter(|(_, edge)| of(edge)).collect()
}

fn trace(run: &Run<'_>, edge: &HandoffEdge) -> String {
    run.setup.plan.trace(run.setup.run, &edge.from)
}

/// Where handoffs of a run lie, below the project's folder.
fn session(run: &Run<'_>) -> PathBuf {
    let short = run.setup.run.get(..8).unwrap_or(run.setup.run);
    run.setup.root.join(".countersign/sessions").join(short)
}

/// The last handoff that this run has sent for an edge, as `handoff.chain` shows it. What others put into its trace does not
/// count: names and traces can be had by anybody.
fn sent(run: &Run<'_>, edge: &HandoffEdge) -> Result<Option<Value>, No> {
    // A source is named so that a trace in which nothing was sent is an empty one.
    let question = json!({ "trace_id": trace(run, edge), "source": edge.from, "run_id": run.setup.run });
    let shown = run.desk.look("handoff.chain", &question).map_err(No::from)?;
    let steps = shown["steps"].as_array().into_iter().flatten();
    let mut own = steps.rev().filter(|step| step["source"] == edge.from.as_str() && step["target"] == edge.to.as_str());
    Ok(own.next().cloned())
}

/// Notes what became of the last handoff of an edge: who took it is done with it, or why it could not be taken. The work does not
/// wait for that.
fn noted(run: &Run<'_>, edge: &HandoffEdge, worker: &str, became: Result<(), &No>) {
    let mut request = json!({ "trace_id": trace(run, edge), "skill": edge.to, "run_id": run.setup.run });
    match became {
        Ok(()) => request["event"] = json!("processed"),
        Err(No { code: Some(code), reason, .. }) => {
            request["event"] = json!("error");
            request["code"] = json!(code);
            request["says"] = json!(reason.chars().take(500).collect::<String>());
        }
        Err(_) => return,
    }
    // Of what was never sent there is nothing to note.
    let _ = run.desk.ask_as(worker, None, "handoff.note", &request);
}

/// How every reason begins for which a task waits because of a handoff.
fn beginning(edge: &HandoffEdge) -> String {
    format!("the handoff from {} ", edge.from)
}

/// Whether a person was asked about a handoff since an event. The task goes on, so they have answered.
fn was_asked(run: &Run<'_>, edge: &HandoffEdge, since: u64) -> Result<bool, No> {
    let is_ours = |facts: &Value| {
        facts["task"] == edge.to.as_str()
            && facts["reason"].as_str().is_some_and(|reason| reason.starts_with(&beginning(edge)))
    };
    run.desk.any_since(since, TASK_BLOCKED, is_ours).map_err(No::from)
}

/// Lets the target wait for a person. Says whether it does; if not, something is in the way just now.
fn ask_person(run: &Run<'_>, edge: &HandoffEdge, no: &No) -> bool {
    let task = edge.to.as_str();
    let Some(code) = &no.code else {
        run.note(&super::Note::Flag { task, text: &format!("{}waits: {}", beginning(edge), no.reason) });
        return false;
    };
    let reason = format!("{}{}", beginning(edge), no.reason);
    let redacted = countersign_contract::scan::redact(&reason);
    let reason: String = redacted.as_deref().unwrap_or(&reason).chars().take(500).collect();
    let mut request = run.desk.of_task(task);
    request["code"] = json!(code);
    request["reason"] = json!(reason);
    match run.desk.ask("task.block", &request) {
        Ok(_) => {
            stopped(run, task, &reason);
            true
        }
        Err(no) => {
            run.note(&super::Note::Flag { task, text: &format!("{reason}; {}", no.reason) });
            false
        }
    }
}
