//! The best task that is ready: dependencies done, scope free, by priority and then in the order in which they were added.

use super::indexes::Whose;
use super::picking;
use super::row::{RunRow, TaskRow, task_key, task_of};
use super::task_state::TaskStatus;
use super::{holding, indexes, steering};
use crate::deciding::{Desk, Hit, Key, Need, Range, Refusal, Seen};
use crate::ids::RunId;
use countersign_contract::diagnostic::Code;
use countersign_contract::show;
use std::collections::BTreeSet;

/// How many are looked at first. Nearly always one of them is free.
const FIRST: usize = 4;
/// How many are looked at in all.
const ALL: usize = 1024;
/// How many tasks of others are looked at, to say whose they are where none is for whoever asks.
const OTHERS: usize = 64;

/// What must be seen to choose. Tasks that a plan gives to others are passed over by the index, however many they are.
pub(crate) fn needs(named: Option<&RunId>, seen: &Seen, now: i64, worker: &str) -> Vec<Need> {
    let mut needs = picking::run_needs(named, seen);
    let Some(run) = picking::run_so_far(named, seen) else { return needs };
    needs.extend(look(&run, FIRST, seen, now, worker));
    match ready(&run, FIRST, seen, worker).map(|first| first.len()) {
        Some(0) => needs.push(Need::Range(indexes::ready_by_anybody(&run, OTHERS))),
        Some(FIRST) if is_judged(&run, FIRST, seen, now, worker) && free(&run, FIRST, seen, now, worker).is_none() => {
            needs.extend(look(&run, ALL, seen, now, worker));
        }
        _ => {}
    }
    needs
}

/// What must be seen to tell whether a task can be begun.
pub(crate) fn needs_of(task: &str, named: Option<&RunId>, seen: &Seen, now: i64) -> Vec<Need> {
    let mut needs = picking::run_needs(named, seen);
    let Some(run) = picking::run_so_far(named, seen) else { return needs };
    let own = task_key(&run, task);
    needs.push(Need::Entity(own.clone()));
    if let Some(task) = task_of(seen.so_far(&own)) {
        needs.extend(holding::needs_at(scope(&task), Some(&own), seen, now));
    }
    needs
}

/// The only task that a worker may speak for, or why it cannot be begun.
pub(crate) fn only(task: &str, run: &RunRow, seen: &Seen, now: i64, worker: &str) -> Result<TaskRow, String> {
    let Some(found) = task_of(seen.so_far(&task_key(&run.run, task))) else {
        return Err(format!("{} may speak for {task} alone, and run {} has no such task", show(worker), run.run));
    };
    let waits = || found.waiting_for.join(", ");
    let why = match found.status {
        TaskStatus::Todo if !found.waiting_for.is_empty() => format!("waits for {}", waits()),
        TaskStatus::Todo if found.spec.led || !steering::is_for(&found, worker) => {
            "is given to somebody else by the plan".to_owned()
        }
        TaskStatus::Todo if is_free(&found, seen, now) => return Ok(found),
        TaskStatus::Todo => "wants files that others hold".to_owned(),
        other => format!("is {}", other.as_str()),
    };
    Err(format!("{} may speak for {task} alone, and it {why}", show(worker)))
}

/// The best of the tasks that are ready and free, as far as they were looked at.
fn free(run: &str, limit: usize, seen: &Seen, now: i64, worker: &str) -> Option<TaskRow> {
    let tasks = ready(run, limit, seen, worker)?.into_iter().filter_map(|key| task_of(seen.so_far(key)));
    let mut tasks = tasks.inspect(|task| debug_assert!(steering::is_for(task, worker), "{} is not theirs", task.task));
    tasks.find(|task| is_free(task, seen, now))
}

/// Whose tasks somebody may take: what is for whoever comes, their own, and those of a peer that they are a session of.
fn whose(worker: &str) -> Vec<Whose<'_>> {
    let anybody = Whose { agent: "", peer: false };
    let own = [false, true].map(|peer| Whose { agent: worker, peer });
    let clients = worker.match_indices(':').map(|(end, _)| Whose { agent: &worker[..end], peer: true });
    [anybody].into_iter().chain(own).chain(clients).filter(|it| !it.peer || !it.agent.is_empty()).collect()
}

fn ranges(run: &str, limit: usize, worker: &str) -> impl Iterator<Item = Range> {
    whose(worker).into_iter().map(move |whose| indexes::ready(run, whose, limit))
}

/// The tasks that are ready for somebody, best first; none, if that was not looked at.
fn ready<'s>(run: &str, limit: usize, seen: &'s Seen, worker: &str) -> Option<Vec<&'s Key>> {
    let mut hits: Vec<&Hit> = Vec::new();
    for range in ranges(run, limit, worker) {
        hits.extend(seen.range_so_far(&range)?);
    }
    hits.sort_by(|(one, _), (other, _)| indexes::how_soon(one).cmp(indexes::how_soon(other)));
    hits.dedup();
    Some(hits.into_iter().take(limit).map(|(_, key)| key).collect())
}

/// How many are ready for somebody, and whether those are all.
fn looked_at(run: &str, seen: &Seen, worker: &str) -> (usize, bool) {
    let all = ready(run, ALL, seen, worker).or_else(|| ready(run, FIRST, seen, worker));
    let count = all.map_or(0, |tasks| tasks.len());
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
    let (ready, all) = looked_at(&run.run, seen, worker);
    if let Some(others) = others(&run.run, seen).filter(|_| ready == 0) {
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

/// To whom the tasks go that are ready, if none of them is for whoever asks.
fn others(run: &str, seen: &Seen) -> Option<String> {
    let range = indexes::ready_by_anybody(run, OTHERS);
    let agents = seen.range_so_far(&range)?.into_iter().map(|(at, _)| show(&indexes::agent_at(run, at)));
    let mut agents: Vec<String> = agents.collect::<BTreeSet<_>>().into_iter().collect();
    let more = seen.rest(&range).map(|_| "others".to_owned());
    agents.extend(more.filter(|_| !agents.is_empty()));
    (!agents.is_empty()).then(|| agents.join(", "))
}

/// The tasks themselves, and whether they are free.
fn look(run: &str, limit: usize, seen: &Seen, now: i64, worker: &str) -> Vec<Need> {
    let mut needs: Vec<Need> = ranges(run, limit, worker).map(Need::Range).collect();
    for key in ready(run, limit, seen, worker).unwrap_or_default() {
        needs.push(Need::Entity(key.clone()));
        needs.push(Need::Lease(key.id.to_string()));
        if let Some(task) = task_of(seen.so_far(key)) {
            needs.extend(holding::needs_at(scope(&task), Some(key), seen, now));
        }
    }
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
    use crate::deciding::{Facts, Found, Place};
    use crate::work::row::run_key;
    use serde_json::json;
    use std::sync::Arc;

    const RUN: &str = "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4";

    /// Shows what is asked for by somebody of tasks that are given to agents, and gives all that was asked for.
    fn shown(worker: &str, agents: &[&str]) -> (Seen, BTreeSet<Need>) {
        let facts = |n: usize, agent: &str| {
            json!({
                "run": RUN, "task": format!("T-{n}"), "order": n, "asked": n, "status": "todo", "waiting_for": [],
                "timeout_seconds": 1200, "attempt": 0, "spec": {
                    "title": "t", "kind": "parallelizable", "dependencies": [], "lock_scope": [format!("src/{n}")],
                    "forbidden_scope": [], "criteria": 1, "context": [], "worklog_path": "w", "timeout_seconds": 1200,
                    "heartbeat_interval_seconds": 120, "priority": "normal", "agent": agent, "peer": true,
                },
            })
        };
        let tasks: Vec<(Key, Arc<Facts>)> = (1..)
            .zip(agents)
            .map(|(n, agent)| (task_key(RUN, &format!("T-{n}")), Arc::new(facts(n, agent).into())))
            .collect();
        let places: BTreeSet<(Place, &Key)> = tasks
            .iter()
            .flat_map(|(key, facts)| crate::places(key, facts).iter().map(move |at| (at.clone(), key)))
            .collect();
        let (mut seen, mut asked) = (Seen::default(), BTreeSet::new());
        for _ in 0..crate::deciding::ROUNDS_MAX {
            for need in needs(None, &seen, 0, worker).into_iter().filter(|need| !seen.has(need)).collect::<Vec<_>>() {
                asked.insert(need.clone());
                match need {
                    Need::Entity(key) => {
                        let facts = tasks.iter().find(|(known, _)| *known == key).map(|(_, facts)| Arc::clone(facts));
                        seen.add(key, facts.map(|facts| Found { version: 1, seq: 1, facts }));
                    }
                    Need::Lease(name) => seen.add_lease(name, None),
                    Need::Range(range) if range == indexes::open_runs() => {
                        seen.add_range(range, [(vec![0], run_key(RUN))]);
                    }
                    Need::Range(range) => {
                        let is_in = |at: &Place| {
                            at.index == range.index
                                && at.at >= range.from
                                && range.to.as_ref().is_none_or(|to| at.at < *to)
                        };
                        let hits = places.iter().filter(|(at, _)| is_in(at)).take(range.limit);
                        let hits: Vec<Hit> = hits.map(|(at, key)| (at.at.clone(), (*key).clone())).collect();
                        seen.add_range(range, hits);
                    }
                    Need::Texts(_) => {}
                }
            }
        }
        (seen, asked)
    }

    fn tasks_asked_for(asked: &BTreeSet<Need>) -> Vec<&str> {
        let tasks = asked.iter().filter_map(|need| match need {
            Need::Entity(key) => Some(key).filter(|key| key.kind == "task"),
            _ => None,
        });
        tasks.map(|key| key.id.as_str()).collect()
    }

    #[test]
    fn tasks_of_others_are_not_looked_at_however_many_there_are() {
        let mut agents = vec!["other"; 3000];
        agents.extend(["pal", "other", "pal"]);
        for worker in ["pal", "pal:session-1"] {
            let (seen, asked) = shown(worker, &agents);
            assert_eq!(free(RUN, FIRST, &seen, 0, worker).unwrap().task, "T-3001", "{worker}");
            let own = [task_key(RUN, "T-3001").id, task_key(RUN, "T-3003").id];
            assert_eq!(tasks_asked_for(&asked), own, "{worker}");
        }
    }

    #[test]
    fn who_has_none_is_told_whose_they_are() {
        let (seen, asked) = shown("pal", &["other", "another"]);
        assert_eq!(free(RUN, FIRST, &seen, 0, "pal"), None);
        assert_eq!(others(RUN, &seen).unwrap(), "another, other");
        assert!(tasks_asked_for(&asked).is_empty(), "{asked:?}");
        let (seen, _) = shown("pal", &["other"; 100]);
        assert_eq!(others(RUN, &seen).unwrap(), "other, others");
    }

    #[test]
    fn what_is_more_urgent_or_older_comes_first_whoever_it_is_given_to() {
        let (seen, _) = shown("pal:one", &["pal:one", "", "pal", "other", "pal:one", "pal", "pal"]);
        let keys = ready(RUN, FIRST, &seen, "pal:one").unwrap();
        let tasks: Vec<&str> = keys.iter().map(|key| key.id.split_once('/').unwrap().1).collect();
        assert_eq!(tasks, ["T-1", "T-3", "T-5", "T-6"]);
    }
}
