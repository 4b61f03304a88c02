//! Runs, and what is counted of them.

use super::cursor::{self, PAGE, PAGE_MAX};
use crate::deciding::{Moment, Need, Refusal, Seen, Tree, View, ViewInfo};
use crate::ids::RunId;
use crate::work::row::{Metrics, RunRow, run_of};
use crate::work::{indexes, picking};
use countersign_contract::{Int, List, Map, shape};

shape! {
    /// What is counted of a run.
    pub struct MetricsShown {
        /// All tasks.
        pub tasks: Int,
        /// The tasks by state.
        pub by_status: Map<Int>,
        /// How often a task was given to somebody.
        pub dispatches: Int,
        /// How often that was refused because of a lock.
        pub lock_conflicts: Int,
        /// What was refused, by code.
        pub denials: Map<Int>,
        /// How often a failed task was tried again.
        pub retries: Int,
        /// How often that helped.
        pub retries_won: Int,
        /// Of the results that were brought, how many passed; absent while there are none. One that is refused because it
        /// comes too late, or from somebody else than its worker, does not count. The usual aim is 0.99.
        pub packet_pass_rate: Option<f64>,
        /// Lock conflicts for each time a task was given out. The usual aim is at most 0.05.
        pub lock_conflict_rate: Option<f64>,
        /// Of the tasks that are done, how many at the first attempt. The usual aim is 0.85.
        pub first_pass_rate: Option<f64>,
        /// Of the retries, how many helped. The usual aim is 0.60.
        pub retry_success_rate: Option<f64>,
    }
}

shape! {
    /// A run as it stands.
    pub struct RunShown {
        /// Its id.
        pub run_id: String,
        /// What it is for.
        pub objective: String,
        /// What it must keep to.
        pub constraints: List<String>,
        /// `open`, `closed` or `canceled`.
        pub status: String,
        /// What makes its tasks done: with `claim` it is the worker's word.
        pub policy: String,
        /// Who leads it.
        pub orchestrator: String,
        /// When it began.
        pub since: String,
        /// What is counted.
        pub metrics: MetricsShown,
        /// How many tokens its agents used, as far as they said so.
        pub spent_tokens: Int,
        /// How much money, in US dollars.
        pub spent_usd: f64,
        /// The version of this row: the last event that changed it.
        pub version: Int,
    }
}

shape! {
    /// Runs, newest first.
    pub struct RunsShown {
        /// The runs.
        pub runs: List<RunShown>,
        /// Where the next page begins; absent at the end.
        pub next: Option<String>,
    }
}

fn rate(part: u64, whole: u64) -> Option<f64> {
    let rate = part as f64 / whole as f64;
    (whole > 0).then(|| (rate * 10_000.0).round() / 10_000.0)
}

fn metrics(of: &Metrics) -> MetricsShown {
    let counts = |counts: &std::collections::BTreeMap<String, u64>| -> Map<Int> {
        counts.iter().map(|(name, count)| (name.clone(), Int::from(*count))).collect()
    };
    let done = of.by_status.get("done").copied().unwrap_or(0);
    MetricsShown {
        tasks: of.tasks.into(),
        by_status: counts(&of.by_status),
        dispatches: of.dispatches.into(),
        lock_conflicts: of.lock_conflicts.into(),
        denials: counts(&of.denials),
        retries: of.retries.into(),
        retries_won: of.retries_won.into(),
        packet_pass_rate: rate(of.results_passed, of.results_passed + of.results_refused),
        lock_conflict_rate: rate(of.lock_conflicts, of.dispatches),
        first_pass_rate: rate(of.first_pass, done),
        retry_success_rate: rate(of.retries_won, of.retries),
    }
}

fn shown(run: RunRow, version: u64) -> RunShown {
    RunShown {
        metrics: metrics(&run.metrics),
        spent_tokens: run.spent.tokens.into(),
        spent_usd: run.spent.micros as f64 / 1e6,
        run_id: run.run,
        objective: run.objective,
        constraints: run.constraints.into(),
        status: run.status,
        policy: run.policy,
        orchestrator: run.orchestrator,
        since: run.since,
        version: version.into(),
    }
}

shape! {
    /// Runs, newest first.
    pub closed struct ListRuns {
        /// Where the page begins: `next` of the page before.
        pub cursor: Option<String>,
        /// How many; 100, if it is not said.
        pub limit: Option<Int<1, PAGE_MAX>>,
    }
}

impl ListRuns {
    fn range(&self) -> crate::deciding::Range {
        let limit = self.limit.map_or(PAGE, |limit| usize::try_from(limit.get()).unwrap_or(PAGE));
        indexes::runs(cursor::place(self.cursor.as_deref()).as_deref(), limit)
    }
}

impl View for ListRuns {
    const INFO: ViewInfo = ViewInfo { id: "run.list", summary: "The runs, newest first" };
    type Shown = RunsShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let range = self.range();
        let hits = seen.range_so_far(&range).into_iter().flatten();
        hits.map(|(_, key)| Need::Entity(key.clone())).chain([Need::Range(range.clone())]).collect()
    }

    fn render(&self, seen: &Seen, _: &Moment, _: Option<&Tree>) -> Result<RunsShown, Refusal> {
        cursor::read(self.cursor.as_deref())?;
        let range = self.range();
        let hits: Vec<_> = seen.range(&range).collect();
        let next = hits.last().filter(|_| hits.len() == range.limit).map(|(at, _)| cursor::write(at));
        let runs = hits.into_iter().filter_map(|(_, key)| {
            let found = seen.entity(key)?;
            Some(shown(run_of(Some(found))?, found.seq))
        });
        Ok(RunsShown { runs: runs.collect::<Vec<_>>().into(), next })
    }
}

shape! {
    /// A run as it stands, with what is counted of it.
    pub closed struct ShowRun {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
    }
}

impl View for ShowRun {
    const INFO: ViewInfo = ViewInfo { id: "run.show", summary: "A run as it stands, with what is counted of it" };
    type Shown = RunShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        picking::run_needs(self.run_id.as_ref(), seen)
    }

    fn render(&self, seen: &Seen, _: &Moment, _: Option<&Tree>) -> Result<RunShown, Refusal> {
        let run = picking::run(self.run_id.as_ref(), seen)?;
        let version = seen.entity(&crate::work::row::run_key(&run.run)).map_or(0, |found| found.seq);
        Ok(shown(run, version))
    }
}
