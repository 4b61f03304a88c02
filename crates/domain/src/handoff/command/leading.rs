//! Who speaks in the trace of a run: while it is open, the process that carries it out; and a person, who may send a handoff
//! in the place of one that could not be made.
//!
//! The trace of a run can be computed by whoever knows the run, so its id is no proof of anything. What counts is that a
//! handoff names its run, and that this was allowed when it was sent.

use crate::deciding::{Desk, Need, Refusal, Seen};
use crate::handoff::row::{TraceRow, trace_key, trace_of};
use crate::ids::RunId;
use crate::work::row::{RunRow, run_key, run_of};
use countersign_contract::diagnostic::Code;
use std::collections::BTreeSet;

/// The runs that must be seen: the one that is named, and those whose handoffs the trace has.
pub(super) fn needs(named: Option<&RunId>, trace: &str, seen: &Seen) -> Vec<Need> {
    let row = trace_of(seen.so_far(&trace_key(trace)));
    let recorded = row.iter().flat_map(runs).map(str::to_owned);
    let all: BTreeSet<String> = named.map(|run| run.as_str().to_owned()).into_iter().chain(recorded).collect();
    all.iter().map(|run| Need::Entity(run_key(run))).collect()
}

fn runs(row: &TraceRow) -> impl Iterator<Item = &str> {
    row.steps.iter().filter_map(|step| step.run.as_deref())
}

fn open(desk: &Desk, run: &str) -> Option<RunRow> {
    run_of(desk.entity(&run_key(run))).filter(|run| run.status == "open")
}

fn leads(run: &RunRow, desk: &Desk) -> bool {
    run.led_by.as_deref() == Some(desk.moment().authn.as_str())
}

/// Refuses who sends a handoff of a run and neither carries it out nor is a person.
pub(super) fn must_speak_for(desk: &Desk, run: &str, is_person: bool) -> Result<(), Refusal> {
    let Some(row) = open(desk, run) else {
        let reason = format!("there is no open run {run}, and so nothing is handed over in it");
        let help = "`countersign run list` shows the runs; outside of one, name none";
        return Err(Refusal::new(Code::DependencyNotMet, reason, help).of_run(run));
    };
    if is_person || leads(&row, desk) {
        return Ok(());
    }
    Err(others(run, "sends"))
}

/// Refuses who sends something of their own in a trace that an open run has handoffs in.
pub(super) fn must_be_free(desk: &Desk, row: Option<&TraceRow>) -> Result<(), Refusal> {
    match row.into_iter().flat_map(runs).find(|run| open(desk, run).is_some()) {
        Some(run) => Err(others(run, "sends")),
        None => Ok(()),
    }
}

/// Refuses who receives a handoff of an open run and does not carry it out.
pub(super) fn must_receive_for(desk: &Desk, run: &str) -> Result<(), Refusal> {
    match open(desk, run) {
        Some(row) if !leads(&row, desk) => Err(others(run, "receives")),
        _ => Ok(()),
    }
}

fn others(run: &str, does: &str) -> Refusal {
    let reason =
        format!("the trace is that of run {run}, in which only the process that carries it out {does} handoffs");
    let help =
        "say under `x_handoff` of the result what the next task should know; outside of the run, begin another trace";
    Refusal::new(Code::AuthorizationMissing, reason, help).of_run(run)
}
