//! The validation request that a promise amounts to, and reading the response to it.

use super::ground;
use super::payload::{ValidationRequest, ValidationResponse};
use super::row::{PromiseRow, promise_key, promise_of};
use super::subject::Subject;
use super::verdict::CriterionStatus;
use crate::deciding::{Need, Observed, Observer, Refusal, Seen};
use crate::work::row::{task_key, task_of};
use countersign_contract::diagnostic::{Code, Source};
use countersign_contract::{Contract, Form, Json, Request, Set, check};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The request, for somebody else to look at every criterion.
pub fn request(row: &PromiseRow, descriptions: &[String]) -> Value {
    let criteria = row.criteria.iter().enumerate();
    let criteria: Vec<Value> = criteria
        .map(|(n, it)| json!({ "id": it.id, "description": descriptions.get(n).map_or("(erased)", String::as_str) }))
        .collect();
    let task = row.of_task.as_ref().map_or(row.id.as_str(), |(_, task)| task.as_str());
    let mut request = json!({ "task_id": task, "validation_type": "code", "acceptance_criteria": criteria });
    if let Some(author) = row.owned_by.as_ref().or(row.authors.last()) {
        request["x_author"] = json!(author);
    }
    request
}

/// The descriptions of the criteria of a promise, from what was seen: they stand with the task, or with the promise.
pub(crate) fn descriptions(row: &PromiseRow, seen: &Seen) -> Vec<String> {
    let event = event_of(row, seen);
    let text = |n: usize| seen.text(event, n).map_or("(erased)".to_owned(), |text| text.inspect(str::to_owned));
    (0..row.criteria.len()).map(text).collect()
}

/// The event that has the descriptions.
pub(crate) fn event_of(row: &PromiseRow, seen: &Seen) -> u64 {
    let task = row.of_task.as_ref().and_then(|(run, task)| task_of(seen.so_far(&task_key(run, task))));
    task.map_or(row.made, |task| task.asked)
}

/// The text of a response and its form.
pub(crate) fn text(response: &Json) -> (Form, String) {
    match response.to_value() {
        Value::String(text) => (Form::of_text(&text), text),
        value => (Form::Json, value.to_string()),
    }
}

/// Checks a response against the request that the promise amounts to.
pub(crate) fn observe(
    observer: &dyn Observer,
    subject: &Subject<'_>,
    response: &Json,
    validator: &str,
    bound: Option<&str>,
) -> Result<Observed, Refusal> {
    let unread = |why: String| Refusal::new(Code::LedgerInconsistent, why, "run `countersign verify`");
    let mut seen = Seen::default();
    // The run, then the task and the promise.
    for _ in 0..3 {
        let needs = subject.needs(&seen);
        observer.look(&mut seen, needs).map_err(unread)?;
    }
    let row = subject.promise(&seen)?;
    let row = promise_of(seen.so_far(&promise_key(&row.promise))).unwrap_or(row);
    let texts = vec![Need::Texts(event_of(&row, &seen))];
    observer.look(&mut seen, texts).map_err(unread)?;
    let asked = request(&row, &descriptions(&row, &seen)).to_string();
    let (outside, checker) = (observer.outside(), observer.checker());
    let source = Source { name: "the request", text: &asked };
    let request = Request { contract: Some(ValidationRequest::NAME), ..Request::alone(source, &outside) };
    let mut others = Set::default();
    others.add_checked(&check(&checker, &request));
    let (form, text) = text(response);
    let source = Source { name: "the response", text: &text };
    let request = Request {
        form: Some(form),
        contract: Some(ValidationResponse::NAME),
        others: &others,
        ..Request::alone(source, &outside)
    };
    let checked = check(&checker, &request);
    let decision = checked.decision;
    if let Some(code) = decision.code {
        let help = "mend what the findings name, and send it again";
        let reason = format!("the response of {validator}: {}", decision.reason);
        let refusal = Refusal::new(code, reason, help);
        let refusal = Refusal { findings: decision.details.diagnostics, ..refusal };
        return Err(match &row.of_task {
            Some((run, _)) => refusal.of_run(run),
            None => refusal,
        });
    }
    let record = checked.records.first().and_then(|record| record.downcast_ref::<ValidationResponse>());
    let by = record.and_then(|it| it.validator_id.as_ref()).map(|by| by.as_str().to_owned());
    let results: BTreeMap<String, &str> = record
        .into_iter()
        .flat_map(|record| record.criteria_results.iter())
        .map(|result| (result.criterion_id.as_str().to_owned(), result.status.as_str()))
        .collect();
    Ok(Observed {
        facts: json!({
            "by": by, "collected": observer.has_collected(), "ground": ground::observe(observer, subject, bound)?,
            "results": results,
        }),
        findings: decision.details.diagnostics,
        ..Observed::default()
    })
}

/// The results that were read from a response.
pub(crate) fn results(facts: &Value) -> BTreeMap<String, CriterionStatus> {
    let read = |(id, status): (&String, &Value)| Some((id.clone(), CriterionStatus::parse(status.as_str()?)?));
    facts["results"].as_object().into_iter().flatten().filter_map(read).collect()
}
