//! Gate 2: what was claimed is looked at by somebody else.

use super::answering::{Outputs, cut, nothing, response, shown};
use super::attempt::Attempt;
use super::checking::{Found, Look, look};
use super::checkouts::Checkouts;
use super::looking_on::{PATIENCE, answer_of};
use super::no::No;
use super::work::Claimed;
use super::{Note, Run, peering};
use countersign_domain::plan::machine_checks;
use countersign_domain::plan::payload::Agent;
use countersign_domain::validation::evidence::EvidenceKind;
use countersign_domain::validation::row::{BUILTIN, PERSON};
use serde_json::{Value, json};
use std::path::Path;

/// Has everybody look who has not yet, persons left out, and records what they found.
pub(super) fn validate(run: &Run<'_>, attempt: &Attempt<'_>, claimed: &Claimed, gate: &Value) -> Result<Value, No> {
    let wanted: Vec<String> =
        gate["unvalidated"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    let mut after = Value::Null;
    let mut checkouts = Checkouts::new(run, attempt, claimed);
    let mut edits = Vec::new();
    let mut found: Vec<Found> = Vec::new();
    let (peers, others): (Vec<&String>, Vec<&String>) =
        wanted.iter().filter(|it| *it != BUILTIN && *it != PERSON).partition(|it| peering::is_peer(run, it));
    // Where only people and peers are left, what they are shown must be bound to what is there, and somebody must ask them.
    let is_asked = wanted.iter().any(|it| it == BUILTIN) || others.is_empty();
    // Whoever looks after a runner was gone is shown what the one before it saw.
    if is_asked || has_checks(attempt) {
        (edits, found) = look(run, attempt, claimed, Look::First, &mut checkouts)?;
        not_stopped(attempt)?;
    }
    if is_asked {
        let said = |outputs, found: &[Found]| {
            record(run, attempt, claimed, BUILTIN, &response(attempt, found, &edits, claimed, outputs), found)
        };
        after = match said(Outputs::Told, &found) {
            // What a program wrote can be such that others could take it for instructions. Its hash is kept.
            Err(no) if no.code.as_deref() == Some("UNTRUSTED_CONTEXT_BLOCK") => {
                found.iter_mut().for_each(|(_, evidence)| evidence.output = None);
                said(Outputs::LeftOut, &found)?
            }
            other => other?,
        };
    }
    // What the checks refute nobody else needs to look at.
    if !after["status"].is_string() && !others.is_empty() {
        let told = Told { gate, found: &found, edits: &edits };
        drop(checkouts);
        after = by_agents(run, attempt, claimed, &others, &told)?;
    }
    if !after["status"].is_string() && !peers.is_empty() {
        after = by_peers(run, attempt, claimed, &peers)?;
    }
    Ok(after)
}

/// Waits for peers, and records of those who said nothing that they did not.
fn by_peers(run: &Run<'_>, attempt: &Attempt<'_>, claimed: &Claimed, peers: &[&String]) -> Result<Value, No> {
    let (mut after, silent) = peering::wait(run, attempt, peers, &claimed.bound);
    for peer in silent {
        if after["status"].is_string() {
            break;
        }
        not_stopped(attempt)?;
        let why = format!("{peer}, a peer, gave no answer within {} minutes", PATIENCE.as_secs() / 60);
        let recorded = record(run, attempt, claimed, peer, &nothing(attempt, peer, &why), &[]);
        if recorded.is_ok() {
            run.note(&Note::Flag { task: attempt.task(), text: &why });
        }
        after = peering::unless_heard(recorded, || peering::answer(run, attempt, peer))?;
    }
    Ok(after)
}

/// What those are told who look after the checks.
struct Told<'a> {
    gate: &'a Value,
    found: &'a [Found],
    edits: &'a [String],
}

/// Has agents look, side by side and each in a checkout of its own, and records what they found.
fn by_agents(
    run: &Run<'_>,
    attempt: &Attempt<'_>,
    claimed: &Claimed,
    others: &[&String],
    told: &Told<'_>,
) -> Result<Value, No> {
    let mut after = Value::Null;
    // They are there until all have looked.
    let mut checkouts: Vec<Checkouts<'_, '_>> = others.iter().map(|_| Checkouts::new(run, attempt, claimed)).collect();
    let folders = checkouts.iter_mut().zip(others).map(|(checkouts, name)| checkouts.for_agent(agent(run, name)));
    let folders = folders.collect::<Result<Vec<_>, _>>().map_err(No::from)?;
    let answers: Vec<(String, Answer)> = std::thread::scope(|scope| {
        let asked = others
            .iter()
            .zip(&folders)
            .map(|(name, folder)| (*name, scope.spawn(move || ask(run, attempt, claimed, name, folder, told))));
        let asked: Vec<_> = asked.collect();
        asked.into_iter().filter_map(|(name, thread)| Some((name.clone(), thread.join().ok()?))).collect()
    });
    not_stopped(attempt)?;
    for (name, answer) in answers {
        after = take(run, attempt, claimed, &name, &answer)?;
        if after["status"].is_string() {
            return Ok(after);
        }
    }
    Ok(after)
}

/// What an agent answered, and what it was asked.
struct Answer {
    asked: Value,
    text: Result<String, String>,
}

/// Records the answer of an agent. One that may not pass is mended as by `countersign validate`; one that cannot be is none:
/// whoever gave it has seen nothing that counts, and it is said why.
fn take(run: &Run<'_>, attempt: &Attempt<'_>, claimed: &Claimed, name: &str, answer: &Answer) -> Result<Value, No> {
    let is_refused = |no: &No| no.code.is_some() && no.code.as_deref() != Some("CONCURRENCY_CONFLICT");
    let why = match &answer.text {
        Err(why) => format!("{name} gave no answer: {why}"),
        Ok(text) => {
            let response = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
            let mut why = match record(run, attempt, claimed, name, &response, &[]) {
                Err(no) if is_refused(&no) => no.reason,
                other => return other,
            };
            match run.setup.mends.map(|mends| mends.mend(&answer.asked, name, text)) {
                Some(Ok((mended, changes))) => match record(run, attempt, claimed, name, &mended, &[]) {
                    Err(no) if is_refused(&no) => why = no.reason,
                    other => {
                        let changes = format!("{name}'s answer was repaired: {}", changes.join("; "));
                        run.note(&Note::Flag { task: attempt.task(), text: &changes });
                        return other;
                    }
                },
                Some(Err(not)) => why = not,
                None => {}
            }
            format!("{name} gave no usable answer: {why}")
        }
    };
    run.note(&Note::Flag { task: attempt.task(), text: &why });
    let recorded = record(run, attempt, claimed, name, &nothing(attempt, name, &why), &[]);
    match recorded {
        // What somebody answered can be such that it may not be repeated.
        Err(no) if is_refused(&no) => {
            let why = format!("{name} gave no usable answer, and what is wrong with it may not be kept");
            record(run, attempt, claimed, name, &nothing(attempt, name, &why), &[])
        }
        other => other,
    }
}

fn has_checks(attempt: &Attempt<'_>) -> bool {
    attempt.planned.acceptance.iter().any(|criterion| machine_checks(criterion).next().is_some())
}

/// Refuses to take for an answer what was cut short because the runner stops or the task is canceled: it says nothing about the
/// work.
pub(super) fn not_stopped(attempt: &Attempt<'_>) -> Result<(), No> {
    if attempt.stop.is_asked() { Err(No::from("it was stopped".to_owned())) } else { Ok(()) }
}

/// Records what somebody found.
fn record(
    run: &Run<'_>,
    attempt: &Attempt<'_>,
    claimed: &Claimed,
    validator: &str,
    response: &Value,
    found: &[Found],
) -> Result<Value, No> {
    let mut request = run.desk.of_task(attempt.task());
    request["lease"] = json!(attempt.lease);
    request["bound"] = json!(claimed.bound);
    request["validator"] = json!(validator);
    request["response"] = response.clone();
    request["evidence"] = found.iter().map(shown).collect();
    let after = run.desk.ask("gate.validate", &request)?;
    let verdict = after["verdict"].as_str().unwrap_or_default();
    let said = response["verdict"].as_str().unwrap_or(verdict);
    // Checks that are not there say nothing.
    if validator != BUILTIN || !found.is_empty() {
        let only = passed_alone(&after);
        let is_less = verdict != said || !only.is_empty();
        let open = if is_less && !after["status"].is_string() { open(run, attempt) } else { Vec::new() };
        run.note(&Note::Validated { task: attempt.task(), validator, verdict, said, only: &only, open: &open });
    }
    Ok(after)
}

/// The criteria that somebody found to hold who left the others alone. None, where they found something wrong or all to hold.
fn passed_alone(after: &Value) -> Vec<String> {
    let results = || after["results"].as_object().into_iter().flatten();
    let passed = results().filter(|(_, status)| *status == "PASS").map(|(id, _)| id.clone());
    let is_left = |(_, status): (&String, &Value)| status == "SKIP";
    let is_wrong = |(_, status): (&String, &Value)| status == "FAIL" || status == "BLOCKED";
    if results().any(is_left) && !results().any(is_wrong) { passed.collect() } else { Vec::new() }
}

/// The criteria that nobody has shown to hold so far.
pub(super) fn open(run: &Run<'_>, attempt: &Attempt<'_>) -> Vec<String> {
    let gate = run.desk.look("gate.status", &run.desk.of_task(attempt.task())).unwrap_or_default();
    let criteria = gate["criteria"].as_array().into_iter().flatten().filter(|it| it["status"] != "PASS");
    criteria.filter_map(|it| it["id"].as_str().map(str::to_owned)).collect()
}

/// An agent by its name.
fn agent<'a>(run: &Run<'a>, name: &str) -> Option<&'a Agent> {
    run.setup.plan.agents.iter().find(|(it, _)| it == name).map(|(_, agent)| agent)
}

/// Asks an agent to validate.
fn ask(run: &Run<'_>, attempt: &Attempt<'_>, claimed: &Claimed, name: &str, folder: &Path, told: &Told<'_>) -> Answer {
    let asked = request(attempt, claimed, folder, told);
    let text = match agent(run, name) {
        Some(validator) => answer_of(run, attempt, validator, name, folder, &asked),
        None => Err(format!("the plan has no agent {name}")),
    };
    Answer { asked, text }
}

/// The validation request, with what was found so far.
fn request(attempt: &Attempt<'_>, claimed: &Claimed, folder: &Path, told: &Told<'_>) -> Value {
    let Told { gate, found, edits } = told;
    let criteria: Vec<Value> = gate["criteria"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| json!({ "id": it["id"], "description": it["description"] }))
        .collect();
    let pages = found.iter().any(|(_, it)| it.kind == EvidenceKind::Page);
    let mut asked = json!({
        "task_id": attempt.task(),
        "validation_type": if pages { "both" } else { "code" },
        "acceptance_criteria": criteria,
        "claimed_evidence": { "summary": cut(&claimed.result), "files_modified": claimed.changed },
        "worktree_path": folder.to_string_lossy(),
        "timeout_seconds": PATIENCE.as_secs(),
        "x_author": attempt.worker(),
        "x_evidence": found.iter().map(shown).collect::<Vec<_>>(),
        "x_test_edits": edits,
        "x_flags": claimed.flags,
    });
    if claimed.base.is_some() {
        asked["claimed_evidence"]["commit_hash"] = json!(claimed.bound);
    }
    asked
}

/// The lease of a worker lasts while its claim is looked at.
pub(super) fn keep_alive(run: &Run<'_>, attempt: &Attempt<'_>) {
    let mut request = run.desk.of_task(attempt.task());
    request["lease"] = json!(attempt.lease);
    if let Err(no) = run.desk.ask_as(attempt.worker(), None, "task.heartbeat", &request) {
        run.note(&Note::Flag { task: attempt.task(), text: &no.reason });
    }
}
