//! What everything that was seen comes to: the response.

use super::clock::Clock;
use super::kept::kept;
use super::{Job, Seen};
use crate::evidence::{Evidence, Status};
use countersign_contract::redact_value;
use countersign_domain::validation::verdict::{CriterionStatus, Verdict};
use serde_json::{Value, json};

/// How much is said of one criterion, in characters.
const SAYS_MAX: usize = 3_900;
/// What is said of a criterion that nobody has looked at.
const UNDECIDED: &str = "nothing here can decide this: name a check for it, or an agent";

/// One voice on a criterion.
struct Voice {
    status: CriterionStatus,
    says: String,
    remedy: Option<String>,
}

/// The response. Of several voices on a criterion the worst one counts, so that nobody's word covers what was seen.
pub(super) fn settle(
    job: &Job<'_>,
    seen: &Seen,
    answer: Option<Result<Value, String>>,
    stands_on: &str,
    clock: &Clock,
) -> Value {
    let taken = clock.taken();
    let is_late = taken > clock.allowed();
    let results: Vec<Value> = job
        .request
        .acceptance_criteria
        .iter()
        .enumerate()
        .map(|(number, criterion)| {
            let id = criterion.id.as_str();
            let voices = if is_late { vec![late(clock)] } else { voices(number, id, seen, answer.as_ref()) };
            result(id, &voices)
        })
        .collect();
    let statuses = results.iter().filter_map(|it| CriterionStatus::parse(it["status"].as_str()?));
    let verdict = Verdict::of(statuses);
    let answer = answer.and_then(Result::ok);
    let now = jiff::Timestamp::now();
    let mut response = json!({
        "task_id": job.request.task_id,
        "verdict": verdict.as_str(),
        "criteria_results": results,
        "reasoning": reasoning(seen, answer.as_ref(), stands_on),
        "duration_seconds": seconds(taken.as_millis()),
        "timestamp": now.round(jiff::Unit::Second).unwrap_or(now).to_string(),
        "validator_id": job.validator,
    });
    let found = seen.found.iter().map(|(_, evidence)| evidence);
    let mut collected = kept(seen.facts.iter().chain(found));
    for (kind, items) in answer.iter().filter_map(|it| it["evidence_collected"].as_object()).flatten() {
        // What we saw ourselves stands before what was said to us.
        if !collected.contains_key(kind) {
            collected.insert(kind.clone(), items.clone());
        }
    }
    // How sure they were of another verdict says nothing about this one.
    if let Some(answer) =
        answer.as_ref().filter(|it| it["verdict"] == response["verdict"] && it["confidence"].is_number())
    {
        response["confidence"] = answer["confidence"].clone();
    }
    if !collected.is_empty() {
        response["evidence_collected"] = collected.into();
    }
    redact_value(&mut response);
    response
}

fn late(clock: &Clock) -> Voice {
    let says = format!("the request allows {} s, and they were over before an answer", clock.allowed().as_secs());
    Voice { status: CriterionStatus::Blocked, says, remedy: None }
}

/// Everybody who has something to say about a criterion.
fn voices(number: usize, id: &str, seen: &Seen, answer: Option<&Result<Value, String>>) -> Vec<Voice> {
    let found = seen.found.iter().filter(|(at, _)| *at == number).map(|(_, evidence)| checked(evidence));
    let facts = seen.facts.iter().filter(|fact| !fact.passed()).map(fact);
    found.chain(facts).chain(answer.map(|answer| answered(id, answer))).collect()
}

fn checked(evidence: &Evidence) -> Voice {
    let says = format!("{}: {}", evidence.kind, evidence.says);
    let remedy = "make the check hold, and ask for validation again";
    Voice { status: status_of(evidence.status), says, remedy: Some(remedy.to_owned()) }
}

fn fact(evidence: &Evidence) -> Voice {
    let remedy = "bring what is claimed, or claim what is there; then ask for validation again";
    Voice { status: status_of(evidence.status), says: evidence.says.clone(), remedy: Some(remedy.to_owned()) }
}

/// What a validator said of a criterion. One who gave no answer has seen nothing.
fn answered(id: &str, answer: &Result<Value, String>) -> Voice {
    let blocked = |says: String| Voice { status: CriterionStatus::Blocked, says, remedy: None };
    let answer = match answer {
        Ok(answer) => answer,
        Err(why) => return blocked(format!("the validator gave no answer that counts: {why}")),
    };
    let results = answer["criteria_results"].as_array();
    let own = results.and_then(|results| results.iter().find(|it| it["criterion_id"] == id));
    let status = own.and_then(|own| CriterionStatus::parse(own["status"].as_str()?));
    match (own, status) {
        (Some(own), Some(status)) => Voice {
            status,
            says: own["evidence"].as_str().unwrap_or_default().to_owned(),
            remedy: own["remediation"].as_str().filter(|it| !it.trim().is_empty()).map(str::to_owned),
        },
        _ => blocked("the validator did not answer this".to_owned()),
    }
}

fn result(id: &str, voices: &[Voice]) -> Value {
    let order = [CriterionStatus::Fail, CriterionStatus::Blocked, CriterionStatus::Pass, CriterionStatus::Skip];
    let status = order.into_iter().find(|status| voices.iter().any(|voice| voice.status == *status));
    let Some(status) = status else {
        return json!({ "criterion_id": id, "status": CriterionStatus::Skip.as_str(), "evidence": UNDECIDED });
    };
    let heard: Vec<&Voice> = voices.iter().filter(|voice| voice.status == status).collect();
    let mut says: Vec<&str> = heard.iter().map(|voice| voice.says.as_str()).collect();
    says.dedup();
    let says: String = says.join("; ").chars().take(SAYS_MAX).collect();
    let mut result = json!({ "criterion_id": id, "status": status.as_str(), "evidence": says });
    if status == CriterionStatus::Fail {
        let mut remedies: Vec<&str> = heard.iter().filter_map(|voice| voice.remedy.as_deref()).collect();
        remedies.dedup();
        let remedy = remedies.join("; ");
        result["remediation"] = json!(if remedy.is_empty() { "mend what is said to fail" } else { &remedy });
    }
    result
}

fn status_of(status: Status) -> CriterionStatus {
    match status {
        Status::Pass => CriterionStatus::Pass,
        Status::Fail => CriterionStatus::Fail,
        Status::Blocked => CriterionStatus::Blocked,
        Status::Skip => CriterionStatus::Skip,
    }
}

/// What was looked at, what of the request itself was seen to be so, and what the validator says of the whole.
fn reasoning(seen: &Seen, answer: Option<&Value>, stands_on: &str) -> String {
    let mut sentences = vec![stands_on.to_owned()];
    sentences.extend(seen.facts.iter().filter(|fact| fact.passed()).map(|fact| format!("Seen: {}.", fact.says)));
    sentences.extend(answer.and_then(|answer| answer["reasoning"].as_str()).map(str::to_owned));
    sentences.join(" ").chars().take(SAYS_MAX).collect()
}

/// Seconds with three digits behind the point.
fn seconds(millis: u128) -> f64 {
    f64::from(u32::try_from(millis).unwrap_or(u32::MAX)) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use CriterionStatus::{Blocked, Fail, Pass, Skip};

    #[test]
    fn of_several_voices_the_worst_counts() {
        let cases: &[(&[CriterionStatus], CriterionStatus)] = &[
            (&[], Skip),
            (&[Skip], Skip),
            (&[Skip, Pass], Pass),
            (&[Pass, Pass], Pass),
            (&[Pass, Blocked], Blocked),
            (&[Blocked, Fail, Pass], Fail),
            (&[Pass, Fail], Fail),
        ];
        for (statuses, expected) in cases {
            let voice = |status: &CriterionStatus| Voice { status: *status, says: status.to_string(), remedy: None };
            let voices: Vec<Voice> = statuses.iter().map(voice).collect();
            let result = result("AC-1", &voices);
            assert_eq!(result["status"], expected.as_str(), "{statuses:?}");
            assert_eq!(result["remediation"].is_string(), *expected == Fail, "{statuses:?}");
            assert!(statuses.is_empty() || result["evidence"] == expected.as_str(), "{result}");
        }
    }
}
