//! What was found, in the forms in which it is recorded: validation responses, and evidence.

use super::attempt::Attempt;
use super::checking::Found;
use super::work::Claimed;
use crate::evidence::{Evidence, Status};
use countersign_contract::diagnostic::visible;
use countersign_contract::{Form, SIZE_MAX, parse};
use countersign_domain::validation::row::BUILTIN;
use countersign_domain::validation::told::{FLAGS, TEST_EDITS};
use countersign_domain::validation::verdict::{CriterionStatus, Verdict};
use serde_json::{Value, json};

/// How much of a sentence or an output goes into the ledger.
const SAYS_MAX: usize = 3_900;
/// How many lines and letters of how an output ended are told.
const LINES_MAX: usize = 5;
const ENDING_MAX: usize = 300;
/// How many edited tests, and how many things that do not fit together, are told.
const TOLD_MAX: usize = 200;

/// Whether how an output ended is told with what failed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outputs {
    Told,
    LeftOut,
}

/// What the built-in validator answers: what the checks of each criterion come to.
pub(super) fn response(
    attempt: &Attempt<'_>,
    found: &[Found],
    edits: &[String],
    claimed: &Claimed,
    outputs: Outputs,
) -> Value {
    let results: Vec<Value> = (0..attempt.planned.acceptance.len())
        .map(|n| {
            let own = || found.iter().filter(move |(at, _)| *at == n).map(|(_, evidence)| evidence);
            let order = [Status::Fail, Status::Blocked, Status::Pass];
            let status = order.into_iter().find(|status| own().any(|it| it.status == *status));
            let told =
                |it: &Evidence| it.says.clone() + &ending(it).filter(|_| outputs == Outputs::Told).unwrap_or_default();
            let says: Vec<String> = own().filter(|it| Some(it.status) == status).map(told).collect();
            let says = if says.is_empty() {
                "no check decides this; somebody else must say".to_owned()
            } else {
                says.join("; ")
            };
            let mut result = json!({
                "criterion_id": format!("AC-{}", n + 1),
                "status": status_of(status.unwrap_or(Status::Skip)).as_str(),
                "evidence": cut(&says),
            });
            if status == Some(Status::Fail) {
                result["remediation"] = json!("make the check hold, and bring the result again");
            }
            result
        })
        .collect();
    let mut reasoning = format!("Checked on {}.", claimed.bound);
    if !edits.is_empty() {
        reasoning.push_str(&format!(" Files that test were changed: {}.", edits.join(", ")));
    }
    for flag in &claimed.flags {
        reasoning.push_str(&format!(" Note: {flag}."));
    }
    let mut response = answer(attempt, results, BUILTIN, &reasoning);
    for (name, told) in [(TEST_EDITS, edits), (FLAGS, claimed.flags.as_slice())] {
        if !told.is_empty() {
            response[name] = told.iter().take(TOLD_MAX).map(|it| cut(it)).collect();
        }
    }
    response
}

/// How the output of a check ended that does not hold. Who has to mend it sees what was wrong there, and not in a count.
fn ending(evidence: &Evidence) -> Option<String> {
    let output = evidence.output.as_deref().filter(|_| evidence.status == Status::Fail)?;
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(LINES_MAX)..)?.join(" | ");
    let skipped = last.chars().count().saturating_sub(ENDING_MAX);
    let last = visible(&last).chars().skip(skipped).collect::<String>();
    (!last.is_empty()).then(|| format!("; its output ended with: {last}"))
}

/// An answer of somebody who has seen nothing.
pub(super) fn nothing(attempt: &Attempt<'_>, validator: &str, why: &str) -> Value {
    let result = |n: usize| json!({ "criterion_id": format!("AC-{}", n + 1), "status": CriterionStatus::Blocked.as_str(), "evidence": cut(why) });
    answer(attempt, (0..attempt.planned.acceptance.len()).map(result).collect(), validator, why)
}

fn answer(attempt: &Attempt<'_>, results: Vec<Value>, validator: &str, reasoning: &str) -> Value {
    let statuses = results.iter().filter_map(|it| CriterionStatus::parse(it["status"].as_str()?));
    let verdict = Verdict::of(statuses);
    let now = jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_else(|_| jiff::Timestamp::now());
    json!({
        "task_id": attempt.task(), "verdict": verdict.as_str(), "criteria_results": results, "reasoning": cut(reasoning),
        "timestamp": now.to_string(), "validator_id": validator,
    })
}

fn status_of(status: Status) -> CriterionStatus {
    match status {
        Status::Pass => CriterionStatus::Pass,
        Status::Fail => CriterionStatus::Fail,
        Status::Blocked => CriterionStatus::Blocked,
        Status::Skip => CriterionStatus::Skip,
    }
}

/// A response as it was written, in whichever form. One that was erased says nothing.
pub(super) fn written(response: &str) -> Value {
    let document = parse(response, Form::of_text(response), SIZE_MAX);
    document.map(|document| document.root().to_value()).unwrap_or_default()
}

pub(super) fn cut(text: &str) -> String {
    text.chars().take(SAYS_MAX).collect()
}

/// Evidence as it goes into the ledger.
pub(crate) fn shown((n, evidence): &Found) -> Value {
    let mut shown = json!({
        "criterion": format!("AC-{}", n + 1), "kind": evidence.kind.as_str(), "status": status_of(evidence.status).as_str(),
        "says": cut(&evidence.says), "command": evidence.command, "exit_code": evidence.exit_code, "signal": evidence.signal,
        "timed_out": evidence.timed_out.then_some(true), "output": evidence.output, "output_sha256": evidence.output_sha256,
        "took_ms": u64::try_from(evidence.took.as_millis()).unwrap_or(u64::MAX),
    });
    if let Some(counts) = &evidence.counts {
        shown["passed"] = json!(counts.passed);
        shown["failed"] = json!(counts.failed);
        shown["skipped"] = json!(counts.skipped);
    }
    if let Some(file) = &evidence.file {
        shown["path"] = json!(file.path);
        shown["size_bytes"] = json!(file.size_bytes);
        shown["sha256"] = json!(file.sha256);
    }
    if let Some(answer) = &evidence.answer {
        shown["url"] = json!(answer.url);
        shown["status_code"] = json!(answer.status_code);
    }
    if let Some(picture) = evidence.picture.as_ref().and_then(|path| path.file_name()) {
        shown["picture"] = json!(picture.to_string_lossy());
    }
    if let Some(fields) = shown.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    shown
}
