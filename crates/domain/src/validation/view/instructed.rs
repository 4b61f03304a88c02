//! What waits for a person because of an instruction: one of a plan that they must approve, and one that its requester may not
//! go on with.

use super::inbox::{InboxItem, item};
use crate::deciding::{Key, Moment, Need, Seen};
use crate::delegation::command::{APPROVAL, about, chain};
use crate::delegation::row::{
    DelegationRow, EndRow, PlannedRow, delegation_key, delegation_of, end_key, end_of, planned_key, planned_of,
};
use crate::delegation::view::{NextStep, next, shown};
use crate::mark;
use crate::work::row::{TaskRow, task_of};
use countersign_contract::diagnostic::Code;
use serde_json::Value;

/// How much is told of what an executor or a platform said.
const SAID_MAX: usize = 2000;

/// What must be seen of a task that is an action.
pub(super) fn task_needs(key: &Key, seen: &Seen) -> Vec<Need> {
    let Some(task) = task_of(seen.so_far(key)).filter(|task| task.spec.led) else { return Vec::new() };
    let key = planned_key(&task.run, &task.task);
    let planned = planned_of(seen.so_far(&key));
    let text = planned.as_ref().map(|planned| Need::Texts(planned.planned));
    let tried = planned.and_then(|planned| planned.escalated).map(|id| Need::Entity(delegation_key(&id)));
    text.into_iter().chain(tried).chain([Need::Entity(key)]).collect()
}

/// What must be seen of an instruction that was not answered with success.
pub(super) fn end_needs(key: &Key, seen: &Seen) -> Vec<Need> {
    let mut needs = vec![Need::Entity(key.clone())];
    if let Some(end) = end_of(seen.so_far(key)) {
        needs.extend(end.unsettled.map(Need::Texts));
        needs.extend(chain::needs(seen, &key.id));
        let id = delegation_key(asked_about(&end));
        // What its requester meant to do stands in the instruction.
        if let Some(row) = delegation_of(seen.so_far(&id)) {
            needs.push(Need::Texts(row.received));
            needs.push(Need::Entity(end_key(&row.end)));
        }
        needs.push(Need::Entity(id));
    }
    needs
}

/// The instruction that a person is asked about: the last for an end, or the one that what has a concern in common waits for.
fn asked_about(end: &EndRow) -> &str {
    end.lacking.as_ref().unwrap_or(&end.last)
}

/// A task that is an action, if it is one: with the exact instruction while its approval is asked for.
pub(super) fn approval(task: &TaskRow, seen: &Seen, moment: &Moment) -> Option<InboxItem> {
    let planned: PlannedRow = planned_of(seen.so_far(&planned_key(&task.run, &task.task)))?;
    let mut waits = item(task, None, seen, moment);
    waits.instruction_id = Some(planned.instruction_id.clone());
    let tried = planned.escalated.as_deref().and_then(|id| delegation_of(seen.so_far(&delegation_key(id))));
    waits.doubt = tried.filter(|_| waits.asks == "delegation").and_then(|row| row.doubt().map(str::to_owned));
    let id = &task.task;
    if waits.asks == APPROVAL {
        waits.shown = Some(mark::mark(&shown(&planned, task), moment.now_ms));
        waits.instruction = seen.text(planned.planned, 0).cloned();
        waits.answers =
            ["approve", "refuse"].map(|verb| format!("countersign gate {verb} {id} --reason TEXT")).to_vec().into();
        waits.sha256 = Some(planned.digest);
    }
    Some(waits)
}

/// An instruction that belongs to no plan, if it is for a person to decide how it goes on.
pub(super) fn escalation(key: &Key, seen: &Seen, moment: &Moment) -> Option<InboxItem> {
    let listed: EndRow = end_of(seen.so_far(key))?;
    let row: DelegationRow = delegation_of(seen.so_far(&delegation_key(asked_about(&listed))))?;
    let end = end_of(seen.so_far(&end_key(&row.end)))?;
    // While it is the last for its end, that is where it is asked about.
    if row.end != key.id && end.last == row.instruction_id {
        return None;
    }
    let after = next(&row, &end, chain::wrong(seen, &row), moment.now_ms);
    if after.step != NextStep::Escalate {
        return None;
    }
    let since = listed.unsettled?;
    let response = text_of(seen, since);
    // Of a success that is not there, what was seen is a text and no document.
    let seen_there = || seen.text(since, 0).map(|text| text.inspect(told_whole));
    let told = if response.is_some() { response.as_ref().and_then(said) } else { seen_there() };
    let said = told.map(|said| format!(": {said}")).unwrap_or_default();
    let meant = text_of(seen, row.received).and_then(|it| {
        let meant = it.pointer("/EXPECTED_OUTCOME/FAILURE_HANDLING")?.as_str().map(countersign_contract::show)?;
        Some(format!("; its requester meant then to: {meant}"))
    });
    let id = &row.instruction_id;
    let answer = |decision: &str| format!("countersign delegate --resolve {id} --decision {decision} --reason TEXT");
    let code = if row.lacks { Code::AuthorizationMissing } else { Code::DependencyNotMet };
    Some(InboxItem {
        asks: "delegation".to_owned(),
        run_id: None,
        task_id: None,
        instruction_id: Some(id.clone()),
        instruction: None,
        sha256: None,
        title: format!("{} in {}", row.action, row.repository),
        code: code.as_str().to_owned(),
        reason: format!("{}{said}{}", after.reason, meant.unwrap_or_default()),
        content: None,
        bound: None,
        doubt: row.doubt().map(str::to_owned),
        since: since.into(),
        criteria: Vec::new().into(),
        failures: Vec::new().into(),
        found: Vec::new().into(),
        reasoning: None,
        test_edits: Vec::new().into(),
        flags: Vec::new().into(),
        shown: Some(mark::mark(&about(&row), moment.now_ms)),
        answers: vec![answer("retry"), answer("abandon")].into(),
    })
}

/// The document that an event has.
fn text_of(seen: &Seen, seq: u64) -> Option<Value> {
    seen.text(seq, 0).and_then(|text| text.inspect(|text| serde_json::from_str::<Value>(text).ok()))
}

/// What a response says that is no success.
fn said(response: &Value) -> Option<String> {
    let failure = response["FAILURE_DETAILS"]["ERROR_MESSAGE"].as_str();
    let invalid = response["VALIDATION_ERRORS"][0]["ERROR"].as_str();
    failure.or(invalid).map(told_whole)
}

/// What was said, without its secrets and on one line. A person decides by it, and what matters may stand at its end.
fn told_whole(text: &str) -> String {
    let redacted = countersign_contract::scan::redact(text);
    let shown = countersign_contract::diagnostic::visible(redacted.as_deref().unwrap_or(text)).replace('\n', " ");
    let cut = if shown.chars().count() > SAID_MAX { "…" } else { "" };
    format!("{}{cut}", shown.chars().take(SAID_MAX).collect::<String>())
}
