//! The pre-commit hook of git. One that was there is kept under another name and run afterwards.

use super::entries::{command_of, quoted};
use super::{Edit, Plan};
use crate::hook::Harness;
use anyhow::{Context, bail};
use countersign_runner::git;
use std::path::{Path, PathBuf};

const NAME: &str = "pre-commit";
const KEPT: &str = "pre-commit.before-countersign";
/// What tells ours from another.
const MARK: &str = "# Written by `countersign install git`; taken out by `countersign install git --remove`.";

/// Where git looks for hooks of a repository.
pub fn folder(root: &Path) -> Option<PathBuf> {
    git::ask_one(root, &["rev-parse", "--git-path", "hooks"]).map(|path| root.join(path))
}

/// The hook that is there, if it is ours.
pub fn installed(root: &Path) -> Option<PathBuf> {
    let path = folder(root)?.join(NAME);
    std::fs::read_to_string(&path).ok().filter(|text| text.contains(MARK)).map(|_| path)
}

/// What the hook is.
pub fn script(program: &Path) -> String {
    let command = command_of(program, Harness::Git);
    let kept = quoted(KEPT);
    format!(
        "#!/bin/sh\n{MARK}\n# Refuses a commit of files that no task of the committer holds, while a run is open.\n{command} || exit \
         1\nkept=\"$(dirname \"$0\")\"/{kept}\nif [ -x \"$kept\" ]; then\n  exec \"$kept\" \"$@\"\nfi\n"
    )
}

/// What is to be done to the hook, or to undo it.
pub fn plan(root: &Path, program: &Path, remove: bool) -> anyhow::Result<Plan> {
    let folder = folder(root).context("there is no git repository here")?;
    let (path, kept) = (folder.join(NAME), folder.join(KEPT));
    let there = path.symlink_metadata().is_ok();
    let before = std::fs::read_to_string(&path).ok();
    let ours = before.as_ref().is_some_and(|text| text.contains(MARK));
    let mut plan = Plan::default();
    if remove {
        if ours {
            plan.edits.push(Edit { path: path.clone(), before, after: None, program: true });
            if kept.symlink_metadata().is_ok() {
                plan.moves_back.push((kept, path));
            }
        }
        return Ok(plan);
    }
    let after = Some(script(program));
    if ours {
        if before != after {
            plan.edits.push(Edit { path, before, after, program: true });
        }
        return Ok(plan);
    }
    if there {
        if kept.symlink_metadata().is_ok() {
            bail!("{} is there already, and would be written over; move it away", kept.display());
        }
        plan.moves.push((path.clone(), kept));
    }
    plan.edits.push(Edit { path, before: None, after, program: true });
    Ok(plan)
}
