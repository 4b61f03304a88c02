//! The words that validators use for results, and the texts that they give as evidence.

use crate::validation::verdict::{CriterionStatus, Verdict};
use serde_json::Value;

/// The status that a word stands for. Words that may speak of the validator's own run (`success`, `completed`, `done`)
/// stand for none: that the looking went well does not say what was seen.
pub(super) fn status_of(word: &str) -> Option<CriterionStatus> {
    let word = word.trim_matches(|letter: char| letter.is_whitespace() || "*_.!`".contains(letter));
    let word = word.to_ascii_lowercase().replace(['-', ' '], "_");
    match word.as_str() {
        "pass" | "passed" | "passes" | "ok" | "okay" | "met" | "satisfied" | "verified" => Some(CriterionStatus::Pass),
        "fail" | "failed" | "fails" | "failure" | "error" | "unmet" | "not_met" | "not_satisfied" | "not_verified" => {
            Some(CriterionStatus::Fail)
        }
        "skip" | "skipped" | "not_run" | "not_tested" => Some(CriterionStatus::Skip),
        "blocked" | "block" | "cannot_validate" | "unable_to_validate" => Some(CriterionStatus::Blocked),
        _ => None,
    }
}

/// The verdict that a word stands for.
pub(super) fn verdict_of(word: &str) -> Option<Verdict> {
    match status_of(word) {
        Some(CriterionStatus::Pass) => Some(Verdict::Pass),
        Some(CriterionStatus::Fail) => Some(Verdict::Fail),
        Some(CriterionStatus::Blocked) => Some(Verdict::Blocked),
        Some(CriterionStatus::Skip) => None,
        None => word.trim().eq_ignore_ascii_case("partial").then_some(Verdict::Partial),
    }
}

/// A boolean, also where it was written as a text.
pub(super) fn truth_of(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::String(text) if text.trim().eq_ignore_ascii_case("true") => Some(true),
        Value::String(text) if text.trim().eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// What a value says as one text: a list is joined, an object is written as compact JSON. Nothing, where it says
/// nothing; a bare number or boolean shows nothing.
pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Array(items) => {
            let parts: Vec<String> = items.iter().filter_map(text_of).collect();
            (!parts.is_empty()).then(|| parts.join("; "))
        }
        Value::Object(members) if members.values().any(|member| !is_blank(member)) => Some(value.to_string()),
        _ => None,
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_blank),
        Value::Object(members) => members.values().all(is_blank),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
