//! Answers as validators give them in the field, turned into proper responses.
//!
//! ```text
//! {"result": "pass", "reason": …} ─┐
//! {"results": [{"id": …}]}        ─┼─ repair_answer(+ request, + now) ─▶ validation_response, and what was done
//! {"content": "{…}"}              ─┘
//! ```
//!
//! **Invariant:** nothing is invented. A bare answer counts only for a request of exactly one criterion, and stays
//! without evidence if it has none; in a list, a result without evidence, and anywhere a word that is not known, or two
//! words that contradict each other, leave the answer as it is.
//! **Invariant:** what is not understood is kept, for the check to speak of.

mod doubt;
mod words;

pub use doubt::doubt;

use super::payload::{CriterionId, ValidationRequest, ValidationResponse, ValidationTaskId};
use super::verdict::{CriterionStatus, Verdict};
use countersign_contract::fix::Rung;
use countersign_contract::{Cursor, Form, SIZE_MAX, nfc, parse};
use serde_json::{Map, Value, json};
use words::{status_of, text_of, truth_of, verdict_of};

/// Where the list of results stands.
const RESULTS: &[&str] = &["criteria_results", "criteriaResults", "results", "criteria"];
/// Where a result names its criterion.
const ID: &[&str] = &["criterion_id", "criterionId", "id", "criterion", "name"];
/// Where a result, or a bare answer, says how it came out in a word.
const WORD: &[&str] = &["status", "result", "verdict", "outcome"];
/// Where it says so by a boolean.
const TRUTH: &[&str] = &["passed", "pass", "satisfied", "met", "is_verified"];
/// Where evidence stands.
const EVIDENCE: &[&str] = &["evidence", "proof"];
/// Where a reason stands, which is evidence when nothing else is.
const REASON: &[&str] = &[
    "reason",
    "reasons",
    "rationale",
    "justification",
    "explanation",
    "details",
    "feedback",
    "message",
    "notes",
    "note",
];
/// Where the assessment as a whole stands, beside `reasoning`.
const REASONING: &[&str] = &["reason", "verdict_reason", "overall_reasoning", "rationale", "explanation", "summary"];

/// What `fix` does for a response that repairs alone do not mend.
pub(crate) const RUNG: Rung = Rung {
    name: "read a tolerant form",
    mends: false,
    helps: |decision| !decision.allow,
    climb: |document, climb| match repair_answer(document, None, climb.outside.now) {
        Some((mended, done)) => {
            *document = mended;
            done
        }
        None => Vec::new(),
    },
};

/// Turns a validator's answer into a proper response to `request`, and says what was done. Nothing, if the answer is
/// proper already, or cannot be made so without inventing something.
pub fn repair_answer(
    answer: &Value,
    request: Option<&ValidationRequest>,
    now: Option<jiff::Timestamp>,
) -> Option<(Value, Vec<String>)> {
    let mut done = Vec::new();
    let mut members = opened(answer, &mut done)?;
    let task_id = task_id(&members, request, &mut done)?;
    let (results, verdict) = match take(&mut members, RESULTS) {
        Some((key, list)) => {
            if key != "criteria_results" {
                done.push(format!("read `{key}` as `criteria_results`"));
            }
            let results = listed(&list, request, &mut done)?;
            let verdict = claimed_verdict(&mut members, &results, &mut done)?;
            move_reasoning(&mut members, &mut done);
            (results, verdict)
        }
        None => bare(&mut members, request, &mut done)?,
    };
    if let (false, Some(name)) = (members.contains_key("validator_id"), members.shift_remove("validator")) {
        done.push("read `validator` as `validator_id`".to_owned());
        members.insert("validator_id".to_owned(), name);
    }
    if done.is_empty() {
        return None;
    }
    // A proper response that only lacks its time stays without one. The forms of the field know no time at all; what
    // can be said of such an answer is when it was taken in, which is never too early.
    let timestamp = match members.shift_remove("timestamp") {
        Some(timestamp) => timestamp,
        None => {
            done.push("set `timestamp` to now, when the answer was taken in".to_owned());
            now?.to_string().into()
        }
    };
    members.insert("task_id".to_owned(), task_id.into());
    members.insert("verdict".to_owned(), verdict);
    members.insert("criteria_results".to_owned(), results.into());
    members.insert("timestamp".to_owned(), timestamp);
    Some((in_order(members), done))
}

/// The verdict that follows from the results of a document, if each has a status that is understood.
pub(crate) fn verdict_of_results(document: &Value) -> Option<Verdict> {
    let results = document.get("criteria_results")?.as_array()?;
    let status = |result: &Value| status_of(result.get("status").or_else(|| result.get("result"))?.as_str()?);
    let statuses: Option<Vec<CriterionStatus>> = results.iter().map(status).collect();
    statuses.filter(|statuses| !statuses.is_empty()).map(Verdict::of)
}

/// The members of the answer, taken out of the message that carries it if need be. A list stands for its results.
fn opened(answer: &Value, done: &mut Vec<String>) -> Option<Map<String, Value>> {
    let members = match answer {
        Value::Array(_) => {
            done.push("read the list as `criteria_results`".to_owned());
            return json!({ "criteria_results": answer }).as_object().cloned();
        }
        Value::Object(members) => members,
        _ => return None,
    };
    match members.get("content") {
        Some(Value::String(content)) if !RESULTS.iter().any(|key| members.contains_key(*key)) => {
            let text = content.trim();
            let fenced = text.strip_prefix("```").and_then(|it| it.strip_suffix("```"));
            let text = fenced.and_then(|it| it.split_once('\n')).map_or(text, |(_, inner)| inner);
            // The strict parser, so that a key that is there twice is refused here as everywhere.
            let inner = parse(text, Form::Json, SIZE_MAX).ok()?.root().to_value();
            done.push("took the answer out of its message".to_owned());
            inner.as_object().cloned()
        }
        _ => Some(members.clone()),
    }
}

fn task_id(
    members: &Map<String, Value>,
    request: Option<&ValidationRequest>,
    done: &mut Vec<String>,
) -> Option<String> {
    let asked = request.map(|request| request.task_id.as_str());
    match (members.get("task_id"), asked) {
        (Some(given), asked) => {
            let given = ValidationTaskId::parse(given.as_str()?)?;
            asked.is_none_or(|asked| asked == given.as_str()).then(|| given.to_string())
        }
        (None, Some(asked)) => {
            done.push("took `task_id` from the request".to_owned());
            Some(asked.to_owned())
        }
        (None, None) => None,
    }
}

/// The results of a list, or of an object by criterion.
fn listed(list: &Value, request: Option<&ValidationRequest>, done: &mut Vec<String>) -> Option<Vec<Value>> {
    let entries: Vec<Map<String, Value>> = match list {
        Value::Array(items) => items.iter().map(|item| item.as_object().cloned()).collect::<Option<_>>()?,
        Value::Object(by_id) => {
            done.push("made a list of the results by criterion".to_owned());
            let entry = |(id, entry): (&String, &Value)| {
                let mut entry = entry.as_object()?.clone();
                entry.insert("criterion_id".to_owned(), id.as_str().into());
                Some(entry)
            };
            by_id.iter().map(entry).collect::<Option<_>>()?
        }
        _ => return None,
    };
    // With one question and one answer there is no doubt what was answered.
    let only = request.and_then(only_criterion).filter(|_| entries.len() == 1);
    let results: Option<Vec<Value>> = entries.into_iter().map(|entry| result(entry, request, only, done)).collect();
    results.filter(|results| !results.is_empty())
}

fn result(
    mut entry: Map<String, Value>,
    request: Option<&ValidationRequest>,
    only: Option<&str>,
    done: &mut Vec<String>,
) -> Option<Value> {
    let id = criterion(&mut entry, request, only, done)?;
    let status = outcome(&mut entry, &id, done)?;
    let mut evidence = evidence(&mut entry, &id, done);
    if let Some((key, reason)) = take(&mut entry, REASON)
        && let Some(reason) = text_of(&reason)
    {
        done.push(format!("took `{key}` into the evidence for `{id}`"));
        evidence = Some(match evidence {
            Some(evidence) if evidence != reason => format!("{evidence}; {reason}"),
            _ => reason,
        });
    }
    entry.insert("criterion_id".to_owned(), id.into());
    entry.insert("status".to_owned(), status.as_str().into());
    entry.insert("evidence".to_owned(), evidence?.into());
    Some(Value::Object(entry))
}

/// The criterion that a result answers: named by its id, or by its exact words.
fn criterion(
    entry: &mut Map<String, Value>,
    request: Option<&ValidationRequest>,
    only: Option<&str>,
    done: &mut Vec<String>,
) -> Option<String> {
    let mut named = false;
    for key in ID {
        let Some(Value::String(name)) = entry.get(*key) else { continue };
        named = true;
        if let Some(id) = criterion_named(name, request) {
            if *key != "criterion_id" || id != *name {
                done.push(format!("read `{key}` as the criterion `{id}`"));
                entry.shift_remove(*key);
            }
            return Some(id);
        }
    }
    let only = only.filter(|_| !named)?;
    done.push(format!("took the one answer as that for the one criterion `{only}`"));
    Some(only.to_owned())
}

fn criterion_named(name: &str, request: Option<&ValidationRequest>) -> Option<String> {
    let name = nfc(name.trim());
    let asked = request.map_or(&[][..], |request| &request.acceptance_criteria);
    let by_id = asked.iter().find(|it| it.id.as_str() == name);
    let by_words = || asked.iter().find(|it| it.description.inspect(|words| nfc(words.trim()) == name));
    let found = by_id.or_else(by_words).map(|it| it.id.to_string());
    found.or_else(|| CriterionId::parse(&name).map(|id| id.to_string()))
}

/// How a result or a bare answer came out. Everything that says so must say the same.
fn outcome(entry: &mut Map<String, Value>, id: &str, done: &mut Vec<String>) -> Option<CriterionStatus> {
    let mut found: Option<(CriterionStatus, &str)> = None;
    for key in WORD.iter().chain(TRUTH) {
        let Some(value) = entry.get(*key) else { continue };
        let status = meant(key, value)?;
        if found.is_some_and(|(other, _)| other != status) {
            return None;
        }
        let proper = *key == "status" && value.as_str() == Some(status.as_str());
        if !proper {
            done.push(format!("read `{key}` as the status {status} of `{id}`"));
        }
        found = found.or(Some((status, key)));
        entry.shift_remove(*key);
    }
    found.map(|(status, _)| status)
}

/// What a member of a result says about how it came out, if that is understood.
fn meant(key: &str, value: &Value) -> Option<CriterionStatus> {
    match (TRUTH.contains(&key), truth_of(value)) {
        (true, Some(true)) => Some(CriterionStatus::Pass),
        (true, Some(false)) => Some(CriterionStatus::Fail),
        _ => status_of(value.as_str()?),
    }
}

/// The member of a result that says something else than its status. One that is false agrees with anything but PASS.
pub(crate) fn contradicting(result: Cursor<'_>, status: CriterionStatus) -> Option<&'static str> {
    let disagrees = |key: &str| {
        let said = result.get(key).and_then(|value| meant(key, &value.to_value()));
        let only_not_passed = TRUTH.contains(&key) && status != CriterionStatus::Pass;
        said.is_some_and(|said| said != status && !(only_not_passed && said == CriterionStatus::Fail))
    };
    WORD.iter().chain(TRUTH).copied().find(|key| *key != "status" && disagrees(key))
}

fn evidence(entry: &mut Map<String, Value>, id: &str, done: &mut Vec<String>) -> Option<String> {
    let (key, value) = take(entry, EVIDENCE)?;
    let text = text_of(&value)?;
    if key != "evidence" || !value.is_string() {
        done.push(format!("wrote the evidence for `{id}` as a text"));
    }
    Some(text)
}

/// The verdict of an answer with results. Under its own name it stands as claimed, for the check to judge; a word under
/// another name must agree with what follows from the results.
fn claimed_verdict(members: &mut Map<String, Value>, results: &[Value], done: &mut Vec<String>) -> Option<Value> {
    let follows = verdict_of_results(&json!({ "criteria_results": results }))?;
    if let Some(claimed) = members.shift_remove("verdict") {
        let verdict = verdict_of(claimed.as_str()?)?;
        if claimed.as_str() != Some(verdict.as_str()) {
            done.push(format!("wrote the verdict as {verdict}"));
        }
        return Some(verdict.as_str().into());
    }
    for key in ["result", "status", "outcome", "passed", "pass", "is_verified"] {
        let Some(value) = members.get(key) else { continue };
        let word = value.as_str().and_then(verdict_of);
        let agrees = match (word, truth_of(value)) {
            (Some(Verdict::Fail), _) | (None, Some(false)) => follows != Verdict::Pass,
            (None, Some(true)) => follows == Verdict::Pass,
            (Some(word), _) => follows == word,
            // Something else is meant, such as how the run of the validator went.
            (None, None) => continue,
        };
        if !agrees {
            return None;
        }
        members.shift_remove(key);
    }
    done.push(format!("set the verdict to {follows}, which follows from the results"));
    Some(follows.as_str().into())
}

/// An answer without results, which is one for the only criterion there is.
fn bare(
    members: &mut Map<String, Value>,
    request: Option<&ValidationRequest>,
    done: &mut Vec<String>,
) -> Option<(Vec<Value>, Value)> {
    let id = only_criterion(request?)?;
    if let Some(named) = members.get("criterion_id").or_else(|| members.get("criterion")) {
        let named = criterion_named(named.as_str()?, request)?;
        if named != id {
            return None;
        }
        members.shift_remove("criterion_id");
        members.shift_remove("criterion");
    }
    let status = outcome(members, id, done)?;
    let mut result = json!({ "criterion_id": id, "status": status.as_str() });
    if let Some(evidence) = bare_evidence(members, id, done)
        && let Some(result) = result.as_object_mut()
    {
        result.insert("evidence".to_owned(), evidence.into());
    }
    if let (Some(result), Some(remediation)) = (result.as_object_mut(), members.shift_remove("remediation")) {
        result.insert("remediation".to_owned(), remediation);
    }
    let verdict = Verdict::of([status]);
    done.push(format!("set the verdict to {verdict}, which follows from the one result"));
    Some((vec![result], verdict.as_str().into()))
}

/// The evidence of a bare answer: what it calls so, or else its reason. An answer that has neither becomes a response
/// without evidence, which the check then asks for by its place.
fn bare_evidence(members: &mut Map<String, Value>, id: &str, done: &mut Vec<String>) -> Option<String> {
    if let Some(evidence) = evidence(members, id, done) {
        move_reasoning(members, done);
        return Some(evidence);
    }
    let reason = take(members, REASON).or_else(|| Some(("reasoning", members.get("reasoning")?.clone())));
    let found = reason.and_then(|(key, reason)| Some((key, text_of(&reason)?)));
    match found {
        Some((key, text)) => {
            done.push(format!("read `{key}` as the evidence for `{id}`"));
            Some(text)
        }
        None => {
            done.push(format!("the answer gives no evidence for `{id}`; only its author can add it"));
            None
        }
    }
}

fn move_reasoning(members: &mut Map<String, Value>, done: &mut Vec<String>) {
    if members.contains_key("reasoning") {
        return;
    }
    let Some(key) = REASONING.iter().find(|key| members.get(**key).is_some_and(|it| text_of(it).is_some())) else {
        return;
    };
    if let Some(text) = members.shift_remove(*key).as_ref().and_then(text_of) {
        done.push(format!("read `{key}` as `reasoning`"));
        members.insert("reasoning".to_owned(), text.into());
    }
}

fn only_criterion(request: &ValidationRequest) -> Option<&str> {
    match &*request.acceptance_criteria {
        [only] => Some(only.id.as_str()),
        _ => None,
    }
}

/// Takes out the first member that is there under one of these names.
fn take(members: &mut Map<String, Value>, names: &[&'static str]) -> Option<(&'static str, Value)> {
    names.iter().find_map(|name| members.shift_remove(*name).map(|value| (*name, value)))
}

/// The fields of a response in their order, then what is not one of them.
fn in_order(mut members: Map<String, Value>) -> Value {
    let mut ordered = Map::new();
    for field in ValidationResponse::FIELDS {
        if let Some(value) = members.shift_remove(*field) {
            ordered.insert((*field).to_owned(), value);
        }
    }
    ordered.extend(members);
    Value::Object(ordered)
}
