//! What waits for what.

use super::cursor::{self, PAGE_MAX};
use crate::deciding::{Moment, Need, Range, Refusal, Seen, Tree, View, ViewInfo};
use crate::ids::RunId;
use crate::work::row::task_of;
use crate::work::{indexes, picking};
use countersign_contract::{List, shape};

shape! {
    /// A task and what it depends on.
    pub struct GraphNode {
        /// The task.
        pub task_id: String,
        /// One line.
        pub title: String,
        /// Its state.
        pub status: String,
        /// How sure it is that it is done: `claimed` is the worker's word.
        pub assurance: Option<String>,
        /// The tasks that must be done before.
        pub depends_on: List<String>,
        /// Those of them that are not done.
        pub waiting_for: List<String>,
    }
}

shape! {
    /// What waits for what in a run.
    pub struct GraphShown {
        /// The run.
        pub run_id: String,
        /// The tasks, in the order in which they were added.
        pub tasks: List<GraphNode>,
        /// Where the next page begins; absent at the end.
        pub next: Option<String>,
    }
}

shape! {
    /// What waits for what in a run.
    pub closed struct Graph {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// Where the page begins: `next` of the page before.
        pub cursor: Option<String>,
    }
}

impl Graph {
    fn range(&self, run: &str) -> Range {
        let limit = usize::try_from(PAGE_MAX).unwrap_or(usize::MAX);
        indexes::tasks(run, cursor::place(self.cursor.as_deref()).as_deref(), limit)
    }
}

impl View for Graph {
    const INFO: ViewInfo = ViewInfo { id: "task.graph", summary: "What waits for what in a run" };
    type Shown = GraphShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = picking::run_needs(self.run_id.as_ref(), seen);
        let Some(run) = picking::run_so_far(self.run_id.as_ref(), seen) else { return needs };
        let range = self.range(&run);
        needs.extend(seen.range_so_far(&range).into_iter().flatten().map(|(_, key)| Need::Entity(key.clone())));
        needs.push(Need::Range(range));
        needs
    }

    fn render(&self, seen: &Seen, _: &Moment, _: Option<&Tree>) -> Result<GraphShown, Refusal> {
        cursor::read(self.cursor.as_deref())?;
        let run = picking::run(self.run_id.as_ref(), seen)?;
        let range = self.range(&run.run);
        let hits: Vec<_> = seen.range(&range).collect();
        let next = hits.last().filter(|_| hits.len() == range.limit).map(|(at, _)| cursor::write(at));
        let tasks = hits.into_iter().filter_map(|(_, key)| {
            let task = task_of(seen.entity(key))?;
            Some(GraphNode {
                task_id: task.task,
                title: task.spec.title,
                status: task.status.as_str().to_owned(),
                assurance: task.assurance,
                depends_on: task.spec.dependencies.into(),
                waiting_for: task.waiting_for.into(),
            })
        });
        Ok(GraphShown { run_id: run.run, tasks: tasks.collect::<Vec<_>>().into(), next })
    }
}
