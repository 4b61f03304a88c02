//! What is known of runs and tasks, folded from events, and where it is found.

use super::effect::{EffectKind, EffectRow, effect_key};
use super::event::*;
use super::indexes;
use super::row::{
    BlockerRow, Metrics, OPEN, RefusedRow, RunRow, SUBMIT, Spent, TaskRow, delta_key, is_unfit, read, refused_key,
    run_key, task_key, worklog_key,
};
use super::task_state::TaskStatus;
use crate::deciding::{Facts, Happened, Key, Place};
use crate::project::COMMAND_REFUSED;
use serde_json::{Value, json};

/// Which entities an event changes.
pub fn touched(event: &Happened<'_>) -> Vec<Key> {
    let facts = event.facts;
    let Some(run) = facts["run"].as_str() else { return Vec::new() };
    let task = || facts["task"].as_str().map(|task| task_key(run, task));
    match event.kind {
        RUN_OPENED | RUN_CLOSED | RUN_CANCELED | RUN_RESUMED | RUN_LED | RUN_ACCEPTED => vec![run_key(run)],
        COMMAND_REFUSED => {
            let result = facts["task"].as_str().map(|task| refused_key(run, task));
            [run_key(run)].into_iter().chain(result).collect()
        }
        DELTA_APPLIED => facts["delta"].as_str().map(|delta| delta_key(run, delta)).into_iter().collect(),
        TASK_EXTENDED => task().into_iter().collect(),
        EFFECT_STARTED => effect(event).into_iter().collect(),
        EFFECT_FINISHED => [run_key(run)].into_iter().chain(effect(event)).collect(),
        WORKLOG_ADDED => {
            let line = facts["task"].as_str().map(|task| worklog_key(run, task, event.seq));
            task().into_iter().chain(line).collect()
        }
        TASK_COMPLETED => {
            let freed = facts["frees"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let freed = freed.map(|task| task_key(run, task));
            // With the task done, so is bringing it into the tree.
            let landing = landing(event);
            [run_key(run)].into_iter().chain(task()).chain(freed).chain(landing).collect()
        }
        TASK_ADDED | TASK_REPLANNED | TASK_CLAIMED | TASK_BLOCKED | TASK_TIMED_OUT | TASK_REQUEUED | TASK_FAILED
        | TASK_CANCELED | RESULT_SUBMITTED => [run_key(run)].into_iter().chain(task()).collect(),
        _ => Vec::new(),
    }
}

fn effect(event: &Happened<'_>) -> Option<Key> {
    let facts = event.facts;
    let (run, task, kind) = (facts["run"].as_str()?, facts["task"].as_str()?, facts["kind"].as_str()?);
    Some(effect_key(run, task, facts["lease"].as_u64()?, kind, facts["who"].as_str()))
}

fn landing(event: &Happened<'_>) -> Option<Key> {
    let facts = event.facts;
    let (run, task, lease) = (facts["run"].as_str()?, facts["task"].as_str()?, facts["lease"].as_u64()?);
    (facts["gated"] == true).then(|| effect_key(run, task, lease, EffectKind::Landing.as_str(), None))
}

/// What an entity is after an event.
pub fn evolve(key: &Key, before: Option<&Facts>, event: &Happened<'_>) -> Option<Facts> {
    let after = match key.kind.as_str() {
        "run" => return evolve_run(before, event).map(Facts::of_row),
        "task" => return evolve_task(key, before, event).map(Facts::of_row),
        "delta" => Some(event.facts.clone()),
        "effect" => evolve_effect(before.map(Facts::value), event),
        "refused_result" => {
            let code = event.facts["code"].as_str()?.to_owned();
            serde_json::to_value(RefusedRow { at: event.seq, code, by: event.actor.to_owned() }).ok()
        }
        "worklog" => {
            let mut line = event.facts.clone();
            line["seq"] = json!(event.seq);
            line["time"] = json!(event.time);
            line["actor"] = json!(event.actor);
            Some(line)
        }
        _ => before.map(|before| before.value().clone()),
    };
    after.map(Facts::from)
}

fn evolve_effect(before: Option<&Value>, event: &Happened<'_>) -> Option<Value> {
    let facts = event.facts;
    let text = |name: &str| facts[name].as_str().map(str::to_owned);
    if event.kind == EFFECT_STARTED {
        let row = EffectRow {
            run: text("run")?,
            task: text("task")?,
            lease: facts["lease"].as_u64()?,
            kind: text("kind")?,
            who: text("who"),
            recovery: text("recovery")?,
            state: "started".to_owned(),
            since: event.seq,
            mark: facts["mark"].clone(),
            outcome: None,
        };
        return serde_json::to_value(row).ok();
    }
    let mut row: EffectRow = read(before?)?;
    row.state = "finished".to_owned();
    row.outcome = text("outcome").or_else(|| text("reason"));
    serde_json::to_value(row).ok()
}

fn evolve_run(before: Option<&Facts>, event: &Happened<'_>) -> Option<RunRow> {
    let facts = event.facts;
    let text = |name: &str| facts[name].as_str().unwrap_or_default().to_owned();
    if event.kind == RUN_OPENED {
        let texts = |name: &str| facts[name].as_array().into_iter().flatten().filter_map(Value::as_str);
        return Some(RunRow {
            run: text("run"),
            objective: text("objective"),
            constraints: texts("constraints").map(str::to_owned).collect(),
            status: OPEN.to_owned(),
            policy: text("policy"),
            orchestrator: event.actor.to_owned(),
            led_by: None,
            accepted: Default::default(),
            person: facts["person"] == true,
            opened: event.seq,
            since: event.time.to_owned(),
            metrics: Metrics::default(),
            spent: Default::default(),
            workers: Default::default(),
        });
    }
    let mut run = RunRow::clone(&*before?.row()?);
    match event.kind {
        RUN_CLOSED => run.status = "closed".to_owned(),
        RUN_CANCELED => run.status = "canceled".to_owned(),
        RUN_RESUMED => run.orchestrator = event.actor.to_owned(),
        RUN_LED => run.led_by = facts["by"].as_str().map(str::to_owned),
        RUN_ACCEPTED => drop(run.accepted.insert(text("content"))),
        EFFECT_FINISHED => spend(&mut run.spent, &facts["usage"]),
        // Whoever leads a run takes its actions, and is no worker by that.
        TASK_CLAIMED if run.is_gated() && facts["led"] != true => {
            run.workers.insert(text("owner"));
            count(&mut run.metrics, event);
        }
        _ => count(&mut run.metrics, event),
    }
    Some(run)
}

fn spend(spent: &mut Spent, usage: &Value) {
    let tokens = |name: &str| usage[name].as_u64().unwrap_or(0);
    spent.tokens = most(spent.tokens, tokens("input_tokens").saturating_add(tokens("output_tokens")));
    let cost = usage["cost_usd"].as_f64().filter(|cost| cost.is_finite() && *cost >= 0.0).unwrap_or(0.0);
    spent.micros = most(spent.micros, (cost * 1e6).round() as u64);
}

/// A sum, or the largest number that can be written down exactly.
fn most(one: u64, other: u64) -> u64 {
    one.saturating_add(other).min(countersign_contract::INTEGER_MAX.unsigned_abs())
}

fn count(metrics: &mut Metrics, event: &Happened<'_>) {
    let facts = event.facts;
    let (from, to) = (facts["from"].as_str(), facts["to"].as_str());
    if let Some(to) = to.filter(|to| Some(*to) != from) {
        if let Some(count) = from.and_then(|from| metrics.by_status.get_mut(from)) {
            *count = count.saturating_sub(1);
        }
        *metrics.by_status.entry(to.to_owned()).or_default() += 1;
    }
    match event.kind {
        TASK_ADDED => metrics.tasks += 1,
        TASK_CLAIMED => metrics.dispatches += 1,
        TASK_REQUEUED if facts["retry"] == true => metrics.retries += 1,
        TASK_COMPLETED => {
            // Work goes on in a new attempt after a person's answer, too; that is no retry. Earlier versions did not say.
            let retried = facts["retried"].as_bool().unwrap_or_else(|| facts["attempt"].as_u64().unwrap_or(1) > 1);
            metrics.first_pass += u64::from(!retried);
            metrics.retries_won += u64::from(retried);
        }
        RESULT_SUBMITTED => metrics.results_passed += u64::from(facts["late"] != true),
        TASK_BLOCKED if facts["found"] == true => {
            let code = facts["code"].as_str().unwrap_or_default();
            *metrics.denials.entry(code.to_owned()).or_default() += 1;
        }
        COMMAND_REFUSED => {
            let code = facts["code"].as_str().unwrap_or_default();
            let number = |value: &Value| value.as_u64().unwrap_or(0);
            let mut refused = vec![(code, 1)];
            match facts["unrecorded_by"].as_object() {
                Some(by) => refused.extend(by.iter().map(|(code, count)| (code.as_str(), number(count)))),
                // Earlier versions did not say under which code.
                None => refused.push((code, number(&facts["unrecorded"]))),
            }
            for (code, count) in refused.into_iter().filter(|(_, count)| *count > 0) {
                *metrics.denials.entry(code.to_owned()).or_default() += count;
                metrics.lock_conflicts += if code == "LOCK_CONFLICT" { count } else { 0 };
            }
            let unfit = facts["command"] == SUBMIT && is_unfit(code);
            metrics.results_refused += u64::from(unfit) + number(&facts["unrecorded_results"]);
        }
        _ => {}
    }
}

fn evolve_task(key: &Key, before: Option<&Facts>, event: &Happened<'_>) -> Option<TaskRow> {
    let facts = event.facts;
    if event.kind == TASK_ADDED {
        let spec: super::row::Spec = read(&facts["spec"])?;
        return Some(TaskRow {
            run: facts["run"].as_str()?.to_owned(),
            task: facts["task"].as_str()?.to_owned(),
            order: event.seq,
            asked: event.seq,
            last: event.seq,
            timeout_seconds: spec.timeout_seconds,
            spec,
            gated: facts["gated"] == true,
            status: TaskStatus::Todo,
            waiting_for: read(&facts["waiting_for"])?,
            owner: None,
            lease: None,
            attempt: 0,
            returned: 0,
            lapsed: None,
            lapses: Vec::new(),
            failures: Default::default(),
            lost_by: Vec::new(),
            blocker: None,
            base: None,
            assurance: None,
            result: None,
            late: Vec::new(),
            worklog: 0,
        });
    }
    let mut row = TaskRow::clone(&*before?.row()?);
    // Only one of the tasks that a completion touches is the one that is done.
    let is_own = facts["task"].as_str().is_some_and(|task| key.id == format!("{}/{task}", row.run));
    if !is_own {
        row.waiting_for.retain(|task| facts["task"].as_str() != Some(task));
        return Some(row);
    }
    row.last = event.seq;
    if let Some(to) = facts["to"].as_str().and_then(TaskStatus::parse) {
        row.status = to;
    }
    if row.status != TaskStatus::InProgress {
        row.lease = None;
    }
    if let Some(owner) = facts["owner"].as_str().filter(|_| facts["lost"] == true)
        && !row.lost_by.iter().any(|it| it == owner)
    {
        row.lost_by.push(owner.to_owned());
    }
    match event.kind {
        TASK_REPLANNED => {
            row.spec = read(&facts["spec"])?;
            row.waiting_for = read(&facts["waiting_for"])?;
            row.timeout_seconds = row.spec.timeout_seconds;
            row.asked = event.seq;
            row.blocker = None;
            row.failures.clear();
        }
        TASK_CLAIMED => {
            row.owner = facts["owner"].as_str().map(str::to_owned);
            row.lease = Some(event.seq);
            row.attempt = u32::try_from(facts["attempt"].as_u64().unwrap_or(1)).unwrap_or(u32::MAX);
            row.timeout_seconds = facts["timeout_seconds"].as_i64().unwrap_or(row.spec.timeout_seconds);
            row.blocker = None;
            row.lapsed = None;
            row.base = read(&facts["base"]);
            row.result = None;
        }
        TASK_EXTENDED => row.timeout_seconds = facts["timeout_seconds"].as_i64().unwrap_or(row.timeout_seconds),
        TASK_BLOCKED | TASK_TIMED_OUT | TASK_FAILED => {
            row.blocker = Some(BlockerRow {
                code: facts["code"].as_str().unwrap_or_default().to_owned(),
                reason: facts["reason"].as_str().unwrap_or_default().to_owned(),
                escalated: facts["escalated"] == true,
                asks: facts["asks"].as_str().map(str::to_owned),
                keeps: facts["keeps"] == true,
                content: facts["content"].as_str().map(str::to_owned),
                at: event.seq,
            });
            if let Some(owner) = facts["owner"].as_str().filter(|_| facts["failed"] == true) {
                *row.failures.entry(owner.to_owned()).or_default() += 1;
            }
            row.returned += u32::from(facts["returned"] == true);
            if event.kind == TASK_TIMED_OUT {
                row.lapsed = facts["lease"].as_u64().zip(facts["owner"].as_str().map(str::to_owned));
                row.lapses.extend(facts["lease"].as_u64());
            }
        }
        TASK_REQUEUED => {
            row.blocker = None;
            if let Some(owner) = facts["excused"].as_str() {
                row.lapses.retain(|lease| facts["lease"].as_u64() != Some(*lease));
                excuse(&mut row, owner);
            }
        }
        TASK_COMPLETED => {
            row.assurance = facts["assurance"].as_str().map(str::to_owned);
            row.result = facts["result"].as_u64();
        }
        RESULT_SUBMITTED if facts["late"] == true => row.late.extend(facts["lease"].as_u64()),
        // It is a claim from here on, and its gates are looked at.
        RESULT_SUBMITTED if row.gated && facts["status"] == "done" => row.result = Some(event.seq),
        WORKLOG_ADDED => row.worklog += 1,
        _ => {}
    }
    Some(row)
}

/// What lapsed was no failure of its owner, and no attempt.
fn excuse(row: &mut TaskRow, owner: &str) {
    row.lapsed = None;
    row.returned += 1;
    if let Some(failures) = row.failures.get_mut(owner) {
        *failures = failures.saturating_sub(1);
    }
    row.failures.retain(|_, failures| *failures > 0);
}

/// Where an entity is found.
pub fn places(key: &Key, facts: &Facts) -> Vec<Place> {
    match key.kind.as_str() {
        "run" => facts.row().map_or_else(Vec::new, |run| indexes::of_run(&run)),
        "task" => facts.row().map_or_else(Vec::new, |task| indexes::of_task(&task)),
        "worklog" => indexes::of_worklog(facts),
        "effect" => super::effect::places(facts),
        _ => Vec::new(),
    }
}
