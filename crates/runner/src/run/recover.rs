//! What an earlier runner left: its agents are ended, and its tasks go on from what the ledger says.

use super::{Note, Run};
use crate::agent::{self, Mark, Stopped};
use serde_json::{Value, json};

/// What the processes of an attempt are known by.
pub(super) fn attempt_name(run: &str, task: &str, lease: u64) -> String {
    format!("{run}.{task}.{lease}")
}

/// Leases of agents that lapsed while nobody was there to keep them alive count neither as attempts nor as failures. A peer
/// keeps its own alive.
fn excuse_what_lapsed(run: &Run<'_>, before: Option<&str>) -> Result<(), String> {
    // One that stopped by itself has given its tasks back.
    let Some(before) = before.filter(|before| *before != run.setup.call.authn) else { return Ok(()) };
    for (task, lease) in run.desk.lapsed_since(before)? {
        if !is_ours(run, &task) {
            continue;
        }
        let mut request = run.desk.of_task(&task);
        request["lease"] = json!(lease);
        request["reason"] = json!("its lease lapsed while the runner was gone");
        match run.desk.ask("attempt.return", &request) {
            Ok(_) => run.note(&Note::Recovered { task: &task, what: "its lease lapsed while the runner was gone" }),
            // Somebody has taken or answered it since.
            Err(no) => run.note(&Note::Flag { task: &task, text: &no.reason }),
        }
    }
    Ok(())
}

/// Whether a task is worked on by a process of the runner: an agent that it starts, or an action that it carries out.
fn is_ours(run: &Run<'_>, task: &str) -> bool {
    let planned = run.setup.plan.tasks.iter().find(|it| it.id.as_str() == task);
    let agent = planned.and_then(|it| run.setup.plan.agents.iter().find(|(name, _)| name == it.agent.as_str()));
    planned.is_some_and(|it| it.is_delegate()) || agent.is_some_and(|(_, agent)| agent.peer != Some(true))
}

/// Deals with everything that was begun and of which nobody knows how it ended.
pub(super) fn recover(run: &Run<'_>, before: Option<&str>) -> Result<(), String> {
    run.desk.settle()?;
    excuse_what_lapsed(run, before)?;
    // Those that are known first, so that it is said of each whether it was still there.
    let shown = run.desk.look("effect.list", &run.desk.of_run())?;
    for effect in shown["effects"].as_array().into_iter().flatten() {
        of_effect(run, effect);
    }
    end_what_is_left(run);
    run.ground.unlock();
    let mut question = run.desk.of_run();
    question["limit"] = json!(1000);
    question["status"] = json!("in_progress");
    let shown = run.desk.look("task.list", &question)?;
    for task in shown["tasks"].as_array().into_iter().flatten() {
        of_task(run, task)?;
    }
    run.ground.sweep();
    super::kept::look_back(run)
}

/// Ends whatever an earlier runner of this run had started: agents, those that validate and judge, and checks. Whoever
/// carries the mark of this run now is not ours, and there is no other runner.
fn end_what_is_left(run: &Run<'_>) {
    let (ended, left) = agent::stop_marked(&format!("{}.", run.setup.run));
    if ended > 0 {
        run.note(&Note::Swept { what: &format!("{ended} processes that an earlier runner left were ended") });
    }
    if left > 0 {
        run.note(&Note::Swept { what: &format!("{left} processes that an earlier runner left could not be ended") });
    }
    let apart = [Some(super::PICTURES), Some(super::kept::FOLDERS)];
    let entries = std::fs::read_dir(run.setup.spool).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| !apart.contains(&entry.file_name().to_str()) && entry.path().is_dir()) {
        let _ = std::fs::remove_dir_all(entry.path());
    }
}

fn of_effect(run: &Run<'_>, effect: &Value) {
    let (task, kind) = (effect["task_id"].as_str().unwrap_or_default(), effect["kind"].as_str().unwrap_or_default());
    // Whether something landed is looked for when it is landed again.
    if kind == "landing" {
        return;
    }
    let who = effect["who"].as_str().unwrap_or("its agent");
    let what = match serde_json::from_value::<Mark>(effect["mark"].clone()) {
        Ok(mark) => match agent::stop_old(&mark) {
            Stopped::Gone => format!("{who} had ended"),
            Stopped::Ended(count) => format!("{count} processes of {who} were ended"),
            Stopped::Left(count) => format!("{count} processes of {who} could not be ended"),
            Stopped::Unknown => format!("whether {who} has ended cannot be told here"),
        },
        Err(_) => format!("{who} had been asked, and is asked again"),
    };
    run.note(&Note::Recovered { task, what: &what });
    let mut request = run.desk.of_task(task);
    request["lease"] = effect["lease"].clone();
    request["kind"] = json!(kind);
    if effect["who"].is_string() {
        request["who"] = effect["who"].clone();
    }
    request["outcome"] = json!(format!("unknown: the runner was gone; {what}"));
    if let Err(no) = run.desk.ask("effect.finish", &request) {
        run.note(&Note::Flag { task, text: &no.reason });
    }
}

/// A task that was in work goes back: what it had claimed by then stands, the rest is done again.
fn of_task(run: &Run<'_>, task: &Value) -> Result<(), String> {
    let (Some(id), Some(owner)) = (task["task_id"].as_str(), task["owner"].as_str()) else { return Ok(()) };
    // A peer goes on by itself.
    if !is_ours(run, id) {
        return Ok(());
    }
    let shown = run.desk.look("task.show", &run.desk.of_task(id))?;
    let lease = shown["lease"].as_u64().unwrap_or(0);
    let mut request = run.desk.of_task(id);
    request["lease"] = json!(lease);
    request["reason"] = json!("the runner was gone");
    match run.desk.ask("attempt.return", &request) {
        Ok(_) => run.note(&Note::Recovered { task: id, what: "it goes on" }),
        // Its lease lapsed in the meantime, and the ledger has dealt with it.
        Err(no) => run.note(&Note::Recovered { task: id, what: &format!("{owner} lost it: {}", no.reason) }),
    }
    Ok(())
}
