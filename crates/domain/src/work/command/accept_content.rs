//! Accepting something that was changed beside a run.

use super::unblock::unblock;
use super::{ANSWER_CODES, RunAnswer, TASK_VIEWS, text_of};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Observer, Refusal, Role, Seen, Writes,
};
use crate::ids::RunId;
use crate::work::event::RUN_ACCEPTED;
use crate::work::row::{RunRow, TaskRow, task_of};
use crate::work::{indexes, picking};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Text, shape, show};
use serde_json::json;

/// How many unfinished tasks are looked at; a plan has no more.
const TASKS_MAX: usize = 1000;

/// What a hash begins with.
const HASH: &str = "sha256:";

/// How a content is named, for whoever named none.
const NAMED: &str =
    "give it as `countersign inbox` shows it; `git rev-parse HEAD` names the commit that is checked out";

shape! {
    /// Accept something that was changed beside a run and that none of its tasks has landed, exactly as it is: a commit with all
    /// that is in it, or contents by their hash. Tasks that waited for that go on.
    pub closed struct AcceptContent {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The full name of a commit, or `sha256:` and the hash that was shown.
        pub content: Text<1, 100> = "9fceb02d0ae598e95dc970b74767f19372d61af8",
        /// Why.
        pub reason: Text<1, 500> = "I made this commit myself",
    }
}

impl Command for AcceptContent {
    const INFO: CommandInfo = CommandInfo {
        id: "run.accept",
        summary: "Accept something that was changed beside a run, exactly as it is",
        may: &[Role::Reviewer],
        invalidates: TASK_VIEWS,
        refuses: ANSWER_CODES,
        writes: Writes::Events,
    };
    type Answer = RunAnswer;

    /// A commit is accepted with all that leads to it, and that can be seen of none that is not there. What is in another
    /// repository, or in none, nobody here can look for.
    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        let content = self.content.as_str();
        let is_commit = is_content(content) && !content.starts_with(HASH);
        if is_commit && observer.tree(Some(content)).is_none() && observer.tree(None).is_some() {
            let reason = format!("commit {content} is not known here, and nobody can answer for what is not there");
            return Err(Refusal::new(Code::MissingRequiredInput, reason, NAMED));
        }
        Ok(Observed::default())
    }

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = picking::run_needs(self.run_id.as_ref(), seen);
        let Some(run) = picking::run_so_far(self.run_id.as_ref(), seen) else { return needs };
        let range = indexes::unfinished(&run, TASKS_MAX);
        for (_, key) in seen.range_so_far(&range).into_iter().flatten() {
            needs.push(Need::Entity(key.clone()));
            needs.push(Need::Lease(key.id.to_string()));
        }
        needs.push(Need::Range(range));
        needs
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let run = picking::open_run(self.run_id.as_ref(), desk.seen())?;
        let content = self.content.as_str();
        may_accept(&run, content, desk)?;
        if !run.accepted.contains(content) {
            let facts = json!({ "content": content, "reason": self.reason, "run": run.run });
            desk.record(Happening::of_run(RUN_ACCEPTED, &run.run, facts));
        }
        let range = indexes::unfinished(&run.run, TASKS_MAX);
        let tasks: Vec<TaskRow> = desk.range(&range).filter_map(|(_, key)| task_of(desk.entity(key))).collect();
        // Whatever they wait for: it may be on the way to what was accepted, and they look again.
        for task in tasks.iter().filter(|task| task.waits_for_content().is_some()) {
            unblock(desk, task, "something that it may have waited for was accepted")?;
        }
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> RunAnswer {
        let event = stored.events.last();
        let named = || self.run_id.as_ref().map_or_else(String::new, |run| run.as_str().to_owned());
        let run_id = if event.is_some() { text_of(event, "run") } else { named() };
        RunAnswer { run_id, status: None, seq: event.map(|event| event.seq.into()) }
    }
}

/// Refuses what nobody can be asked to accept, and who would accept what they may have done themselves.
fn may_accept(run: &RunRow, content: &str, desk: &Desk) -> Result<(), Refusal> {
    let actor = &desk.moment().actor;
    let (code, reason, help) = if !run.is_gated() {
        let reason = format!("run {} follows no plan, and nobody is asked what was changed beside it", run.run);
        (Code::InvalidTransition, reason, "look at `countersign inbox`")
    } else if !is_content(content) {
        let reason = format!("`{}` is neither the full name of a commit nor a hash", show(content));
        (Code::MissingRequiredInput, reason, NAMED)
    } else if run.workers.contains(actor) {
        let reason = format!("{} works in run {}, and does not answer for what was changed", show(actor), run.run);
        (Code::AuthorizationMissing, reason, "leave it to whoever looks into `countersign inbox`")
    } else {
        return Ok(());
    };
    Err(Refusal::new(code, reason, help).of_run(&run.run))
}

/// Whether something names one content and no other: a commit in full, or a hash.
pub(super) fn is_content(text: &str) -> bool {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    match text.strip_prefix(HASH) {
        Some(hash) => hash.len() == 64 && is_hex(hash),
        None => matches!(text.len(), 40 | 64) && is_hex(text),
    }
}
