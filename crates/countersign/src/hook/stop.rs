//! When a session or an agent wants to end: it is kept while it holds tasks without a result, or has promises that it did not
//! keep, told what is missing, and let go in the end, with the ledger knowing how it stands.

use super::begin::in_words;
use super::losses::Lease;
use super::place::Held;
use super::promises::{Unkept, unkept};
use super::rounds::{ROUNDS_MAX, Rounds};
use super::{Answer, Asker, Desk, Event, here};
use countersign_contract::show;
use countersign_diagnostic::visible;
use serde_json::{Value, json};

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
    // Where the result of a task was brought, and its gates look at it, there is nothing left to do for its worker.
    let shown = desk.held()?.into_iter().map(|held| (desk.task(&held), held));
    let unfinished: Vec<(Value, Held)> = shown.filter(|(task, _)| !task["result"].is_u64()).collect();
    let refused: Vec<String> = unfinished.iter().filter_map(|(task, held)| last_refused(task, held)).collect();
    let held: Vec<Held> = unfinished.into_iter().map(|(_, held)| held).collect();
    let (left, promises): (Vec<Unkept>, Vec<Unkept>) = unkept(&desk)?.into_iter().partition(|it| it.waits_for_a_person);
    let rounds = Rounds::of(&project, &desk.actor);
    let lost = desk.losses.as_ref().map_or_else(|| Ok(Vec::new()), |losses| losses.untold(&desk))?;
    if held.is_empty() && promises.is_empty() {
        if let Some(rounds) = rounds {
            rounds.forget();
        }
        if !lost.is_empty() {
            return Ok(Answer::block(&taken_back(&desk.actor, &lost)));
        }
        return Ok(if left.is_empty() { Answer::nothing() } else { Answer::message(&not_kept(&left)) });
    }
    let leases = held.iter().map(|held| held.lease);
    let mut leases: Vec<u64> = leases.chain(promises.iter().map(Unkept::number)).collect();
    leases.sort_unstable();
    let round = match rounds.as_ref().map(|rounds| rounds.next(leases)) {
        Some(Ok(round)) => round,
        // What cannot be counted is kept once.
        _ if event.goes_on => ROUNDS_MAX + 1,
        _ => ROUNDS_MAX,
    };
    if round > ROUNDS_MAX {
        let said = give_up(&desk, &held, &promises);
        if let Some(rounds) = rounds {
            rounds.forget();
        }
        return Ok(Answer::message(&said));
    }
    let mut said = missing(&desk.actor, &held, &refused, &promises, round);
    if !lost.is_empty() {
        said = format!("{} {said}", taken_back(&desk.actor, &lost));
    }
    let answer = Answer::block(&said);
    (asker.tell)(&answer);
    desk.refresh();
    Ok(answer)
}

/// What was wrong with the last result of a task.
fn last_refused(task: &Value, held: &Held) -> Option<String> {
    let refused = task["refused_result"].as_object()?;
    let text = |value: &Value| visible(value.as_str().unwrap_or_default()).into_owned();
    let mut said = format!(
        "The last result of {} was refused, {}: {}.",
        held.task,
        text(refused.get("code")?),
        text(refused.get("reason")?).trim_end_matches('.')
    );
    let findings = refused.get("findings").and_then(Value::as_array).into_iter().flatten();
    let findings: Vec<String> = findings.map(text).collect();
    if !findings.is_empty() {
        said.push_str(&format!(" What was wrong: {}.", findings.join("; ").trim_end_matches('.')));
    }
    Some(said)
}

fn missing(actor: &str, held: &[Held], refused: &[String], promises: &[Unkept], round: u32) -> String {
    let actor = show(actor);
    let mut said = Vec::new();
    if !held.is_empty() {
        let tasks: Vec<String> = held.iter().map(in_words).collect();
        said.push(format!(
            "{actor} still holds {}, and no result was accepted. Finish the work and bring its result with `countersign task \
             submit - --as {actor}` on standard input, or say why it cannot go on with `countersign task block --as {actor}`.",
            tasks.join("; ")
        ));
        said.extend(refused.iter().cloned());
    }
    if !promises.is_empty() {
        let promises: Vec<String> = promises.iter().map(Unkept::in_words).collect();
        said.push(format!(
            "{actor} has promised what is not kept yet: {}. Meet what is left with `countersign promise meet --as {actor}`; what \
             is met must be validated by somebody else. `countersign gate status` shows what each gate asks.",
            promises.join("; ")
        ));
    }
    said.push(match (round == ROUNDS_MAX, held.is_empty()) {
        (false, _) => format!("This is round {round} of {ROUNDS_MAX}."),
        (true, true) => "This is the last round: ending now leaves it not kept, and the ledger says so.".to_owned(),
        (true, false) => {
            let names: Vec<&str> = held.iter().map(|held| held.task.as_str()).collect();
            let names = names.join(", ");
            format!(
                "This is the last round: ending now without either records {names} as blocked ({CODE}), and its locks are \
                 freed."
            )
        }
    });
    said.join(" ")
}

/// What somebody does not hold any more, without having been told. Nobody is kept for it twice.
fn taken_back(actor: &str, lost: &[Lease]) -> String {
    let (actor, tasks) = (show(actor), lost.iter().map(Lease::in_words).collect::<Vec<_>>());
    let names: Vec<&str> = lost.iter().map(|lease| lease.task.as_str()).collect();
    format!(
        "{actor} has lost {}: no sign of life came in time, and no result was brought. What was done since then is nobody's, and \
         somebody else may have it by now. To finish it, take it anew with `countersign task claim {} --as {actor}`; otherwise \
         leave its files alone. This is said once.",
        tasks.join("; "),
        names.first().unwrap_or(&"TASK"),
    )
}

fn not_kept(promises: &[Unkept]) -> String {
    let promises: Vec<String> = promises.iter().map(Unkept::in_words).collect();
    format!("not kept yet: {}", promises.join("; "))
}

/// Ends as it is: what is held becomes blocked, so that somebody decides how it goes on.
fn give_up(desk: &Desk<'_>, held: &[Held], promises: &[Unkept]) -> String {
    let mut said = Vec::new();
    if !promises.is_empty() {
        said.push(not_kept(promises));
    }
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
