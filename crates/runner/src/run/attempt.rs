//! One attempt at a task, from its claim to where it cannot go on by itself.

use super::no::{Held, No, Work};
use super::work::{self, Claimed};
use super::{Note, Run, gates, handing, settings, vouched};
use crate::agent::Stop;
use countersign_domain::deciding::Tree;
use countersign_domain::plan::payload::{Agent, PlannedTask};
use countersign_domain::work::task_state::TaskStatus;
use serde_json::{Value, json};

/// Something that is being attempted.
pub(super) struct Attempt<'a> {
    /// The task, as the plan has it.
    pub(super) planned: &'a PlannedTask,
    /// Its place in the plan.
    pub(super) number: usize,
    /// Who does it.
    pub(super) agent: &'a Agent,
    /// The lease.
    pub(super) lease: u64,
    /// The commit that it starts from; none where there is no repository, or the work is done by a peer.
    pub(super) base: Option<String>,
    /// Asks whoever works in it to stop: with all others, or alone because the task is not theirs any more.
    pub(super) stop: Stop,
}

impl Attempt<'_> {
    pub(super) fn task(&self) -> &str {
        self.planned.id.as_str()
    }

    pub(super) fn worker(&self) -> &str {
        self.planned.agent.as_str()
    }
}

/// Attempts a task. Says whether it could be begun; if not, somebody else is in the way just now.
pub(super) fn attempt(run: &Run<'_>, number: usize) -> bool {
    let Some(planned) = run.setup.plan.tasks.get(number) else { return true };
    let _stay = run.beside.begin(number);
    if planned.is_delegate() {
        return super::delegating::attempt(run, planned, number);
    }
    let worker = planned.agent.as_str();
    let Some((_, agent)) = run.setup.plan.agents.iter().find(|(name, _)| name == worker) else { return true };
    // What it has claimed, and a person has answered for, goes on as everybody's does.
    if agent.peer == Some(true) && !is_free(run, planned) {
        return of_peer(run, planned, number, agent);
    }
    if !handing::take(run, planned) {
        return false;
    }
    let task = planned.id.as_str();
    let base = match run.ground.head() {
        Ok(base) => base,
        Err(why) => {
            run.note(&Note::Flag { task, text: &why });
            return false;
        }
    };
    let tree = base.clone().map(|commit| Tree { commit: Some(commit), ..Tree::default() });
    let claimed = run.desk.ask_as(worker, tree, "task.claim", &run.desk.of_task(task));
    let answer = match claimed {
        Ok(answer) => answer,
        Err(no) => {
            // Somebody is in the way. That is said once, and not every time it is tried.
            if run.board().is_news(number, &no.reason) {
                run.note(&Note::Flag { task, text: &format!("cannot be begun now: {}", no.reason) });
            }
            return false;
        }
    };
    let lease = answer["lease"].as_u64().unwrap_or(0);
    let attempt = Attempt { planned, number, agent, lease, base, stop: held(run, number, lease) };
    if let Err(no) = carry_on(run, &attempt) {
        give_up(run, &attempt, &no);
    }
    handing::give(run, planned);
    true
}

/// The work where a person has answered, or the work itself; then the gates.
fn carry_on(run: &Run<'_>, attempt: &Attempt<'_>) -> Result<(), No> {
    let gate = run.desk.look("gate.status", &run.desk.of_task(attempt.task())).map_err(No::from)?;
    let claimed = if gate["claim"].is_u64() {
        settings::must_be(run, attempt.task(), Work::Kept)?;
        work::again(run, attempt, &gate).map_err(No::from)?
    } else {
        if let Some(base) = &attempt.base {
            vouched::must_be(run, attempt.task(), base, Work::None)?;
        }
        settings::must_be(run, attempt.task(), Work::None)?;
        match work::work(run, attempt, &gate)? {
            Some(claimed) => claimed,
            None => return Ok(()),
        }
    };
    settings::must_be(run, attempt.task(), Work::Kept)?;
    gates::pass(run, attempt, &claimed)
}

/// What asks an attempt to stop as soon as its lease is not its own any more.
fn held(run: &Run<'_>, number: usize, lease: u64) -> Stop {
    let stop = run.stop.for_some();
    run.board().hold(number, lease, stop.clone());
    stop
}

/// Whether nobody has a task.
fn is_free(run: &Run<'_>, planned: &PlannedTask) -> bool {
    let row = run.desk.row(planned.id.as_str());
    matches!(row, Ok(Some(row)) if row.status == TaskStatus::Todo)
}

/// A result that a peer has brought goes through its gates.
fn of_peer(run: &Run<'_>, planned: &PlannedTask, number: usize, agent: &Agent) -> bool {
    let task = planned.id.as_str();
    let Ok(shown) = run.desk.look("task.show", &run.desk.of_task(task)) else { return false };
    let (Some(lease), true) = (shown["lease"].as_u64(), shown["result"].is_u64()) else { return false };
    let attempt = Attempt { planned, number, agent, lease, base: None, stop: held(run, number, lease) };
    let done = work::in_place(run, &attempt).and_then(|claimed: Claimed| {
        for flag in &claimed.flags {
            run.note(&Note::Flag { task, text: flag });
        }
        gates::pass(run, &attempt, &claimed)
    });
    if let Err(no) = done {
        give_up(run, &attempt, &no);
    }
    handing::give(run, planned);
    true
}

/// An attempt came to nothing. Whether it is tried again is for its budget to say.
pub(super) fn give_up(run: &Run<'_>, attempt: &Attempt<'_>, no: &No) {
    give_up_lease(run, attempt.task(), attempt.lease, no);
}

/// The same of an attempt by its lease.
pub(super) fn give_up_lease(run: &Run<'_>, task: &str, lease: u64, no: &No) {
    if run.stop.is_asked() {
        // It was stopped, and did not fail: it goes back for the next runner.
        let mut request = run.desk.of_task(task);
        request["lease"] = json!(lease);
        request["reason"] = json!("the runner was stopped");
        let _ = run.desk.ask("attempt.return", &request);
        return;
    }
    let code = no.code.as_deref().unwrap_or("DEPENDENCY_NOT_MET");
    let reason = fit(&no.reason);
    let mut request = run.desk.of_task(task);
    request["lease"] = json!(lease);
    request["code"] = json!(code);
    request["reason"] = json!(reason);
    let command = match &no.held {
        None => "attempt.fail",
        Some(Held { content, work, kept }) => {
            request["code"] = Value::Null;
            request["content"] = json!(content);
            request["kept"] = json!(kept);
            request["keeps"] = json!(*work == Work::Kept);
            request["idle"] = json!(*work == Work::None);
            request["found"] = json!(*work == Work::Blamed);
            "attempt.hold"
        }
    };
    match run.desk.ask(command, &request) {
        Ok(answer) if answer["status"] == "todo" => run.note(&Note::Again { task, reason: &reason }),
        Ok(_) => stopped(run, task, &reason),
        // What an agent said can be such that it may not be kept; that it failed is kept all the same.
        Err(no) if no.code.as_deref() == Some("UNTRUSTED_CONTEXT_BLOCK") => {
            let reason = "what was said about it may not be kept";
            request["reason"] = json!(reason);
            if run.desk.ask(command, &request).is_ok_and(|answer| answer["status"] == "blocked") {
                stopped(run, task, reason);
            }
        }
        Err(no) => already_over(run, task, &reason, &no),
    }
}

/// The attempt was over before we said so: its time ran out, or somebody took it away. What became of it is said all the same, and
/// why in the words of whoever ended it: who was stopped for that says no more than that they were.
fn already_over(run: &Run<'_>, task: &str, reason: &str, no: &No) {
    let shown = run.desk.look("task.show", &run.desk.of_task(task)).unwrap_or_default();
    match shown["task"]["status"].as_str() {
        Some("todo") => {
            let gate = run.desk.look("gate.status", &run.desk.of_task(task)).unwrap_or_default();
            run.note(&Note::Again { task, reason: gate["last"].as_str().unwrap_or(reason) });
        }
        Some("blocked") => {
            let blocker = run.desk.row(task).ok().flatten().and_then(|row| row.blocker);
            stopped(run, task, blocker.as_ref().map_or(reason, |it| it.reason.as_str()));
        }
        Some("canceled") => run.note(&Note::Flag { task, text: "it was canceled, and nobody works on it any more" }),
        _ => run.note(&Note::Flag { task, text: &format!("{reason}; {}", no.reason) }),
    }
}

/// What was said, fit to be recorded: without secrets, and not too long.
fn fit(reason: &str) -> String {
    let redacted = countersign_contract::scan::redact(reason);
    redacted.as_deref().unwrap_or(reason).chars().take(1900).collect()
}

/// A task waits for a person from here on.
pub(super) fn stopped(run: &Run<'_>, task: &str, reason: &str) {
    run.note(&Note::Stopped { task, reason });
    super::notice::tell(run, task, reason);
}
