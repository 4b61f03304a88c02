//! What is seen of the run, one line for each thing that happens, task by task.

use super::agent;
use crate::cli::output;
use crate::cli::run::live::handing;
use crate::terminal::Terminal;
use countersign_diagnostic::visible;
use countersign_domain::plan::payload::Plan;
use countersign_runner::evidence::Status;
use countersign_runner::run::{Note, Watch};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Who looks on at the demonstration.
pub struct Story<'p> {
    plan: &'p Plan,
    now: Mutex<Now>,
}

/// Where the story is.
#[derive(Default)]
struct Now {
    task: String,
    /// Whether this attempt has been caught already.
    caught: bool,
    /// What it was caught by: criteria of tasks. Seen again, it is what a person has accepted.
    failed: BTreeSet<(String, String)>,
}

impl<'p> Story<'p> {
    /// Of a plan whose tasks are done one after the other.
    pub fn new(plan: &'p Plan) -> Self {
        Self { plan, now: Mutex::new(Now::default()) }
    }

    /// Which files were those from before the work when a criterion was looked at.
    fn pinned(&self, task: &str, criterion: &str) -> String {
        let planned = self.plan.tasks.iter().find(|it| it.id.as_str() == task);
        let number = criterion.strip_prefix("AC-").and_then(|it| it.parse::<usize>().ok());
        let asked = planned.zip(number).and_then(|(planned, number)| planned.acceptance.get(number.checked_sub(1)?));
        let pins: Vec<&str> =
            asked.iter().flat_map(|it| &it.pin).flat_map(|it| it.iter()).map(|it| it.as_str()).collect();
        if pins.is_empty() { String::new() } else { line("", &format!("with {} as before the work", pins.join(", "))) }
    }

    fn is_action(&self, task: &str) -> bool {
        self.plan.tasks.iter().any(|it| it.id.as_str() == task && it.is_delegate())
    }

    /// A task, and who is at it.
    fn head(&self, task: &str) -> String {
        let planned = self.plan.tasks.iter().find(|it| it.id.as_str() == task);
        let (title, who) = planned.map_or(("", ""), |it| (it.title.as_str(), it.who()));
        let does = if self.is_action(task) {
            "acts on an instruction, once".to_owned()
        } else {
            format!("who {}", agent::does(who))
        };
        let head = format!("{task}  {title}  ({who}, {does})");
        format!("\n{}\n", Terminal::stdout().bold(&visible(&head)))
    }
}

fn line(word: &str, what: &str) -> String {
    format!("  {word:<8} {}\n", visible(what))
}

impl Now {
    fn catch(&mut self, what: &str) -> String {
        self.caught = true;
        line("CAUGHT", what)
    }
}

/// A refusal says its findings twice: as its reason, and one by one behind it.
pub fn once(reason: &str) -> &str {
    reason.split_once(" (/").map_or(reason, |(reason, _)| reason)
}

/// What is said of it.
fn words(now: &mut Now, note: &Note<'_>) -> Option<String> {
    Some(match note {
        Note::Begun { task, agent, attempt, .. } => {
            now.caught = false;
            now.failed.retain(|(of, _)| of != task);
            line("begins", &format!("{agent}, attempt {attempt}"))
        }
        Note::Awaited { peer, what, .. } => line("waits", &format!("for {peer}, a peer, {what}")),
        Note::Said { line: said, .. } => line("says", &format!("\"{said}\"")),
        Note::Ended { how, .. } if *how == "exited with 0" => return None,
        Note::Ended { how, .. } => now.catch(&format!("the agent {how}; what it left is thrown away")),
        Note::Claimed { changes: 1, .. } => line("claims", "all done, 1 file changed"),
        Note::Claimed { changes, .. } => line("claims", &format!("all done, {changes} files changed")),
        Note::Seen { criterion, kind, status: Status::Pass, says, .. } => {
            line("holds", &format!("{criterion} by {kind}: {says}"))
        }
        Note::Seen { task, criterion, kind, says, .. } => {
            let what = format!("{criterion} by {kind}: {says}");
            let is_new = now.failed.insert(((*task).to_owned(), (*criterion).to_owned()));
            if is_new { now.catch(&what) } else { line("accepted", &what) }
        }
        Note::Validated { validator, verdict, .. } => line("verdict", &format!("{verdict}, by {validator}")),
        Note::Judged { by, verdict, .. } => line("judged", &format!("{verdict}, by {by}")),
        Note::Landed { commit, .. } => line("landed", commit.get(..10).unwrap_or(commit)),
        Note::Answered { instruction, status, entry, .. } => {
            format!("{}{}", line("answered", &format!("{instruction} with {status}")), line("audited", entry))
        }
        Note::Handing { to, was, tokens, most, taken, kept_at, .. } => {
            line("hands", &handing(to, (*was, *tokens, *most), taken, *kept_at))
        }
        Note::Handed { .. } => return None,
        Note::Received { from, step, hash, .. } => {
            line("receives", &format!("handoff {step} from {from}; its hash was verified: {hash}"))
        }
        Note::Done { assurance, .. } => line("done", assurance),
        Note::Again { reason, .. } => line("again", &format!("it is told why: {reason}")),
        Note::Stopped { reason, .. } if now.caught => line("waits", &format!("for a person: {reason}")),
        Note::Stopped { reason, .. } => {
            format!("{}{}", now.catch(once(reason)), line("waits", "for a person; this is not tried again by itself"))
        }
        Note::Flag { text, .. } => line("note", text),
        Note::Recovered { what, .. } => line("left", what),
        Note::Queued { behind, .. } => line("waits", &format!("to land, after {behind}")),
        Note::Led | Note::Told { .. } | Note::Swept { .. } | Note::Waiting { .. } | Note::Tick { .. } => return None,
    })
}

fn task_of<'n>(note: &Note<'n>) -> Option<&'n str> {
    match note {
        Note::Begun { task, .. }
        | Note::Awaited { task, .. }
        | Note::Said { task, .. }
        | Note::Ended { task, .. }
        | Note::Claimed { task, .. }
        | Note::Seen { task, .. }
        | Note::Validated { task, .. }
        | Note::Judged { task, .. }
        | Note::Queued { task, .. }
        | Note::Landed { task, .. }
        | Note::Answered { task, .. }
        | Note::Handing { task, .. }
        | Note::Handed { task, .. }
        | Note::Received { task, .. }
        | Note::Done { task, .. }
        | Note::Again { task, .. }
        | Note::Stopped { task, .. }
        | Note::Flag { task, .. }
        | Note::Recovered { task, .. } => Some(task),
        Note::Led | Note::Told { .. } | Note::Swept { .. } | Note::Waiting { .. } | Note::Tick { .. } => None,
    }
}

impl Watch for Story<'_> {
    fn note(&self, note: &Note<'_>) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(task) = task_of(note) else { return };
        let words = match note {
            // Nobody is caught at asking.
            Note::Stopped { reason, .. } if self.is_action(task) => Some(line("asks", reason)),
            _ => words(&mut now, note),
        };
        let Some(mut words) = words else { return };
        if let Note::Seen { criterion, status: Status::Fail, .. } = note {
            words.push_str(&self.pinned(task, criterion));
        }
        if now.task != task {
            now.task = task.to_owned();
            output::print(&self.head(task));
        }
        output::print(&words);
    }
}
