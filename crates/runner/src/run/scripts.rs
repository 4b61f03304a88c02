//! Whether the scripts that agents are started with are there where agents work.
//!
//! An agent works in a checkout of a commit. A script that lies in the project's folder and was never committed is not in there,
//! and nobody would be told before it is started, once for each attempt.

use super::ground::Ground;
use super::pinned::may_make;
use super::unseen::modules;
use crate::names;
use crate::worktree::call::{Git, pieces};
use crate::worktree::modules::Module;
use countersign_contract::show;
use countersign_domain::plan::payload::{Agent, Plan};
use countersign_domain::work::scope::contains;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Refuses a plan one of whose agents is started with a file that lies here, is not in the commit that is checked out, and
/// comes from no task.
///
/// # Errors
/// There is such a file, or git could not be asked. The error says what to do.
pub(super) fn must_be_there(ground: &Ground, plan: &Plan) -> Result<(), String> {
    let lies = |path: &String| ground.root().join(path).is_file();
    let of_task = |path: &String| plan.tasks.iter().any(|task| may_make(task, path));
    let named: Vec<(&str, String)> = plan
        .agents
        .iter()
        .flat_map(|(name, agent)| scripts(agent).into_iter().map(move |path| (name.as_str(), path)))
        .filter(|(_, path)| lies(path) && !of_task(path))
        .collect();
    let Some(commit) = ground.head()?.filter(|_| !named.is_empty()) else { return Ok(()) };
    let ask = ["ls-tree", "-z", "--name-only", &commit, "--"].into_iter();
    let ask: Vec<&str> = ask.chain(named.iter().map(|(_, path)| path.as_str())).collect();
    let out = Git::at(ground.root()).run(&ask, &[])?;
    let there: BTreeSet<String> = pieces(&out).map(names::resource).collect();
    let modules = modules(ground, Module::is_here)?;
    let is_there = |path: &str| there.contains(path) || modules.iter().any(|module| contains(module, path));
    match named.iter().find(|(_, path)| !is_there(&names::resource(path.as_bytes()))) {
        None => Ok(()),
        Some((agent, path)) => Err(format!(
            "agent {} is started with `{}`, which lies here and is not in commit {}; agents work in checkouts of commits and \
             would not find it: commit it first, or give its whole path",
            show(agent),
            show(path),
            commit.get(..10).unwrap_or(&commit)
        )),
    }
}

/// What may be files of the project in how an agent is started: a program with a folder before its name, the first argument
/// that is no option, which is an interpreter's script, and whatever else has a folder before its name.
fn scripts(agent: &Agent) -> Vec<String> {
    let words = agent.command.iter().flat_map(|words| words.iter()).map(|word| word.as_str());
    let words: Vec<(usize, &str)> = words.enumerate().filter(|(n, word)| *n == 0 || !word.starts_with('-')).collect();
    let first = words.iter().find(|(n, _)| *n > 0).map(|(n, _)| *n);
    let may_be = |(n, word): &&(usize, &str)| word.contains('/') || Some(*n) == first;
    words.iter().filter(may_be).filter_map(|(_, word)| within(word)).collect()
}

/// A path as git names it, if it leads from the project's folder into it.
pub(super) fn within(word: &str) -> Option<String> {
    let parts = Path::new(word).components().filter(|part| *part != Component::CurDir);
    let path = parts.map(|part| matches!(part, Component::Normal(_)).then_some(part)).collect::<Option<PathBuf>>()?;
    path.to_str().filter(|path| !path.is_empty()).map(str::to_owned)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use countersign_domain::plan::command::read;
    use serde_json::json;

    #[test]
    fn what_may_be_a_script_is_told_from_words() {
        let table: [(&[&str], &[&str]); 8] = [
            (&["python3", "agents/coder.py"], &["agents/coder.py"]),
            (&["python3", "-u", "./coder.py", "fast"], &["coder.py"]),
            (&["./agents/coder", "--config", "agents/settings.toml"], &["agents/coder", "agents/settings.toml"]),
            (&["sh", "-c", "cat; echo agents/coder.py"], &["cat; echo agents/coder.py"]),
            (&["coder"], &[]),
            (&["/usr/bin/coder", "/etc/coder.toml"], &[]),
            (&["sh", "../coder.sh"], &[]),
            (&["coder", "--in=agents/coder.py"], &[]),
        ];
        for (command, expected) in table {
            let mut plan = (countersign_domain::contract("plan").unwrap().example)();
            plan["agents"] = json!({ "coder": { "command": command } });
            let plan = read(&plan.to_string()).unwrap();
            assert_eq!(scripts(&plan.agents.iter().next().unwrap().1), expected, "{command:?}");
        }
    }
}
