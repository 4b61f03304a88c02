//! Peers, who do their part themselves: a run says for whom it waits, and takes what they bring.

use super::answering::written;
use super::attempt::Attempt;
use super::board::{Awaited, Board};
use super::looking_on::PATIENCE;
use super::validating::open;
use super::{Note, Run, TICK};
use countersign_contract::show;
use serde_json::{Value, json};
use std::time::Instant;

/// Says what is awaited of peers that work, once.
pub(super) fn tell(run: &Run<'_>, board: &mut Board) {
    for (task, peer, awaited) in board.awaited() {
        let task = task.as_str();
        match awaited {
            Awaited::Claim => {
                let what = format!(
                    "to claim it: over MCP, over HTTP, or with `countersign task claim {task} --as {} --run {}`",
                    show(&peer),
                    run.setup.run
                );
                run.note(&Note::Awaited { task, peer: &peer, what: &what });
            }
            Awaited::Result { owner, attempt, lease } => {
                run.note(&Note::Begun { task, agent: &owner, attempt, lease });
            }
        }
    }
}

/// Whether somebody of the plan is a peer.
pub(super) fn is_peer(run: &Run<'_>, name: &str) -> bool {
    run.setup.plan.agents.iter().any(|(it, agent)| it == name && agent.peer == Some(true))
}

/// Waits until a peer has validated, for as long as anybody else would have. What followed from what it said; nothing, if it has
/// said nothing by then.
pub(super) fn wait(run: &Run<'_>, attempt: &Attempt<'_>, peer: &str, bound: &str) -> Option<Value> {
    let (task, until) = (attempt.task(), Instant::now() + PATIENCE);
    let what = format!(
        "to validate {}: over MCP, over HTTP, or with `countersign gate validate {task} RESPONSE --validator {peer} --bound {bound} \
         --run {} --token-file FILE`",
        bound.get(..10).unwrap_or(bound),
        run.setup.run
    );
    run.note(&Note::Awaited { task, peer, what: &what });
    run.board().set_aside(attempt.number, true);
    let mut said = None;
    while said.is_none() && Instant::now() < until && !run.stop.is_asked() {
        std::thread::sleep(TICK);
        said = answer(run, attempt, peer);
    }
    run.board().set_aside(attempt.number, false);
    said
}

/// What a peer has said at the gate, and what followed from it.
fn answer(run: &Run<'_>, attempt: &Attempt<'_>, peer: &str) -> Option<Value> {
    let row = run.desk.row(attempt.task()).ok()??;
    // What it said has ended the attempt.
    if row.lease != Some(attempt.lease) {
        let reason = row.blocker.map(|blocker| blocker.reason);
        return Some(json!({ "status": row.status.as_str(), "reason": reason }));
    }
    let gate = run.desk.look("gate.status", &run.desk.of_task(attempt.task())).ok()?;
    let verdict = gate["verdicts"].as_array()?.iter().find(|it| it["validator"] == peer)?;
    let response = written(verdict["response"].as_str().unwrap_or_default());
    let verdict = verdict["verdict"].as_str().unwrap_or_default();
    let said = response["verdict"].as_str().unwrap_or(verdict);
    let open = open(run, attempt);
    run.note(&Note::Validated { task: attempt.task(), validator: peer, verdict, said, only: &[], open: &open });
    Some(Value::Null)
}
