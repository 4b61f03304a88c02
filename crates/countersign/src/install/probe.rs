//! Whether a hook that is set up really blocks: it is run as its client would run it, and asked for what nobody may.

use super::{Handlers, command_of, githook, settings};
use crate::hook::{Harness, PATCHER, git};
use countersign_runner::program;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How long a client waits for a hook.
const PATIENCE: Duration = Duration::from_secs(10);

/// What came of trying a hook.
#[derive(Debug, PartialEq, Eq)]
pub enum Tried {
    /// It is not set up.
    Absent,
    /// It refuses what nobody may.
    Blocks,
    /// It does not, and this is why.
    Fails(String),
    /// It lies there, and git looks elsewhere, as the settings of the user or of the machine say.
    PassedOver(PathBuf),
}

/// Tries the hook of a client in a project.
pub fn try_out(harness: Harness, tree: &Path, root: &Path) -> Tried {
    match harness {
        Harness::Git => git_hooks(tree),
        _ => client_hook(harness, tree, root),
    }
}

/// The settings that hold in a project, those that count for more before the others: a user's own there, the project's, and
/// the user's for all projects.
fn all_settings(harness: Harness, root: &Path) -> anyhow::Result<Vec<Value>> {
    let in_project = [settings::local_file(harness), settings::hooks_file(harness)].into_iter().flatten();
    let paths = in_project.map(|name| root.join(name)).chain(settings::user_file(harness));
    let mut all = Vec::new();
    for path in paths {
        if let Ok(text) = std::fs::read_to_string(&path) {
            all.push(Value::Object(settings::object(&path, &text)?));
        }
    }
    Ok(all)
}

fn client_hook(harness: Harness, tree: &Path, root: &Path) -> Tried {
    let all = match all_settings(harness, tree) {
        Ok(all) => all,
        Err(error) => return Tried::Fails(format!("its settings cannot be read: {error:#}")),
    };
    let ours = Handlers::of(harness);
    let commands = |tool: Option<&str>| -> Vec<String> {
        all.iter().flat_map(|found| ours.commands(found, "PreToolUse", tool)).collect()
    };
    if commands(None).is_empty() {
        return Tried::Absent;
    }
    if all.iter().find_map(|it| it["disableAllHooks"].as_bool()) == Some(true) {
        return Tried::Fails("the settings turn all hooks off (`disableAllHooks`)".to_owned());
    }
    // What stands in a project is run only if it is this very program: anything else may be anybody's.
    let own = std::env::current_exe().map(|program| command_of(&program, harness)).unwrap_or_default();
    for tool in tools(harness) {
        let commands = commands(Some(tool));
        let Some(command) = commands.first() else {
            return Tried::Fails(format!(
                "it is not run for `{tool}`: no `matcher` of `PreToolUse` is known to cover it"
            ));
        };
        if !commands.contains(&own) {
            return Tried::Fails(format!("it runs another program than this one: {command}"));
        }
    }
    match settings::server_is_nameless(harness, tree) {
        Ok(false) => {}
        Ok(true) => return Tried::Fails("its server is not told whose sessions call (`--client`)".to_owned()),
        Err(error) => return Tried::Fails(format!("its servers cannot be read: {error:#}")),
    }
    for tool in tools(harness) {
        match answer(&own, tree, &event(tree, root, tool)) {
            Some(said) if denies(&said) => {}
            Some(said) => {
                let said = String::from_utf8_lossy(&said).trim().to_owned();
                return Tried::Fails(format!("it does not block `{tool}`: it answers {said:.200}"));
            }
            None => return Tried::Fails(format!("it does not answer within {} s", PATIENCE.as_secs())),
        }
    }
    Tried::Blocks
}

/// The tools that a hook is of no use without.
fn tools(harness: Harness) -> &'static [&'static str] {
    match harness {
        Harness::Codex => &[PATCHER],
        _ => &["Write", "Edit"],
    }
}

/// A write that nobody may ever do, by a tool: into the project's own folder, wherever its files are worked on.
fn event(tree: &Path, root: &Path, tool: &str) -> Value {
    let path = root.join(git::PROBE);
    let input = match tool {
        PATCHER => {
            json!({ "command": format!("*** Begin Patch\n*** Add File: {}\n+\n*** End Patch\n", path.display()) })
        }
        "Edit" => json!({ "file_path": path, "old_string": "", "new_string": "" }),
        _ => json!({ "file_path": path, "content": "" }),
    };
    json!({ "hook_event_name": "PreToolUse", "session_id": "probe", "cwd": tree, "tool_name": tool, "tool_input": input })
}

fn answer(command: &str, root: &Path, event: &Value) -> Option<Vec<u8>> {
    let mut shell = in_shell(command, root);
    shell.env("CLAUDE_PROJECT_DIR", root);
    let said = program::run(shell, event.to_string().as_bytes(), Instant::now() + PATIENCE)?;
    Some(if said.ok { said.out } else { Vec::new() })
}

/// A command line as clients and git run it.
fn in_shell(command: &str, place: &Path) -> Command {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut shell = Command::new(shell);
    shell.arg(flag).arg(command).current_dir(place);
    shell
}

fn denies(said: &[u8]) -> bool {
    let answer: Value = serde_json::from_slice(said).unwrap_or_default();
    answer["hookSpecificOutput"]["permissionDecision"] == "deny"
}

fn git_hooks(root: &Path) -> Tried {
    let hooks = githook::installed(root);
    if hooks.iter().all(|(_, path)| path.is_none()) {
        return match githook::passed_over(root) {
            None => Tried::Absent,
            Some(own) => Tried::PassedOver(own),
        };
    }
    for (name, path) in hooks {
        let Some(path) = path else {
            return Tried::Fails(format!("`{name}` is missing, or not ours: what git asks it about is not refused"));
        };
        let own = std::env::current_exe().map(|program| githook::script(name, &program)).ok();
        if !is_program(&path) {
            return Tried::Fails(format!("git does not run it: {} is not executable", path.display()));
        }
        if own.is_none() || std::fs::read_to_string(&path).ok() != own {
            return Tried::Fails(format!("{} is not what `countersign install git` writes", path.display()));
        }
    }
    commit(root)
}

/// Asks what the hooks ask, as git does before a commit: at the top of the working tree, with an index that it names. A hook
/// that was there before them is not run, since it may change something.
fn commit(root: &Path) -> Tried {
    let Ok(folder) = tempfile::tempdir() else {
        return Tried::Fails("it cannot be tried: nothing can be written to the folder for temporary files".to_owned());
    };
    let index = folder.path().join("index");
    let Some(top) = countersign_runner::git::stage_aside(root, &index, git::PROBE) else {
        return Tried::Fails("it cannot be tried: git does not stage anything".to_owned());
    };
    let own = std::env::current_exe().map(|program| command_of(&program, Harness::Git)).unwrap_or_default();
    let mut shell = in_shell(&format!("{own} 2>&1"), &top);
    // Whoever commits names no project, and must not have to.
    shell.env("GIT_INDEX_FILE", &index).env_remove("COUNTERSIGN_PROJECT");
    match program::run(shell, &[], Instant::now() + PATIENCE) {
        Some(said) if !said.ok && String::from_utf8_lossy(&said.out).contains(git::PROBE) => Tried::Blocks,
        Some(said) if !said.ok => Tried::Fails(format!(
            "it refuses whatever is committed: {:.200}",
            String::from_utf8_lossy(&said.out).trim()
        )),
        Some(_) => Tried::Fails("it does not block what nobody may commit".to_owned()),
        None => Tried::Fails(format!("it does not answer within {} s", PATIENCE.as_secs())),
    }
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(_: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_tried_with_the_tools_that_it_writes_with() {
        let place = Path::new("/project");
        for (harness, wanted) in [(Harness::ClaudeCode, &["Write", "Edit"][..]), (Harness::Codex, &["apply_patch"])] {
            assert_eq!(tools(harness), wanted);
            for tool in tools(harness) {
                let event = event(place, place, tool);
                assert_eq!(event["tool_name"], *tool);
                assert!(event["tool_input"].to_string().contains("/project/.countersign/probe"), "{event}");
            }
        }
    }
}
