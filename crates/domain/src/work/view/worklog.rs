//! The lines of a worklog.

use super::cursor::{self, PAGE, PAGE_MAX};
use crate::deciding::{Moment, Need, Range, Refusal, Seen, Tree, View, ViewInfo};
use crate::ids::{RunId, TaskId};
use crate::work::{indexes, picking};
use countersign_contract::{Int, List, Untrusted, shape};

shape! {
    /// A line of a worklog.
    pub struct WorklogLine {
        /// The event.
        pub seq: Int,
        /// Who wrote it.
        pub actor: String,
        /// When.
        pub time: String,
        /// What was done.
        pub action: String,
        /// The entry as it was written: JSON.
        pub entry: Untrusted<String>,
    }
}

shape! {
    /// The lines of a worklog.
    pub struct WorklogShown {
        /// The run.
        pub run_id: String,
        /// The task.
        pub task_id: String,
        /// The lines, oldest first.
        pub lines: List<WorklogLine>,
        /// Where the next page begins; absent at the end.
        pub next: Option<String>,
    }
}

shape! {
    /// The worklog of a task, oldest line first.
    pub closed struct ShowWorklog {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// Where the page begins: `next` of the page before.
        pub cursor: Option<String>,
        /// How many; 100, if it is not said.
        pub limit: Option<Int<1, PAGE_MAX>>,
    }
}

impl ShowWorklog {
    fn range(&self, run: &str) -> Range {
        let limit = self.limit.map_or(PAGE, |limit| usize::try_from(limit.get()).unwrap_or(PAGE));
        indexes::worklog(run, self.task_id.as_str(), cursor::place(self.cursor.as_deref()).as_deref(), limit)
    }
}

impl View for ShowWorklog {
    const INFO: ViewInfo = ViewInfo { id: "worklog.show", summary: "The worklog of a task, oldest line first" };
    type Shown = WorklogShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = super::one_task(self.run_id.as_ref(), &self.task_id, seen);
        let Some(run) = picking::run_so_far(self.run_id.as_ref(), seen) else { return needs };
        let range = self.range(&run);
        for (_, key) in seen.range_so_far(&range).into_iter().flatten() {
            needs.push(Need::Entity(key.clone()));
            needs.extend(key.id.rsplit('/').next().and_then(|seq| Some(Need::Texts(seq.parse().ok()?))));
        }
        needs.push(Need::Range(range));
        needs
    }

    fn render(&self, seen: &Seen, _: &Moment, _: Option<&Tree>) -> Result<WorklogShown, Refusal> {
        cursor::read(self.cursor.as_deref())?;
        let run = picking::run(self.run_id.as_ref(), seen)?;
        let task = picking::task(&run, &self.task_id, seen)?;
        let range = self.range(&run.run);
        let hits: Vec<_> = seen.range(&range).collect();
        let next = hits.last().filter(|_| hits.len() == range.limit).map(|(at, _)| cursor::write(at));
        let lines = hits.into_iter().filter_map(|(_, key)| {
            let facts = &seen.entity(key)?.facts;
            let text = |name: &str| facts[name].as_str().unwrap_or_default().to_owned();
            let seq = facts["seq"].as_u64()?;
            let entry = seen.text(seq, 0).cloned().unwrap_or_else(|| Untrusted::new("(erased)".to_owned()));
            Some(WorklogLine {
                seq: seq.into(),
                actor: text("actor"),
                time: text("time"),
                action: text("action"),
                entry,
            })
        });
        Ok(WorklogShown { run_id: run.run, task_id: task.task, lines: lines.collect::<Vec<_>>().into(), next })
    }
}
