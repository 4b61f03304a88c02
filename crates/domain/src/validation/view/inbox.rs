//! What waits for a person: one list, oldest first.

use super::found::{self, FoundShown};
use super::gate::{self, GateCriterion};
use super::instructed;
use crate::deciding::{Key, Moment, Need, Range, Refusal, Seen, Tree, View, ViewInfo};
use crate::ids::RunId;
use crate::validation::row::{PromiseRow, promise_key, promise_of};
use crate::validation::told;
use crate::work::row::{TaskRow, run_key, run_of, task_of};
use crate::work::view::cursor::{self, PAGE, PAGE_MAX};
use crate::work::{indexes, shown};
use countersign_contract::{Int, List, Untrusted, shape};

shape! {
    /// What waits for a person, oldest first.
    pub closed struct Inbox {
        /// Only of this run.
        pub run_id: Option<RunId>,
        /// Where the page begins: `next` of the page before.
        pub cursor: Option<String>,
        /// How many are looked at; 100, if it is not said.
        pub limit: Option<Int<1, PAGE_MAX>>,
    }
}

shape! {
    /// Something that waits for a person.
    pub struct InboxItem {
        /// What is asked: `acceptance`, `validation`, `judgement`, `conflict`, `approval` of an action, `delegation` (an
        /// action did not succeed), `content` (something was changed beside the run), or `decision`.
        pub asks: String,
        /// The run; none, if it belongs to no run.
        pub run_id: Option<String>,
        /// The task; none, if it is an instruction that belongs to no plan.
        pub task_id: Option<String>,
        /// The instruction that it is about, by its id.
        pub instruction_id: Option<String>,
        /// That instruction, in canonical JSON, while its approval is asked for.
        pub instruction: Option<Untrusted<String>>,
        /// The SHA-256 of that.
        pub sha256: Option<String>,
        /// One line.
        pub title: String,
        /// What it is filed under.
        pub code: String,
        /// Why it waits.
        pub reason: String,
        /// What exactly is to be accepted: a commit by its full name, or `sha256:` and a hash.
        pub content: Option<String>,
        /// What an answer is about, where something is claimed: a commit, or the hash of contents.
        pub bound: Option<String>,
        /// Of an action, whether it may have been done: `unknown` (nobody knows), `part` (a part of it was), or `missing` (the
        /// platform said that it was, and does not show it). None, if it was not done.
        pub doubt: Option<String>,
        /// Since which event.
        pub since: Int,
        /// The criteria that are not shown to hold.
        pub failures: List<String>,
        /// What those criteria say, and what a person is asked about them; all of them, where none is named.
        pub criteria: List<GateCriterion>,
        /// What was found that does not hold or could not be looked at, in what is claimed or in the attempt before.
        pub found: List<FoundShown>,
        /// Why the judge did not let it pass.
        pub reasoning: Option<Untrusted<String>>,
        /// Files that test, as the worker changed them.
        pub test_edits: List<Untrusted<String>>,
        /// What does not fit together in the claim.
        pub flags: List<Untrusted<String>>,
        /// The mark of what is shown, to be given with the answer, whichever it is.
        pub shown: Option<String>,
        /// What can be answered, as commands.
        pub answers: List<String>,
    }
}

shape! {
    /// What waits for a person.
    pub struct InboxShown {
        /// The items.
        pub items: List<InboxItem>,
        /// Where the next page begins; absent at the end.
        pub next: Option<String>,
    }
}

impl Inbox {
    fn range(&self) -> Range {
        let limit = self.limit.map_or(PAGE, |limit| usize::try_from(limit.get()).unwrap_or(PAGE));
        indexes::inbox(cursor::place(self.cursor.as_deref()).as_deref(), limit)
    }
}

impl View for Inbox {
    const INFO: ViewInfo = ViewInfo { id: "inbox.list", summary: "What waits for a person, oldest first" };
    type Shown = InboxShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let range = self.range();
        let keys: Vec<Key> = seen.range_so_far(&range).into_iter().flatten().map(|(_, key)| key.clone()).collect();
        let (tasks, ends): (Vec<Key>, Vec<Key>) = keys.into_iter().partition(|key| key.kind == "task");
        let others = tasks.iter().flat_map(|key| instructed::task_needs(key, seen));
        let others: Vec<Need> = others.chain(ends.iter().flat_map(|key| instructed::end_needs(key, seen))).collect();
        let of_task = |key: Key| {
            let run = key.id.split_once('/').map(|(run, _)| Need::Entity(run_key(run)));
            let promise = Need::Entity(promise_key(&key.id));
            let row = promise_of(seen.so_far(&promise_key(&key.id)));
            let told = row.iter().flat_map(|row| {
                told::needs(row).chain(found::needs(row)).chain(gate::criteria_needs(row, seen)).collect::<Vec<_>>()
            });
            let told: Vec<Need> = told.collect();
            [Some(Need::Entity(key)), Some(promise), run].into_iter().flatten().chain(told)
        };
        tasks.into_iter().flat_map(of_task).chain(others).chain([Need::Range(range)]).collect()
    }

    fn render(&self, seen: &Seen, moment: &Moment, _: Option<&Tree>) -> Result<InboxShown, Refusal> {
        cursor::read(self.cursor.as_deref())?;
        let range = self.range();
        let hits: Vec<_> = seen.range(&range).collect();
        let next = hits.last().filter(|_| hits.len() == range.limit).map(|(at, _)| cursor::write(at));
        let wanted = |task: &TaskRow| self.run_id.as_ref().is_none_or(|run| run.as_str() == task.run);
        let open = |task: &TaskRow| run_of(seen.entity(&run_key(&task.run))).is_some_and(|run| run.is_open());
        let items = hits.into_iter().filter_map(|(_, key)| {
            if key.kind != "task" {
                return instructed::escalation(key, seen, moment).filter(|_| self.run_id.is_none());
            }
            let task = task_of(seen.entity(key)).filter(|task| wanted(task) && open(task))?;
            let promise = promise_of(seen.entity(&promise_key(&task.lease_name())));
            Some(
                instructed::approval(&task, seen, moment)
                    .unwrap_or_else(|| item(&task, promise.as_ref(), seen, moment)),
            )
        });
        Ok(InboxShown { items: items.collect::<Vec<_>>().into(), next })
    }
}

pub(super) fn item(task: &TaskRow, promise: Option<&PromiseRow>, seen: &Seen, moment: &Moment) -> InboxItem {
    let blocker = task.blocker.as_ref();
    let asks = blocker.and_then(|it| it.asks.clone()).unwrap_or_else(|| "decision".to_owned());
    let failures: Vec<String> = match (asks.as_str(), promise) {
        ("acceptance", Some(row)) => {
            let results = row.results().into_iter().filter(|(_, status)| status.as_str() != "PASS");
            results.map(|(id, _)| id).collect()
        }
        ("validation", Some(row)) => row
            .criteria
            .iter()
            .filter(|it| it.asks == crate::validation::evidence::EvidenceKind::Statement)
            .map(|it| it.id.clone())
            .collect(),
        _ => Vec::new(),
    };
    let (id, content) = (&task.task, task.waits_for_content());
    let again = format!("countersign task unblock {id} --reason TEXT");
    let never = format!("countersign task cancel {id} --reason TEXT");
    let answers = match asks.as_str() {
        "acceptance" => vec![format!("countersign gate accept {id} --failures {} --reason TEXT", named(&failures))],
        "validation" => testimonies(id, &failures),
        "judgement" => {
            ["PASS", "WARN", "FAIL"].map(|word| format!("countersign gate rule {id} {word} --reason TEXT")).into()
        }
        _ => content.map(|content| format!("countersign run accept {content} --reason TEXT")).into_iter().collect(),
    };
    let asked = |it: &GateCriterion| failures.is_empty() || failures.contains(&it.id);
    let criteria = promise.map(|row| gate::criteria(row, seen)).unwrap_or_default().into_iter().filter(asked).collect();
    let criteria: Vec<GateCriterion> = criteria;
    let of_claim = |name| promise.map(|row| told::told(row, seen, name)).unwrap_or_default();
    InboxItem {
        run_id: Some(task.run.clone()),
        task_id: Some(task.task.clone()),
        instruction_id: None,
        instruction: None,
        sha256: None,
        title: task.spec.title.clone(),
        code: blocker.map(|it| it.code.clone()).unwrap_or_default(),
        reason: blocker.map(|it| it.reason.clone()).unwrap_or_default(),
        content: content.map(str::to_owned),
        bound: promise.filter(|row| row.claim.is_some()).and_then(|row| row.bound.clone().or(row.commit.clone())),
        doubt: None,
        since: blocker.map_or(0, |it| it.at).into(),
        criteria: criteria.into(),
        failures: failures.into(),
        found: promise.map(|row| found::found(row, seen)).unwrap_or_default().into(),
        reasoning: promise.and_then(|row| found::reasoning(row, seen)),
        test_edits: of_claim(told::TEST_EDITS).into(),
        flags: of_claim(told::FLAGS).into(),
        shown: shown::mark(task, moment.now_ms),
        answers: answers.into_iter().chain([again, never]).collect::<Vec<_>>().into(),
        asks,
    }
}

/// Criteria as they are named on a command line.
fn named(ids: &[String]) -> String {
    if ids.is_empty() { "AC-N".to_owned() } else { ids.join(",") }
}

/// What somebody who validates can say: that all holds, that only some does, which may be others than here, or that nothing does.
fn testimonies(id: &str, asked: &[String]) -> Vec<String> {
    let say = |what: String| format!("countersign gate testify {id} {what} --evidence TEXT");
    let all = named(asked);
    let part = asked.split_last().filter(|(_, before)| !before.is_empty());
    let part = part.map(|(last, before)| format!("--pass {} --fail {last}", before.join(",")));
    [Some(format!("--pass {all}")), part, Some(format!("--fail {all}"))].into_iter().flatten().map(say).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_of_a_person_can_be_typed() {
        let say = |asked: &[&str]| testimonies("T-1", &asked.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>());
        let all = |words: &[&str]| -> Vec<String> {
            words.iter().map(|words| format!("countersign gate testify T-1 {words} --evidence TEXT")).collect()
        };
        assert_eq!(say(&["AC-2"]), all(&["--pass AC-2", "--fail AC-2"]));
        let three = ["--pass AC-1,AC-2,AC-4", "--pass AC-1,AC-2 --fail AC-4", "--fail AC-1,AC-2,AC-4"];
        assert_eq!(say(&["AC-1", "AC-2", "AC-4"]), all(&three));
        assert_eq!(say(&[]), all(&["--pass AC-N", "--fail AC-N"]));
    }
}
