//! `countersign install`

use super::asking::{How, line};
use super::output::Format;
use super::{Exit, output};
use crate::hook::Harness;
use crate::install::{Memory, Plan, settings};
use crate::project::Project;
use crate::terminal;
use crate::worktrees;
use anyhow::{Context, bail};
use serde_json::json;
use std::io::BufRead;
use std::path::{Path, PathBuf};

/// Set hooks up in this project, or take them out again
///
/// Shows what would change and asks. What is there stays, and --remove gives back what was there before. In a worktree of git
/// the settings of that worktree are meant; --project names another.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign install claude-code
  countersign install git --yes
  countersign install codex --remove --dry-run
  countersign install claude-code --yes --format json

Exit codes: 0 done, 1 not done, 3 could not be read or written.")]
pub struct Args {
    /// For which client
    #[arg(value_enum)]
    client: Harness,

    /// Take out what was put in
    #[arg(long)]
    remove: bool,

    /// Do it without asking
    #[arg(long, short)]
    yes: bool,

    /// Only show what would change
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,

    #[command(flatten)]
    how: How,
}

/// Where a project's hooks are set up: in the worktree that somebody stands in, since its clients read what lies there; or in the
/// directory that was named.
pub fn tree(project: &Project, is_named: bool) -> Option<PathBuf> {
    let root = project.root.as_ref()?.canonicalize().ok()?;
    if is_named {
        return Some(root);
    }
    let tree = project.tree_root().unwrap_or_else(|| root.clone());
    // A project above the repository has no place of its own in the worktree.
    let here = std::env::current_dir().ok().filter(|_| tree == root);
    let top = here.and_then(|here| worktrees::top(&here.canonicalize().ok()?).ok()?);
    Some(top.filter(|top| !root.starts_with(top)).unwrap_or(tree))
}

pub fn run(args: &Args, project: &Project, is_named: bool) -> anyhow::Result<Exit> {
    let Some(root) = &project.root else {
        bail!("there is no project here; run `countersign init` first, or name one with --project");
    };
    let root = root.canonicalize().with_context(|| format!("{} cannot be found", root.display()))?;
    let program = std::env::current_exe().context("the path of this program cannot be found")?;
    let tree = tree(project, is_named).unwrap_or_else(|| root.clone());
    let mut memory = Memory::of(&root)?;
    let plan = Plan::of(args.client, &tree, &program, args.remove, &memory)?;
    let place = match (args.client, tree == root) {
        // Git has the same hooks in every worktree.
        (Harness::Git, _) | (_, true) => String::new(),
        _ => format!("in the worktree {}, not in {}: ", tree.display(), root.display()),
    };
    let tell = |outcome, said: &str| tell(args, &tree, &plan, outcome, &format!("{place}{said}"));
    if plan.is_empty() {
        return Ok(tell(
            Outcome::Unchanged,
            if args.remove { "nothing to take out\n" } else { "everything is set up already\n" },
        ));
    }
    let is_text = args.how.format == Format::Text;
    if is_text {
        output::print(&plan.shown());
    }
    if args.dry_run {
        return Ok(tell(Outcome::Planned, if place.is_empty() { "" } else { "nothing was changed\n" }));
    }
    if !args.yes {
        if !is_text || !terminal::can_ask() {
            output::say("nothing was changed: nobody can be asked here; --yes does it without asking");
            return Ok(tell(Outcome::NotDone, if place.is_empty() { "" } else { "nothing was changed\n" }));
        }
        if !agreed()? {
            output::say("nothing was changed");
            return Ok(Exit::Refused);
        }
    }
    if !args.remove {
        remember(args.client, &tree, &plan, &mut memory)?;
    }
    plan.carry_out()?;
    if args.remove {
        settings::names(args.client).iter().try_for_each(|name| memory.forget(&tree.join(name)))?;
    }
    let said = match (args.remove, args.client) {
        (true, _) => "taken out\n",
        (false, Harness::Codex) => {
            "set up; Codex runs a new hook only after it was trusted with /hooks, and `codex mcp add countersign -- countersign mcp \
             --client codex` brings it the tools\n"
        }
        (false, _) => "set up; `countersign doctor` tries whether it blocks\n",
    };
    Ok(tell(Outcome::Done, said))
}

/// How it ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Done,
    Unchanged,
    Planned,
    NotDone,
}

/// Says how it ended, to people in words and to programs as an object.
fn tell(args: &Args, tree: &Path, plan: &Plan, outcome: Outcome, said: &str) -> Exit {
    let word = match outcome {
        Outcome::Done => "done",
        Outcome::Unchanged => "unchanged",
        Outcome::Planned => "planned",
        Outcome::NotDone => "not_done",
    };
    match args.how.format {
        Format::Text => output::print(said),
        Format::Json => output::print(&line(&json!({
            "client": args.client.as_str(), "remove": args.remove, "outcome": word, "directory": tree, "files": plan.files(),
            "diff": plan.shown(),
        }))),
    }
    if outcome == Outcome::NotDone { Exit::Refused } else { Exit::Allowed }
}

/// What the files were is kept before they are touched.
fn remember(client: Harness, tree: &Path, plan: &Plan, memory: &mut Memory) -> anyhow::Result<()> {
    for file in settings::names(client).iter().map(|name| tree.join(name)) {
        if let Some(edit) = plan.edits.iter().find(|edit| edit.path == file) {
            memory.keep(&file, edit.before.clone())?;
        }
    }
    Ok(())
}

fn agreed() -> anyhow::Result<bool> {
    output::say("Shall this be done? [y/N]");
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}
