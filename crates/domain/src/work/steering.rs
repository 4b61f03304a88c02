//! Who decides how a run goes on.
//!
//! In a run with gates a worker may not change what it is asked, take work away, answer what a person is asked or end the run:
//! it would be its own orchestrator, and what it did would pass because it had said what counts. Whoever leads the run may, and
//! a person. In a run without gates whoever says that they are its orchestrator is.

use super::row::{RunRow, TaskRow};
use crate::deciding::{Desk, Refusal};
use countersign_contract::diagnostic::Code;
use countersign_contract::show;

/// Refuses who neither carries a run with gates out nor is a person.
pub(crate) fn must_steer(run: &RunRow, desk: &Desk) -> Result<(), Refusal> {
    if !run.is_gated() || leads(run, desk) || desk.moment().person {
        return Ok(());
    }
    let reason = format!(
        "run {} follows a plan, and how it goes on is for the process that carries it out or for a person to say",
        run.run
    );
    Err(Refusal::new(Code::AuthorizationMissing, reason, TO_A_PERSON).of_run(&run.run))
}

/// The same, as long as somebody carries the run out.
pub(crate) fn must_not_interrupt(run: &RunRow, desk: &Desk) -> Result<(), Refusal> {
    if run.led_by.is_some() { must_steer(run, desk) } else { Ok(()) }
}

/// Refuses whoever would carry out what a person began and is none: an agent that ends the process which leads could put itself in
/// its place otherwise, with programs of its own in the way of the checks.
pub(super) fn must_be_leader(run: &RunRow, desk: &Desk) -> Result<(), Refusal> {
    if !run.is_gated() || !run.person || leads(run, desk) || desk.moment().person {
        return Ok(());
    }
    let reason = format!("a person began run {}, and only a person goes on with it", run.run);
    let help = "go on with it at a terminal, or with an owner's token: `countersign run --resume --token-file FILE`";
    Err(Refusal::new(Code::AuthorizationMissing, reason, help).of_run(&run.run))
}

/// Whether who asks says how a run goes on, by what the ledger knows: a person, its orchestrator, or where there are gates the
/// process that carries it out.
pub(super) fn directs(run: &RunRow, desk: &Desk) -> bool {
    let is_leader = if run.is_gated() { leads(run, desk) } else { run.orchestrator == desk.moment().actor };
    is_leader || desk.moment().person
}

/// Who may take from a worker what it works on, for those who may not.
pub(super) fn who_directs(run: &RunRow, worker: &str) -> String {
    let (worker, leader) = (show(worker), leader(run));
    format!("{worker} says so under its lease; {leader} may say it for them, and so may {PERSON}")
}

/// Who may write the log of a task that nobody works on, for those who may not.
pub(super) fn who_writes(run: &RunRow, worker: &str) -> String {
    let (worker, leader) = (show(worker), leader(run));
    format!("{worker}, who had it last, may add a line, {leader} for them, and so may {PERSON}")
}

fn leader(run: &RunRow) -> String {
    if run.is_gated() { "the process that carries the run out".to_owned() } else { show(&run.orchestrator) }
}

const PERSON: &str = "a person: at a terminal, or with an owner's token (--token-file)";

/// Refuses who takes a task that a plan gives to somebody else. What an agent does that is no peer is begun by the process that
/// carries the run out, which starts it, or where there is none by a person: whoever else took it would keep it from being done.
pub(super) fn must_be_given(run: &RunRow, task: &TaskRow, worker: &str, desk: &Desk) -> Result<(), Refusal> {
    let Some(agent) = &task.spec.agent else { return Ok(()) };
    let by_hand = run.led_by.is_none() && desk.moment().person;
    let (reason, help) = if !is_for(task, worker) {
        let reason = format!("the plan gives {} to {}, and not to {}", task.task, show(agent), show(worker));
        (reason, "take what is yours: `countersign task next` shows the best of it that is free")
    } else if !task.spec.peer && !leads(run, desk) && !by_hand {
        let reason = format!(
            "{} is work for {}, who is no peer, and the process that carries the run out takes it for them",
            task.task,
            show(agent)
        );
        (
            reason,
            "go on with the run: `countersign run --resume`; an agent that takes its tasks itself is a `peer` in the plan",
        )
    } else {
        return Ok(());
    };
    Err(Refusal::new(Code::AuthorizationMissing, reason, help).of_run(&run.run))
}

/// Whether a task is for a worker, as far as a plan says who does it. Sessions of a client are named after it, `client:session`,
/// and nobody knows them when the plan is written: a peer with the name of the client is each of them.
pub(super) fn is_for(task: &TaskRow, worker: &str) -> bool {
    let Some(agent) = task.spec.agent.as_deref() else { return true };
    let of_session = worker.strip_prefix(agent).is_some_and(|rest| rest.starts_with(':'));
    worker == agent || (task.spec.peer && of_session)
}

/// Whether who asks is the process that carries the run out.
pub(crate) fn leads(run: &RunRow, desk: &Desk) -> bool {
    run.led_by.as_deref() == Some(desk.moment().authn.as_str())
}

const TO_A_PERSON: &str = "`countersign inbox` shows what is asked; a person answers at a terminal, or with an owner's token \
                           (--token-file). A worker says what is in its way with `countersign task block`";
