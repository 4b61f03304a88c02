//! Hooks of coding agents: what a client tells before and after a tool is used, when a session begins and when it wants to
//! end; and what it is answered.
//!
//! ```text
//! stdin ─read─▶ Event ─▶ whose project? ─▶ views and commands ─▶ Answer ─▶ stdout, stderr, exit code
//! ```
//!
//! **Invariant:** where Countersign manages nothing, a hook says nothing. Where it does, a hook that cannot find out
//! refuses; and a session that wants to end is not kept for ever.

mod actor;
mod after;
mod answer;
mod begin;
mod event;
pub mod git;
pub mod halves;
mod losses;
mod patch;
mod place;
mod promises;
mod rounds;
mod stop;
mod told;
mod tool;

pub use answer::Answer;
pub use event::{Event, SIZE_MAX};
pub use place::{Desk, here};
pub use tool::{PATCHER, asked_matcher, denial, shell_matcher};

use crate::cli::Global;
use crate::project::Project;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A client whose hooks are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Harness {
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
    /// The hooks of git that are asked before a commit
    Git,
}

impl Harness {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Harness::ClaudeCode => "claude-code",
            Harness::Codex => "codex",
            Harness::Git => "git",
        }
    }
}

/// Who asks through which client, and what was said of every verb.
pub struct Asker<'a> {
    /// The client.
    pub harness: Harness,
    /// What `--ledger`, `--as` and `--token-file` say.
    pub global: &'a Global,
    /// What `--project` names.
    pub project: Option<&'a Path>,
    /// Set as soon as it is known that something is managed that could not be told from where the client runs the hook.
    pub managed: &'a AtomicBool,
    /// Tells the client the answer, for when something is left to do that it need not wait for.
    pub tell: &'a dyn Fn(&Answer),
}

/// Answers an event.
pub fn answer(asker: &Asker<'_>, event: &Event) -> anyhow::Result<Answer> {
    match event.name.as_str() {
        "PreToolUse" => tool::before(asker, event),
        "PostToolUse" | after::FAILED => after::after(asker, event),
        "SessionStart" | "SubagentStart" => begin::begin(asker, event),
        "Stop" | "SubagentStop" => stop::stop(asker, event),
        _ => Ok(Answer::nothing()),
    }
}

/// The answer where it could not be found out in time, or at all. It refuses what can be refused, and keeps nobody who was
/// kept already.
pub fn doubt(event: &Event, why: &str) -> Answer {
    let reason = format!("Countersign cannot tell whether this is allowed: {why}");
    match event.name.as_str() {
        "PreToolUse" if tool::is_asked(event) || tool::is_own(event) => Answer::deny(&reason),
        "PostToolUse" if tool::is_shell(event) => Answer::block(&reason),
        after::FAILED if tool::is_shell(event) => Answer::context(after::FAILED, &reason),
        "Stop" | "SubagentStop" if event.goes_on => Answer::message(&reason),
        "Stop" | "SubagentStop" => Answer::block(&reason),
        _ => Answer::nothing(),
    }
}

/// Whether a project may have a run that is open. One whose ledger is not here has none, unless it was made here.
fn is_kept(project: &Project, global: &Global) -> bool {
    let Some(root) = &project.root else { return false };
    let own = root.join(crate::project::FOLDER).join(crate::place::FILE);
    // A ledger that may not be looked at is one, and whoever opens it is told why it cannot be asked.
    let is_there = || crate::place::is_there(&own).unwrap_or(true);
    if global.ledger.is_some() || project.ledger.is_some() || is_there() {
        return true;
    }
    crate::place::pinned(root).is_some()
}
