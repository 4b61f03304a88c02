//! Tools that change files: asked about before they do, and looked after where that cannot be told before.

use super::place::of_file;
use super::{Answer, Asker, Desk, Event, Harness, here, patch};
use crate::project::Project;
use crate::session::{Calls, SERVER};
use countersign_contract::show;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Tools that change one file, and the field that names it.
const WRITERS: &[(&str, &str)] =
    &[("Write", "file_path"), ("Edit", "file_path"), ("MultiEdit", "file_path"), ("NotebookEdit", "notebook_path")];
/// The tool that changes the files that a patch names.
pub const PATCHER: &str = "apply_patch";
/// The fields in which a patch comes.
const PATCH_FIELDS: &[&str] = &["command", "input", "patch"];
/// Tools that run commands.
const SHELLS: &[&str] = &["Bash", "PowerShell", "shell", "local_shell", "exec_command", "unified_exec", "write_stdin"];
/// How the names of tools begin that servers of the client bring.
const BROUGHT: &str = "mcp__";

/// What a client matches the tools with that are asked about.
pub fn asked_matcher(harness: Harness) -> String {
    match harness {
        Harness::Codex => format!("{PATCHER}|Edit|Write"),
        _ => {
            let writers: Vec<&str> = WRITERS.iter().map(|(tool, _)| *tool).collect();
            format!("^({}|{BROUGHT}{SERVER}__.*)$", writers.join("|"))
        }
    }
}

/// What a client matches the tools with that are looked after.
pub fn shell_matcher() -> String {
    format!("{}|{BROUGHT}.*", SHELLS.join("|"))
}

/// Whether a tool's paths are known before it is used.
pub(super) fn is_asked(event: &Event) -> bool {
    // A tool without a name may be any.
    event.tool.is_empty() || event.tool == PATCHER || WRITERS.iter().any(|(tool, _)| *tool == event.tool)
}

/// Whether a tool may have changed anything.
pub(super) fn is_shell(event: &Event) -> bool {
    SHELLS.contains(&event.tool.as_str()) || event.tool.starts_with(BROUGHT)
}

/// Whether a tool is one of ours, under the name that `install` gives the server.
pub(super) fn is_own(event: &Event) -> bool {
    let brought = event.tool.strip_prefix(BROUGHT).and_then(|rest| rest.strip_prefix(SERVER));
    brought.is_some_and(|rest| rest.starts_with("__"))
}

/// Before one of our own tools is used: whose call it is, which its client does not tell the server.
fn note(asker: &Asker<'_>, event: &Event) -> anyhow::Result<Answer> {
    let Some(call) = &event.call else { return Ok(Answer::nothing()) };
    let Some(project) = here(asker, Some(event))? else { return Ok(Answer::nothing()) };
    if let Some(calls) = Calls::of(&project) {
        calls.note(call, &super::actor::name(asker, event))?;
    }
    Ok(Answer::nothing())
}

/// The files that a tool would change.
fn targets(event: &Event) -> Result<Vec<PathBuf>, String> {
    if event.tool == PATCHER {
        let patch = PATCH_FIELDS.iter().find_map(|field| event.input_text(field)).ok_or("the patch is missing")?;
        let paths = patch::paths(patch).ok_or("the patch names no file")?;
        return Ok(paths.into_iter().map(|path| event.absolute(path)).collect());
    }
    let field = WRITERS.iter().find(|(tool, _)| *tool == event.tool).map(|(_, field)| *field);
    let field = field.ok_or("the tool has no name")?;
    let path = event.input_text(field).ok_or_else(|| format!("`{field}` is missing"))?;
    Ok(vec![event.absolute(path)])
}

/// Before a tool is used: every file that it would change is asked about.
pub(super) fn before(asker: &Asker<'_>, event: &Event) -> anyhow::Result<Answer> {
    if is_own(event) {
        return note(asker, event);
    }
    if !is_asked(event) {
        return Ok(Answer::nothing());
    }
    let targets = match targets(event) {
        Ok(targets) => targets,
        Err(why) => {
            let managed = here(asker, Some(event))?.is_some();
            return Ok(if managed { super::doubt(event, &why) } else { Answer::nothing() });
        }
    };
    let mut asked: Vec<(Project, Vec<String>)> = Vec::new();
    for target in targets {
        // What lies in no project is nobody's to refuse here.
        let Some((project, path)) = of_file(asker, &target)? else { continue };
        match asked.iter_mut().find(|(known, _)| known.root == project.root) {
            Some((_, paths)) => paths.push(path),
            None => asked.push((project, vec![path])),
        }
    }
    if !asked.is_empty() {
        asker.managed.store(true, Ordering::SeqCst);
    }
    let mut alive = Vec::new();
    for (project, paths) in &asked {
        let desk = Desk::open(asker, event, project)?;
        let mut managed = false;
        for path in paths {
            let may = desk.may(path)?;
            if may["allowed"] != true {
                return Ok(Answer::deny(&denial(&desk, path, &may)));
            }
            managed |= may["managed"] == true;
        }
        if managed {
            alive.push(desk);
        }
    }
    // The ledger may be busy, and what was found out does not depend on it.
    (asker.tell)(&Answer::nothing());
    alive.iter().for_each(Desk::refresh);
    Ok(Answer::nothing())
}

/// Why a path may not be changed, in sentences: the code, the reason, the holder, what to do, and who is asking.
pub fn denial(desk: &Desk<'_>, path: &str, may: &Value) -> String {
    let text = |name: &str| may[name].as_str().unwrap_or_default();
    let code = if text("code").is_empty() { "SCOPE_VIOLATION" } else { text("code") };
    let mut said = format!("{code}: `{}` may not be changed by {}: {}.", show(path), show(&desk.actor), text("reason"));
    if let Some(holder) = may["holder"].as_str() {
        said.push_str(&format!(" It is held by {}", show(holder)));
        said.push_str(&may["expires_at"].as_str().map(|until| format!(" until {until}.")).unwrap_or(".".to_owned()));
    }
    if let Some(help) = may["help"].as_str() {
        said.push_str(&format!(" What to do: {help}."));
    }
    said
}
