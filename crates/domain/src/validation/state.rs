//! What is known of promises, folded from events: their own, and those of the tasks that they belong to.

use super::event::*;
use super::row::{AcceptanceRow, JudgementRow, LastRow, MetRow, NONE, PromiseRow, VerdictRow, promise_key};
use super::verdict::CriterionStatus;
use crate::deciding::{Happened, Key, Place};
use crate::work::event::{
    RESULT_SUBMITTED, TASK_BLOCKED, TASK_CANCELED, TASK_CLAIMED, TASK_COMPLETED, TASK_FAILED, TASK_REPLANNED,
    TASK_REQUEUED, TASK_TIMED_OUT,
};
use serde::Deserialize;
use serde_json::Value;

/// Where promises that stand for themselves are found, newest first.
pub const PROMISE_ALL: &str = "promise_all";

/// Which entities an event changes.
pub fn touched(event: &Happened<'_>) -> Vec<Key> {
    let facts = event.facts;
    match event.kind {
        TASK_CLAIMED | TASK_BLOCKED | TASK_TIMED_OUT | TASK_REQUEUED | TASK_FAILED | TASK_CANCELED | TASK_COMPLETED
        | TASK_REPLANNED | RESULT_SUBMITTED => {
            let gated = facts["gated"] == true;
            let (Some(run), Some(task)) = (facts["run"].as_str(), facts["task"].as_str()) else { return Vec::new() };
            if gated { vec![promise_key(&format!("{run}/{task}"))] } else { Vec::new() }
        }
        kind if ALL.contains(&kind) && kind != EVIDENCE_COLLECTED => {
            facts["promise"].as_str().map(promise_key).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// What a promise is after an event.
pub fn evolve(before: Option<&Value>, event: &Happened<'_>) -> Option<Value> {
    let row = match event.kind {
        PROMISE_MADE => made(event)?,
        _ => {
            let mut row = PromiseRow::deserialize(before?).ok()?;
            change(&mut row, event);
            row
        }
    };
    serde_json::to_value(row).ok()
}

fn made(event: &Happened<'_>) -> Option<PromiseRow> {
    let facts = event.facts;
    let text = |name: &str| facts[name].as_str().map(str::to_owned);
    let of_task = text("run").zip(text("task"));
    let (owned_by, owned_since) = match of_task {
        // The promise of a task is taken on by whoever claims the task.
        Some(_) => (None, None),
        None => (Some(event.actor.to_owned()), Some(event.time.to_owned())),
    };
    Some(PromiseRow {
        promise: text("promise")?,
        id: text("id")?,
        of_task,
        title: text("title")?,
        status: "pending".to_owned(),
        criteria: Deserialize::deserialize(&facts["criteria"]).ok()?,
        made: event.seq,
        created_by: event.actor.to_owned(),
        created_at: event.time.to_owned(),
        authors: owned_by.iter().cloned().collect(),
        owned_by,
        owned_since,
        validators: Deserialize::deserialize(&facts["validators"]).unwrap_or_default(),
        peers: Deserialize::deserialize(&facts["peers"]).unwrap_or_default(),
        judge: text("judge").unwrap_or_else(|| NONE.to_owned()),
        judge_optional: facts["judge_optional"] == true,
        round: 0,
        claim: None,
        commit: None,
        bound: None,
        ground: None,
        verdicts: Default::default(),
        judgement: None,
        acceptance: None,
        last: None,
    })
}

fn change(row: &mut PromiseRow, event: &Happened<'_>) {
    let facts = event.facts;
    let text = |name: &str| facts[name].as_str().map(str::to_owned);
    match event.kind {
        PROMISE_STARTED => {
            row.status = "in_progress".to_owned();
            row.round += 1;
            let (claim, commit) = (row.claim, row.commit.take());
            row.begin_anew();
            (row.claim, row.commit) = (claim, commit);
        }
        CRITERION_MET => met(row, event),
        PROMISE_RELEASED => own(row, None, event),
        PROMISE_ADOPTED => own(row, Some(event.actor), event),
        PROMISE_CANCELLED | TASK_CANCELED | TASK_FAILED => row.status = "cancelled".to_owned(),
        PROMISE_VERIFIED | TASK_COMPLETED => row.status = "verified".to_owned(),
        VERDICT_GIVEN => {
            let read = |(id, status): (&String, &Value)| Some((id.clone(), CriterionStatus::parse(status.as_str()?)?));
            let results = facts["results"].as_object().into_iter().flatten().filter_map(read).collect();
            let why = Deserialize::deserialize(&facts["why"]).unwrap_or_default();
            row.verdicts.insert(text("validator").unwrap_or_default(), VerdictRow { seq: event.seq, results, why });
            row.bound = text("bound").or(row.bound.take());
            row.ground = Deserialize::deserialize(&facts["ground"]).ok().or(row.ground.take());
        }
        JUDGED => {
            let (verdict, by) = (text("verdict").unwrap_or_default(), text("by").unwrap_or_default());
            row.judgement = Some(JudgementRow { seq: event.seq, verdict, by });
        }
        FAILURES_ACCEPTED => {
            let failures = Deserialize::deserialize(&facts["failures"]).unwrap_or_default();
            row.acceptance = Some(AcceptanceRow { seq: event.seq, by: event.actor.to_owned(), failures });
        }
        GATES_STALE => {
            let (claim, commit) = (row.claim, row.commit.take());
            row.begin_anew();
            (row.claim, row.commit) = (claim, commit);
        }
        TASK_CLAIMED => {
            let owner = text("owner");
            own(row, owner.as_deref(), event);
            row.status = "in_progress".to_owned();
            row.round += u32::from(row.claim.is_none());
        }
        // What was found so far was about another result.
        RESULT_SUBMITTED if facts["late"] != true && facts["status"] == "done" => {
            row.begin_anew();
            row.claim = Some(event.seq);
            row.commit = text("commit");
        }
        // Where a person is asked about what was claimed, it stands until they have answered.
        TASK_BLOCKED | TASK_TIMED_OUT if facts["asks"].is_string() => own(row, None, event),
        TASK_BLOCKED | TASK_TIMED_OUT => {
            own(row, None, event);
            lost(row, &text("reason").unwrap_or_default());
        }
        // Nobody was silent: who had to keep the work alive was gone. What was claimed may have landed already.
        TASK_REQUEUED if facts["excused"].is_string() => {
            if let Some(last) = row.last.as_ref().filter(|_| row.claim.is_none()) {
                (row.claim, row.commit) = (last.claim, last.commit.clone());
            }
        }
        TASK_REQUEUED | TASK_REPLANNED if facts["keeps"] != true && row.claim.is_some() => {
            lost(row, &text("reason").unwrap_or_default())
        }
        _ => {}
    }
}

/// An attempt did not pass: what it claimed counts no more, and the next one is told why.
fn lost(row: &mut PromiseRow, reason: &str) {
    let verdicts = row.verdicts.values().map(|verdict| verdict.seq).collect();
    let judgement = row.judgement.as_ref().filter(|it| it.verdict == "FAIL").map(|it| it.seq);
    let (claim, commit) = (row.claim, row.commit.take());
    row.last = Some(LastRow { round: row.round, reason: reason.to_owned(), verdicts, judgement, claim, commit });
    row.begin_anew();
}

fn own(row: &mut PromiseRow, owner: Option<&str>, event: &Happened<'_>) {
    row.owned_by = owner.map(str::to_owned);
    row.owned_since = owner.map(|_| event.time.to_owned());
    if let Some(owner) = owner.filter(|owner| !row.authors.iter().any(|it| it == owner)) {
        row.authors.push(owner.to_owned());
    }
}

fn met(row: &mut PromiseRow, event: &Happened<'_>) {
    let id = event.facts["criterion"].as_str().unwrap_or_default();
    let kind = event.facts["kind"].as_str().map(str::to_owned);
    if let Some(criterion) = row.criteria.iter_mut().find(|it| it.id == id) {
        let (by, at) = (event.actor.to_owned(), event.time.to_owned());
        criterion.met = Some(MetRow { seq: event.seq, by, at, kind });
    }
    if row.unmet().is_empty() {
        row.claim = Some(event.seq);
    }
}

/// Where a promise is found. That of a task is found by the task.
pub fn places(facts: &Value) -> Vec<Place> {
    match (facts["of_task"].is_null(), facts["made"].as_u64()) {
        (true, Some(made)) => vec![Place { index: PROMISE_ALL, at: (u64::MAX - made).to_be_bytes().to_vec() }],
        _ => Vec::new(),
    }
}
