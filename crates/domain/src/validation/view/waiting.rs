//! What waits for validators who look by themselves.

use crate::deciding::{Key, Moment, Need, Range, Refusal, Seen, Tree, View, ViewInfo};
use crate::ids::RunId;
use crate::validation::gates::Standing;
use crate::validation::row::{BUILTIN, PERSON, PromiseRow, promise_key, promise_of};
use crate::work::row::{TaskRow, task_of};
use crate::work::task_state::TaskStatus;
use crate::work::view::cursor::{self, PAGE, PAGE_MAX};
use crate::work::{indexes, picking};
use countersign_contract::{Int, List, Name, shape};

shape! {
    /// The tasks of a run whose work waits for validators, in the order in which they were added.
    pub closed struct WaitingGates {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// Only what waits for this validator.
        pub validator: Option<Name>,
        /// Where the page begins: `next` of the page before.
        pub cursor: Option<String>,
        /// How many tasks are looked at; 100, if it is not said.
        pub limit: Option<Int<1, PAGE_MAX>>,
    }
}

shape! {
    /// Work that waits for validators.
    pub struct WaitingGate {
        /// The task.
        pub task_id: String,
        /// One line.
        pub title: String,
        /// What is to be looked at, and named in the answer: a commit, or the hash of contents.
        pub bound: Option<String>,
        /// The event that claims that all is done.
        pub claim: Option<Int>,
        /// Who must still look, people and the built-in validator aside.
        pub validators: List<String>,
    }
}

shape! {
    /// What waits for validators.
    pub struct WaitingShown {
        /// The run.
        pub run_id: String,
        /// The work.
        pub items: List<WaitingGate>,
        /// Where the next page begins; absent at the end.
        pub next: Option<String>,
    }
}

impl WaitingGates {
    fn range(&self, run: &str) -> Range {
        let limit = self.limit.map_or(PAGE, |limit| usize::try_from(limit.get()).unwrap_or(PAGE));
        indexes::tasks(run, cursor::place(self.cursor.as_deref()).as_deref(), limit)
    }

    fn item(&self, task: &TaskRow, row: &PromiseRow) -> Option<WaitingGate> {
        // What was given up, or waits for a person, nobody else needs to look at.
        if task.status != TaskStatus::InProgress || row.is_final() {
            return None;
        }
        let Standing::Unvalidated(who) = row.standing() else { return None };
        // What the checks refute nobody else is asked about, so they come first.
        if who.iter().any(|it| it == BUILTIN) {
            return None;
        }
        let validators: Vec<String> = who.into_iter().filter(|it| it != PERSON).collect();
        let is_wanted = match &self.validator {
            Some(name) => validators.iter().any(|it| it == name.as_str()),
            None => !validators.is_empty(),
        };
        is_wanted.then(|| WaitingGate {
            task_id: task.task.clone(),
            title: task.spec.title.clone(),
            bound: row.bound.clone().or(row.commit.clone()),
            claim: row.claim.map(Int::from),
            validators: validators.into(),
        })
    }
}

fn promise(key: &Key) -> Key {
    promise_key(&key.id)
}

impl View for WaitingGates {
    const INFO: ViewInfo =
        ViewInfo { id: "gate.waiting", summary: "The tasks of a run whose work waits for validators" };
    type Shown = WaitingShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = picking::run_needs(self.run_id.as_ref(), seen);
        let Some(run) = picking::run_so_far(self.run_id.as_ref(), seen) else { return needs };
        let range = self.range(&run);
        for (_, key) in seen.range_so_far(&range).into_iter().flatten() {
            needs.push(Need::Entity(key.clone()));
            needs.push(Need::Entity(promise(key)));
        }
        needs.push(Need::Range(range));
        needs
    }

    fn render(&self, seen: &Seen, _: &Moment, _: Option<&Tree>) -> Result<WaitingShown, Refusal> {
        cursor::read(self.cursor.as_deref())?;
        let run = picking::run(self.run_id.as_ref(), seen)?;
        let range = self.range(&run.run);
        let hits: Vec<_> = seen.range(&range).collect();
        let next = hits.last().filter(|_| hits.len() == range.limit).map(|(at, _)| cursor::write(at));
        let items = hits.into_iter().filter_map(|(_, key)| {
            let task = task_of(seen.entity(key))?;
            self.item(&task, &promise_of(seen.entity(&promise(key)))?)
        });
        Ok(WaitingShown { run_id: run.run, items: items.collect::<Vec<_>>().into(), next })
    }
}
