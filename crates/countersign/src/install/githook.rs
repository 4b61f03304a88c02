//! The hooks of git that are asked before a commit is made. One that was there is kept under another name and run afterwards.

use super::entries::{command_of, quoted};
use super::{Edit, Plan};
use crate::hook::Harness;
use anyhow::{Context, bail};
use countersign_runner::git;
use std::path::{Path, PathBuf};

/// The hooks: for a commit that somebody makes, and for one that a merge makes without asking.
const NAMES: [&str; 2] = ["pre-commit", "pre-merge-commit"];
/// What tells ours from another.
const MARK: &str = "# Written by `countersign install git`; taken out by `countersign install git --remove`.";

/// What one that was there is called from then on.
fn kept(name: &str) -> String {
    format!("{name}.before-countersign")
}

/// Where git looks for hooks of a repository.
pub fn folder(root: &Path) -> Option<PathBuf> {
    git::ask_one(root, &["rev-parse", "--git-path", "hooks"]).map(|path| root.join(path))
}

/// The hooks by name, each with its file if it is there and ours.
pub fn installed(root: &Path) -> [(&'static str, Option<PathBuf>); 2] {
    let folder = folder(root);
    NAMES.map(|name| {
        let path = folder.as_ref().map(|folder| folder.join(name));
        let is_ours = |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.contains(MARK));
        (name, path.filter(is_ours))
    })
}

/// What a hook is.
pub fn script(name: &str, program: &Path) -> String {
    let command = command_of(program, Harness::Git);
    let kept = quoted(&kept(name));
    format!(
        "#!/bin/sh\n{MARK}\n# Refuses a commit of files that no task of the committer holds, while a run is open.\n{command} || exit \
         1\nkept=\"$(dirname \"$0\")\"/{kept}\nif [ -x \"$kept\" ]; then\n  exec \"$kept\" \"$@\"\nfi\n"
    )
}

/// What is to be done to the hooks, or to undo it.
pub fn plan(root: &Path, program: &Path, remove: bool) -> anyhow::Result<Plan> {
    let folder = folder(root).context("there is no git repository here")?;
    let mut plan = Plan::default();
    for name in NAMES {
        let (path, kept) = (folder.join(name), folder.join(kept(name)));
        let there = path.symlink_metadata().is_ok();
        let before = std::fs::read_to_string(&path).ok();
        let ours = before.as_ref().is_some_and(|text| text.contains(MARK));
        let after = Some(script(name, program));
        match (remove, ours) {
            (true, true) => {
                plan.edits.push(Edit { path: path.clone(), before, after: None, program: true });
                if kept.symlink_metadata().is_ok() {
                    plan.moves_back.push((kept, path));
                }
            }
            (true, false) => {}
            (false, true) if before == after => {}
            (false, true) => plan.edits.push(Edit { path, before, after, program: true }),
            (false, false) => {
                if there && kept.symlink_metadata().is_ok() {
                    bail!("{} is there already, and would be written over; move it away", kept.display());
                }
                if there {
                    plan.moves.push((path.clone(), kept));
                }
                plan.edits.push(Edit { path, before: None, after, program: true });
            }
        }
    }
    Ok(plan)
}
