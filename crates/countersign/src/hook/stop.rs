//! When a session or an agent wants to end: it is kept while it holds tasks without a result, told what is missing, and let
//! go in the end, with the ledger knowing how it stands.

use super::begin::in_words;
use super::place::Held;
use super::rounds::{ROUNDS_MAX, Rounds};
use super::{Answer, Asker, Desk, Event, here};
use countersign_contract::show;
use serde_json::json;

/// What a task is filed under whose worker ended without a result.
const CODE: &str = "ACCEPTANCE_FAILED";

/// Whether somebody may end.
pub(super) fn stop(asker: &Asker<'_>, event: &Event) -> anyhow::Result<Answer> {
    // Under a name that a session shares with its agents, what is held is the session's to finish.
    if asker.global.actor.is_some() && event.agent.is_some() {
        return Ok(Answer::nothing());
    }
    let Some(project) = here(asker, Some(event))? else { return Ok(Answer::nothing()) };
    let desk = Desk::open(asker, event, &project)?;
    let held = desk.held()?;
    let rounds = Rounds::of(&project, &desk.actor);
    if held.is_empty() {
        if let Some(rounds) = rounds {
            rounds.forget();
        }
        return Ok(Answer::nothing());
    }
    let mut leases: Vec<u64> = held.iter().map(|held| held.lease).collect();
    leases.sort_unstable();
    let round = match rounds.as_ref().map(|rounds| rounds.next(leases)) {
        Some(Ok(round)) => round,
        // What cannot be counted is kept once.
        _ if event.goes_on => ROUNDS_MAX + 1,
        _ => ROUNDS_MAX,
    };
    if round > ROUNDS_MAX {
        let said = give_up(&desk, &held);
        if let Some(rounds) = rounds {
            rounds.forget();
        }
        return Ok(Answer::message(&said));
    }
    let answer = Answer::block(&missing(&desk.actor, &held, round));
    (asker.tell)(&answer);
    desk.refresh();
    Ok(answer)
}

fn missing(actor: &str, held: &[Held], round: u32) -> String {
    let tasks: Vec<String> = held.iter().map(in_words).collect();
    let names: Vec<&str> = held.iter().map(|held| held.task.as_str()).collect();
    let (actor, names) = (show(actor), names.join(", "));
    let mut said = format!(
        "{actor} still holds {}, and no result was accepted. Finish the work and bring its result with `countersign task submit \
         --as {actor}`, or say why it cannot go on with `countersign task block --as {actor}`.",
        tasks.join("; ")
    );
    if round == ROUNDS_MAX {
        said.push_str(&format!(
            " This is the last round: ending now without either records {names} as blocked ({CODE}), and its locks are freed."
        ));
    } else {
        said.push_str(&format!(" This is round {round} of {ROUNDS_MAX}."));
    }
    said
}

/// Ends as it is: what is held becomes blocked, so that somebody decides how it goes on.
fn give_up(desk: &Desk<'_>, held: &[Held]) -> String {
    let mut said = Vec::new();
    for held in held {
        let reason = format!("its worker ended {ROUNDS_MAX} times without a result that was accepted");
        let request = json!({
            "run_id": held.run, "task_id": held.task, "lease": held.lease, "code": CODE, "reason": reason,
        });
        said.push(match desk.ask("task.block", &request) {
            Ok(()) => format!("{} was recorded as blocked ({CODE}: {reason})", held.task),
            Err(error) => format!("{} has no result, and that could not be recorded: {error:#}", held.task),
        });
    }
    said.join("; ")
}
