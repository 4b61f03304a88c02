//! What is known of instructions, folded from events.

use super::event::*;
use super::payload::{date_in_id, number_in_id};
use super::row::{
    AnsweredRow, DelegationRow, EndRow, PlannedRow, SeenRow, StartedRow, day_key, delegation_key, end_key, planned_key,
};
use super::trying::first_id;
use crate::deciding::{Happened, Key, Place, Range};
use crate::work::indexes::inbox_place;
use serde::Deserialize;
use serde_json::{Value, json};

/// Where answered instructions are found, by when that was.
const DELEGATION_ANSWERS: &str = "delegation_answers";
/// Where instructions are found that have no answer yet, in the order in which they came.
const DELEGATION_OPEN: &str = "delegation_open";
/// Where actions of plans are found, by their instructions and by what they do.
const DELEGATION_PLANS: &str = "delegation_plans";

/// Which entities an event changes.
pub fn touched(event: &Happened<'_>) -> Vec<Key> {
    if !ALL.contains(&event.kind) {
        return Vec::new();
    }
    if let DELEGATION_PLANNED | DELEGATION_APPROVED | DELEGATION_REFUSED | DELEGATION_ESCALATED = event.kind {
        let of_task = event.facts["run"].as_str().zip(event.facts["task"].as_str());
        return of_task.map(|(run, task)| planned_key(run, task)).into_iter().collect();
    }
    let instruction = event.facts["instruction_id"].as_str().map(delegation_key);
    let day = event.facts["response_id"].as_str().filter(|_| event.kind == DELEGATION_RECEIVED);
    let ends = ["end", "concern"].into_iter().filter_map(|name| event.facts[name].as_str().map(end_key));
    instruction.into_iter().chain(day.map(|id| day_key(date_in_id(id)))).chain(ends).collect()
}

/// What an entity is after an event.
pub fn evolve(key: &Key, before: Option<&Value>, event: &Happened<'_>) -> Option<Value> {
    if key.kind == "delegation_day" {
        let count = before.and_then(|before| before["count"].as_u64()).unwrap_or(0);
        let given = event.facts["response_id"].as_str().and_then(number_in_id).unwrap_or(0);
        return Some(json!({ "count": given.max(count + 1) }));
    }
    if key.kind == "delegation_end" {
        let is_concern = event.facts["concern"].as_str() == Some(key.id.as_str());
        let row = if is_concern { concern(before, event) } else { end(before, event) };
        return serde_json::to_value(row).ok();
    }
    if key.kind == "delegation_planned" {
        return serde_json::to_value(planned(before, event)?).ok();
    }
    let row = match event.kind {
        DELEGATION_RECEIVED => received(event)?,
        _ => {
            let mut row = DelegationRow::deserialize(before?).ok()?;
            change(&mut row, event);
            row
        }
    };
    serde_json::to_value(row).ok()
}

/// How often something was tried, and how that went.
fn end(before: Option<&Value>, event: &Happened<'_>) -> EndRow {
    let mut row = before.and_then(|before| EndRow::deserialize(before).ok()).unwrap_or_default();
    let facts = event.facts;
    match (event.kind, facts["status"].as_str()) {
        (DELEGATION_RECEIVED, _) => {
            row.tries += 1;
            row.last = facts["instruction_id"].as_str().unwrap_or_default().to_owned();
            row.of_task = facts["task"].is_string();
            (row.unsettled, row.resolved) = (None, None);
        }
        (DELEGATION_RESOLVED, _) => {
            row.resolved = facts["decision"].as_str().map(str::to_owned);
            (row.failures, row.blocked_since) = (0, None);
        }
        (_, Some("FAILURE")) => row.failures += 1,
        (_, Some("BLOCKED")) => row.blocked_since = row.blocked_since.or(Some(event.time.to_owned())),
        (_, Some("SUCCESS")) => (row.failures, row.blocked_since) = (0, None),
        _ => {}
    }
    let is_last = facts["instruction_id"].as_str() == Some(row.last.as_str());
    if event.kind == DELEGATION_ANSWERED && is_last {
        row.unsettled = Some(event.seq).filter(|_| facts["status"] != "SUCCESS");
    }
    if event.kind == DELEGATION_OBSERVED && is_last && facts["about"] == "outcome" {
        row.unsettled = Some(event.seq).filter(|_| facts["holds"] != true);
    }
    row
}

/// How often what has a concern in common was wrong, one after the other, and which of it lacked authority. A dry run says nothing
/// of that.
fn concern(before: Option<&Value>, event: &Happened<'_>) -> EndRow {
    let mut row = before.and_then(|before| EndRow::deserialize(before).ok()).unwrap_or_default();
    let id = event.facts["instruction_id"].as_str().unwrap_or_default();
    if event.kind == DELEGATION_ANSWERED {
        row.last = id.to_owned();
        if event.facts["lacks"] == true {
            (row.lacking, row.unsettled) = (Some(id.to_owned()), Some(event.seq));
        }
    }
    // A person decides about the one that lacked authority, or about the last, which speaks for it.
    if event.kind == DELEGATION_RESOLVED && (row.lacking.as_deref() == Some(id) || row.last == id) {
        let lacking = row.lacking.take();
        row.unsettled = None;
        // To give it up opens no other way to it.
        row.given_up = lacking.filter(|_| event.facts["decision"] == "abandon");
    }
    match (event.kind, event.facts["status"].as_str()) {
        (DELEGATION_ANSWERED, Some("INVALID_REQUEST")) if event.facts["dry"] == true => {}
        (DELEGATION_ANSWERED, Some("INVALID_REQUEST")) => row.invalid += 1,
        (DELEGATION_ANSWERED | DELEGATION_RESOLVED, _) => row.invalid = 0,
        _ => {}
    }
    row
}

/// An action of a plan.
fn planned(before: Option<&Value>, event: &Happened<'_>) -> Option<PlannedRow> {
    let facts = event.facts;
    let text = |name: &str| facts[name].as_str().map(str::to_owned);
    if event.kind == DELEGATION_PLANNED {
        return Some(PlannedRow {
            instruction_id: text("instruction_id")?,
            digest: text("digest")?,
            digests: Vec::deserialize(&facts["digests"]).ok()?,
            action: text("action")?,
            repository: text("repository")?,
            executor: text("executor")?,
            asks: facts["asks"] == true,
            retries: facts["retries"].as_u64().unwrap_or(0),
            agents: Vec::deserialize(&facts["agents"]).unwrap_or_default(),
            deed: text("deed"),
            deed_here: text("deed_here"),
            planned: event.seq,
            approved: None,
            escalated: None,
        });
    }
    let mut row = PlannedRow::deserialize(before?).ok()?;
    match event.kind {
        DELEGATION_APPROVED => {
            row.approved = event.time.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond);
        }
        DELEGATION_ESCALATED => (row.approved, row.escalated) = (None, text("instruction_id")),
        _ => row.approved = None,
    }
    Some(row)
}

fn received(event: &Happened<'_>) -> Option<DelegationRow> {
    let facts = event.facts;
    let text = |name: &str| facts[name].as_str().map(str::to_owned);
    Some(DelegationRow {
        instruction_id: text("instruction_id")?,
        digest: text("digest")?,
        action: text("action")?,
        repository: text("repository")?,
        executor: text("executor")?,
        response_id: text("response_id")?,
        audit_entry_id: text("audit_entry_id")?,
        end: text("end")?,
        concern: text("concern"),
        valid: facts["valid"] == true,
        lacks: facts["lacks"] == true,
        of_task: text("run").zip(text("task")),
        received: event.seq,
        received_at: event.time.to_owned(),
        started: None,
        audited: None,
        answered: None,
        found: None,
        barred: None,
    })
}

fn change(row: &mut DelegationRow, event: &Happened<'_>) {
    let facts = event.facts;
    let text = |name: &str| facts[name].as_str().map(str::to_owned);
    match event.kind {
        DELEGATION_STARTED => {
            let (place, until) = (text("place").unwrap_or_default(), facts["until"].as_i64().unwrap_or(0));
            let (at, first) = (facts["at"].as_i64(), facts["first"].as_i64());
            row.started = Some(StartedRow { seq: event.seq, place, until, at, first, before: text("before") });
        }
        DELEGATION_AUDITED => row.audited = Some(event.seq),
        DELEGATION_OBSERVED => {
            let seen = SeenRow { seq: event.seq, at: event.time.to_owned(), holds: facts["holds"] == true };
            match facts["about"].as_str() {
                Some("outcome") => row.found = Some(seen),
                _ => row.barred = Some(seen),
            }
        }
        DELEGATION_ANSWERED => {
            row.answered = Some(AnsweredRow {
                seq: event.seq,
                at: event.time.to_owned(),
                status: text("status").unwrap_or_default(),
                error_type: text("error_type"),
                retry_allowed: facts["retry_allowed"] == true,
                retry_after: facts["retry_after"].as_u64(),
                doubt: text("doubt"),
                duration_ms: facts["duration_ms"].as_u64().unwrap_or(0),
                audit_lag_ms: facts["audit_lag_ms"].as_u64().unwrap_or(0),
            });
        }
        _ => {}
    }
}

/// Where an instruction is found.
pub fn places(key: &Key, facts: &Value) -> Vec<Place> {
    if key.kind == "delegation_end" {
        // What is left to its requester is listed there too, and told from what is not when somebody looks.
        let row = EndRow::deserialize(facts).ok().filter(|row| !row.of_task && row.resolved.is_none());
        return row.and_then(|row| row.unsettled).map(inbox_place).into_iter().collect();
    }
    if key.kind == "delegation_planned" {
        return PlannedRow::deserialize(facts).map(|row| plan_places(&row)).unwrap_or_default();
    }
    if key.kind != "delegation" {
        return Vec::new();
    }
    let Ok(row) = DelegationRow::deserialize(facts) else { return Vec::new() };
    vec![match row.answered {
        Some(answered) => Place { index: DELEGATION_ANSWERS, at: place(&answered.at, answered.seq) },
        None => Place { index: DELEGATION_OPEN, at: row.received.to_be_bytes().to_vec() },
    }]
}

/// An action of a plan is found by its instruction, whichever try that is, and by what it does; the latest first.
fn plan_places(row: &PlannedRow) -> Vec<Place> {
    let order = (u64::MAX - row.planned).to_be_bytes();
    let at = |name: &str| Place { index: DELEGATION_PLANS, at: [name.as_bytes(), &[0], &order].concat() };
    let deeds = [&row.deed, &row.deed_here].into_iter().flatten().map(|deed| at(deed));
    deeds.chain([at(&first_id(&row.instruction_id))]).collect()
}

/// The actions of plans with an instruction, or that do the same.
pub(super) fn plans(name: &str, limit: usize) -> Range {
    Range::prefix(DELEGATION_PLANS, &[name.as_bytes(), &[0]].concat(), limit)
}

/// Times of the ledger are written alike, so that their texts are in order when they are.
fn place(time: &str, seq: u64) -> Vec<u8> {
    [time.as_bytes(), &[0], &seq.to_be_bytes()].concat()
}

/// The instructions that were answered from a time on.
pub(super) fn answered_since(time: &str, limit: usize) -> Range {
    Range { index: DELEGATION_ANSWERS, from: time.as_bytes().to_vec(), to: None, limit }
}

/// The instructions that have no answer yet.
pub(super) fn open(limit: usize) -> Range {
    Range { index: DELEGATION_OPEN, from: Vec::new(), to: None, limit }
}
