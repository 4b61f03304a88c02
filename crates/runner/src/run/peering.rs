//! Peers, who do their part themselves: a run says for whom it waits, and takes what they bring.

use super::answering::written;
use super::attempt::Attempt;
use super::board::{Awaited, Board};
use super::looking_on::PATIENCE;
use super::no::No;
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

/// Waits until peers have validated, side by side and each for as long as anybody else would have. What followed from what they
/// said, and who has said nothing by then; once the attempt has ended, nobody else is waited for.
pub(super) fn wait<'p>(
    run: &Run<'_>,
    attempt: &Attempt<'_>,
    peers: &[&'p String],
    bound: &str,
) -> (Value, Vec<&'p String>) {
    let (task, until) = (attempt.task(), Instant::now() + PATIENCE);
    for peer in peers {
        let what = format!(
            "to validate {}: over MCP, over HTTP, or with `countersign gate validate {task} RESPONSE --validator {peer} \
             --bound {bound} --run {} --token-file FILE`",
            bound.get(..10).unwrap_or(bound),
            run.setup.run
        );
        run.note(&Note::Awaited { task, peer, what: &what });
    }
    run.board().set_aside(attempt.number, true);
    let (mut after, mut silent) = (Value::Null, peers.to_vec());
    while !silent.is_empty() && !after["status"].is_string() && Instant::now() < until && !attempt.stop.is_asked() {
        std::thread::sleep(TICK);
        silent.retain(|peer| {
            let said = if after["status"].is_string() { None } else { answer(run, attempt, peer) };
            let is_silent = said.is_none();
            after = said.unwrap_or_else(|| after.take());
            is_silent
        });
    }
    run.board().set_aside(attempt.number, false);
    (after, silent)
}

/// What followed from what a peer did not say. Where that is refused, it may have spoken after it was last looked, and then that
/// counts.
pub(super) fn unless_heard(recorded: Result<Value, No>, again: impl FnOnce() -> Option<Value>) -> Result<Value, No> {
    match recorded {
        Err(no) if no.code.is_some() => again().ok_or(no),
        other => other,
    }
}

/// What a peer has said at the gate, and what followed from it.
pub(super) fn answer(run: &Run<'_>, attempt: &Attempt<'_>, peer: &str) -> Option<Value> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_peer_said_at_the_last_moment_counts_and_not_its_silence() {
        let (ended, recorded) = (json!({ "status": "todo", "reason": "AC-1 FAIL" }), json!({ "verdict": "BLOCKED" }));
        let refused = |code: &str| Err(No::filed(code, "critic has validated this already, otherwise"));
        let broken = || Err(No::from("the ledger cannot be read".to_owned()));
        let table = [
            // It was silent to the end.
            (Ok(recorded.clone()), None, Ok(recorded.clone())),
            (Ok(recorded.clone()), Some(Value::Null), Ok(recorded)),
            // It had answered; that its silence is refused says only that.
            (refused("INVALID_TRANSITION"), Some(Value::Null), Ok(Value::Null)),
            // What it answered has ended the attempt, and nothing is claimed any more.
            (refused("CONCURRENCY_CONFLICT"), Some(ended.clone()), Ok(ended.clone())),
            (refused("DEPENDENCY_NOT_MET"), Some(ended.clone()), Ok(ended.clone())),
            // It is refused for another reason.
            (refused("INVALID_TRANSITION"), None, refused("INVALID_TRANSITION")),
            (broken(), Some(ended), broken()),
        ];
        for (recorded, heard, expected) in table {
            assert_eq!(unless_heard(recorded.clone(), || heard.clone()), expected, "{recorded:?}, {heard:?}");
        }
    }
}
