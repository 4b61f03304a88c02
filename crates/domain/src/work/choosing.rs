//! The best task that is ready: dependencies done, scope free, by priority and then in the order in which they were added.

use super::picking;
use super::row::{RunRow, TaskRow, task_of};
use super::{holding, indexes, steering};
use crate::deciding::{Desk, Key, Need, Refusal, Seen};
use crate::ids::RunId;
use countersign_contract::diagnostic::Code;
use countersign_contract::show;
use std::collections::BTreeSet;

/// How many are looked at first. Nearly always one of them is free.
const FIRST: usize = 4;
/// How many are looked at in all.
const ALL: usize = 1024;

/// What must be seen to choose.
pub(crate) fn needs(named: Option<&RunId>, seen: &Seen, now: i64, worker: &str) -> Vec<Need> {
    let mut needs = picking::run_needs(named, seen);
    let Some(run) = picking::run_so_far(named, seen) else { return needs };
    needs.extend(look(&run, FIRST, seen, now, worker));
    let first = indexes::ready(&run, FIRST);
    let full = seen.range_so_far(&first).is_some_and(|hits| hits.len() == FIRST);
    if full && is_judged(&run, FIRST, seen, now, worker) && free(&run, FIRST, seen, now, worker).is_none() {
        needs.extend(look(&run, ALL, seen, now, worker));
    }
    needs
}

/// The best of the tasks that are ready, free and not given to somebody else by a plan, as far as they were looked at.
pub(crate) fn free(run: &str, limit: usize, seen: &Seen, now: i64, worker: &str) -> Option<TaskRow> {
    ready(run, limit, seen)?.into_iter().find(|task| steering::is_for(task, worker) && is_free(task, seen, now))
}

/// The tasks that are ready, as far as they were looked at.
fn ready(run: &str, limit: usize, seen: &Seen) -> Option<Vec<TaskRow>> {
    let hits = seen.range_so_far(&indexes::ready(run, limit))?;
    Some(hits.into_iter().filter_map(|(_, key)| task_of(seen.so_far(key))).collect())
}

/// How many are ready, and whether those are all.
pub(crate) fn looked_at(run: &str, seen: &Seen) -> (usize, bool) {
    let all = seen.range_so_far(&indexes::ready(run, ALL));
    let first = seen.range_so_far(&indexes::ready(run, FIRST));
    let count = all.or(first).map_or(0, |hits| hits.len());
    (count, count < ALL)
}

/// The best task for whoever asks.
pub(crate) fn best(run: &RunRow, desk: &Desk) -> Result<TaskRow, Refusal> {
    let (seen, now) = (desk.seen(), desk.moment().now_ms);
    let worker = desk.moment().actor.as_str();
    chosen(run, seen, now, worker).ok_or_else(|| nothing(run, seen, worker))
}

/// The best task for a worker, if one is free.
pub(crate) fn chosen(run: &RunRow, seen: &Seen, now: i64, worker: &str) -> Option<TaskRow> {
    free(&run.run, FIRST, seen, now, worker).or_else(|| free(&run.run, ALL, seen, now, worker))
}

/// Why there is none.
pub(crate) fn nothing(run: &RunRow, seen: &Seen, worker: &str) -> Refusal {
    let count = |status: &str| run.metrics.by_status.get(status).copied().unwrap_or(0);
    let (ready, all) = looked_at(&run.run, seen);
    if let Some(others) = others(&run.run, seen, worker) {
        let reason = format!("no task that is ready is for {}: the plan gives them to {others}", show(worker));
        let help = "wait until one of yours is ready; `countersign task graph` shows what waits for what";
        return Refusal::new(Code::DependencyNotMet, reason, help).of_run(&run.run);
    }
    if ready > 0 {
        let more = if all { "" } else { "; more are ready, but only the first 1,024 were looked at" };
        let reason = match ready {
            1 => "the only task that is ready wants files that others hold".to_owned(),
            _ => format!("all {ready} tasks that are ready want files that others hold{more}"),
        };
        return Refusal::new(Code::LockConflict, reason, "wait until one of those is done").of_run(&run.run);
    }
    let (todo, busy, blocked) = (count("todo"), count("in_progress"), count("blocked"));
    let reason = format!(
        "no task of run {} is ready: {todo} wait for others, {busy} are in progress, {blocked} are blocked",
        run.run
    );
    let help = if todo + busy + blocked == 0 {
        "everything is finished"
    } else {
        "`countersign task graph` shows what waits for what"
    };
    Refusal::new(Code::DependencyNotMet, reason, help).of_run(&run.run)
}

/// To whom the tasks go that are ready, if none of them is for a worker.
fn others(run: &str, seen: &Seen, worker: &str) -> Option<String> {
    let tasks = ready(run, ALL, seen).or_else(|| ready(run, FIRST, seen))?;
    let agents: BTreeSet<String> = tasks.iter().filter_map(|task| task.spec.agent.as_deref().map(show)).collect();
    let is_any = tasks.iter().any(|task| steering::is_for(task, worker));
    (!agents.is_empty() && !is_any).then(|| agents.into_iter().collect::<Vec<_>>().join(", "))
}

/// The tasks themselves, and of those that are for a worker whether they are free: who holds what another one wants tells nothing.
fn look(run: &str, limit: usize, seen: &Seen, now: i64, worker: &str) -> Vec<Need> {
    let range = indexes::ready(run, limit);
    let mut needs = Vec::new();
    for (_, key) in seen.range_so_far(&range).into_iter().flatten() {
        needs.push(Need::Entity(key.clone()));
        if let Some(task) = task_of(seen.so_far(key)).filter(|task| steering::is_for(task, worker)) {
            needs.push(Need::Lease(key.id.clone()));
            needs.extend(holding::needs_at(scope(&task), Some(key), seen, now));
        }
    }
    needs.push(Need::Range(range));
    needs
}

/// Whether everything is there to tell which of them are free.
fn is_judged(run: &str, limit: usize, seen: &Seen, now: i64, worker: &str) -> bool {
    look(run, limit, seen, now, worker).iter().all(|need| seen.has(need))
}

fn is_free(task: &TaskRow, seen: &Seen, now: i64) -> bool {
    let own: Key = task.key();
    let known = holding::needs_at(scope(task), Some(&own), seen, now).iter().all(|need| seen.has(need));
    known && holding::is_free(scope(task), Some(&own), seen, now)
}

fn scope(task: &TaskRow) -> impl Iterator<Item = &str> {
    task.spec.lock_scope.iter().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deciding::Found;
    use crate::work::row::{run_key, task_key};
    use serde_json::json;
    use std::sync::Arc;

    const RUN: &str = "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4";

    #[test]
    fn who_holds_what_tasks_of_others_want_is_not_looked_up() {
        let keys: Vec<Key> = (1..=40).map(|n| task_key(RUN, &format!("T-{n}"))).collect();
        let row = |n: usize| {
            let agent = if n == 40 { "pal" } else { "other" };
            json!({
                "run": RUN, "task": format!("T-{n}"), "order": n, "asked": n, "status": "todo", "waiting_for": [],
                "timeout_seconds": 1200, "attempt": 0, "spec": {
                    "title": "t", "kind": "parallelizable", "dependencies": [], "lock_scope": [format!("src/{n}")],
                    "forbidden_scope": [], "criteria": 1, "context": [], "worklog_path": "w", "timeout_seconds": 1200,
                    "heartbeat_interval_seconds": 120, "priority": "normal", "agent": agent, "peer": true,
                },
            })
        };
        let (mut seen, mut leases) = (Seen::default(), Vec::new());
        for _ in 0..crate::deciding::ROUNDS_MAX {
            for need in needs(None, &seen, 0, "pal").into_iter().filter(|need| !seen.has(need)).collect::<Vec<_>>() {
                match need {
                    Need::Entity(key) => {
                        let n = keys.iter().position(|it| *it == key);
                        let found = n.map(|n| Found { version: 1, seq: 1, facts: Arc::new(row(n + 1)) });
                        seen.add(key, found);
                    }
                    Need::Lease(name) => {
                        leases.push(name.clone());
                        seen.add_lease(name, None);
                    }
                    Need::Range(range) if range == indexes::ready(RUN, range.limit) => {
                        let hits = keys.iter().take(range.limit).map(|key| (vec![0], key.clone()));
                        seen.add_range(range.clone(), hits);
                    }
                    Need::Range(range) if range == indexes::open_runs() => {
                        seen.add_range(range, [(vec![0], run_key(RUN))]);
                    }
                    Need::Range(range) => seen.add_range(range, []),
                    Need::Texts(_) => {}
                }
            }
        }
        let found = free(RUN, ALL, &seen, 0, "pal").unwrap();
        assert_eq!((found.task.as_str(), leases), ("T-40", vec![format!("{RUN}/T-40")]));
    }
}
