//! After a command was run, whether it ended well or not: whether it changed what it may not.

use super::told::Told;
use super::tool::{denial, is_own, is_shell};
use super::{Answer, Asker, Desk, Event, here};
use crate::project::Project;
use crate::session::Calls;
use countersign_contract::show;
use serde_json::{Value, json};

/// The event of a command that failed. Its answer can tell something, and keep nobody.
pub(super) const FAILED: &str = "PostToolUseFailure";
/// How many paths a reason names.
const NAMED_MAX: usize = 20;

/// What a command changed that it may not, as the working tree shows it.
pub(super) fn after(asker: &Asker<'_>, event: &Event) -> anyhow::Result<Answer> {
    if !is_shell(event) {
        return Ok(Answer::nothing());
    }
    let Some(project) = here(asker, Some(event))? else { return Ok(Answer::nothing()) };
    if let (true, Some(call), Some(calls)) = (is_own(event), &event.call, Calls::of(&project)) {
        calls.forget(call);
    }
    let desk = Desk::open(asker, event, &project)?;
    let held = desk.held()?;
    desk.note(&held);
    if held.is_empty() {
        let said = near_others(&desk, &project)?;
        return Ok(said.map_or_else(Answer::nothing, |said| Answer::context(&event.name, &said)));
    }
    let shown = desk.look("lock.strays", &json!({}))?;
    let paths = texts(&shown, "paths");
    if paths.is_empty() {
        (asker.tell)(&Answer::nothing());
        desk.refresh();
        return Ok(Answer::nothing());
    }
    let named: Vec<String> = paths.iter().take(NAMED_MAX).map(|path| format!("`{}`", show(path))).collect();
    let count = shown["count"].as_u64().unwrap_or(0) as usize;
    let more = if count > named.len() { format!(" and {} more", count - named.len()) } else { String::new() };
    let reason = format!(
        "SCOPE_VIOLATION: {}{more} changed since {} was claimed, and no task of {} may change that. Undo it now; a result is \
         refused while it stands. If the work needs it, say so with `countersign task block`.",
        named.join(", "),
        texts(&shown, "task_ids").join(", "),
        show(&desk.actor),
    );
    Ok(if event.name == FAILED { Answer::context(FAILED, &reason) } else { Answer::block(&reason) })
}

fn texts<'v>(shown: &'v Value, name: &str) -> Vec<&'v str> {
    shown[name].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// What lies changed in what others hold or their tasks are forbidden, that somebody who holds nothing was not told before.
/// Nobody is kept for it: in one working tree it may as well be the holder's own work.
fn near_others(desk: &Desk<'_>, project: &Project) -> anyhow::Result<Option<String>> {
    let shown = desk.look("lock.strays", &json!({}))?;
    // Whose lease has lapsed holds nothing, and is compared with no claim either.
    if !texts(&shown, "task_ids").is_empty() {
        return Ok(None);
    }
    let new = Told::of(project, &desk.actor).map_or_else(Vec::new, |told| told.untold(texts(&shown, "paths")));
    let mut said = Vec::new();
    for path in new.iter().take(NAMED_MAX) {
        said.push(denial(desk, path, &desk.may(path)?));
    }
    if said.is_empty() {
        return Ok(None);
    }
    let more = new.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" And {more} more.") } else { String::new() };
    Ok(Some(format!(
        "Files changed that you may not change. If your command did that, undo it now; if it is somebody else's work, leave it \
         alone. {}{more}",
        said.join(" ")
    )))
}

/// Takes what lies changed when a session begins for somebody else's, so that the session is not told of it later.
pub(super) fn begun(desk: &Desk<'_>, project: &Project) -> anyhow::Result<()> {
    let shown = desk.look("lock.strays", &json!({}))?;
    if let Some(told) = Told::of(project, &desk.actor).filter(|_| texts(&shown, "task_ids").is_empty()) {
        told.untold(texts(&shown, "paths"));
    }
    Ok(())
}
