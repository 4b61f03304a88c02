//! When a session or an agent begins: it is told who it is here, what it holds, and how to go on.

use super::place::Held;
use super::{Answer, Asker, Desk, Event, here};
use countersign_contract::show;

/// What somebody who begins should know. Nothing, while no run is open.
pub(super) fn begin(asker: &Asker<'_>, event: &Event) -> anyhow::Result<Answer> {
    let Some(project) = here(asker, Some(event))? else { return Ok(Answer::nothing()) };
    let desk = Desk::open(asker, event, &project)?;
    if !desk.is_open()? {
        return Ok(Answer::nothing());
    }
    let actor = show(&desk.actor);
    let mut said = format!(
        "Work in this project is coordinated by Countersign, and a run is open. Your name here is {actor}: give it with `--as \
         {actor}` in every `countersign` command, and as COUNTERSIGN_ACTOR to `git commit`; its MCP tools know you by it. You may change only files that a \
         task of yours holds; other writes are refused.\n"
    );
    let held = desk.held()?;
    if held.is_empty() {
        said.push_str(&format!(
            "You hold no task. `countersign task next` shows the best one that is ready, `countersign task claim --as {actor}` \
             takes it.\n"
        ));
    }
    for held in &held {
        said.push_str(&format!("You hold {}.\n", in_words(held)));
    }
    said.push_str(&format!(
        "A task ends with `countersign task submit - --as {actor}` and its result on standard input, since a file for it is a \
         change, too; or with `countersign task block` and the reason why it cannot go on.",
    ));
    // What cannot be noted is told later, and is no reason to tell nothing now.
    let _ = super::after::begun(&desk, &project);
    Ok(Answer::context(&event.name, &said))
}

/// A task that is held, without anything that others wrote.
pub(super) fn in_words(held: &Held) -> String {
    let paths: Vec<String> = held.paths.iter().map(|path| format!("`{}`", show(path))).collect();
    format!(
        "{} of run {} under lease {} until {}, with {}",
        held.task,
        held.run,
        held.lease,
        held.expires,
        paths.join(", ")
    )
}
