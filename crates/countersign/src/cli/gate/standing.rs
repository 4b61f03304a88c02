//! How gates stand, as people read it.

use crate::cli::words::{text, texts};
use countersign_contract::{Form, SIZE_MAX, parse};
use countersign_diagnostic::visible;
use serde_json::Value;
use std::fmt::Write;

/// The three gates, in order.
const GATES: [&str; 3] = ["claimed", "validated", "judged"];

/// Whether work may stop: every gate is passed, or nobody asks for it any more.
pub fn may_stop(shown: &Value) -> bool {
    shown["passed"] == true || shown["status"] == "cancelled"
}

/// What it is called where it is asked about: its task, or its own id.
pub fn name(shown: &Value) -> String {
    if shown["task_id"].is_string() { text(shown, "task_id") } else { text(shown, "promise_id") }
}

/// Everything that is known of the gates of a task or a promise. It ends with the mark to answer with.
pub fn said(shown: &Value) -> String {
    let mut out = format!("{}  {}  {}\n", name(shown), text(shown, "status").replace('_', " "), text(shown, "title"));
    for (n, gate) in (1..).zip(GATES) {
        let _ = writeln!(out, "  {n} {gate:<10} {}", passage(shown, n));
    }
    for criterion in shown["criteria"].as_array().into_iter().flatten() {
        out.push_str(&about(shown, criterion));
    }
    let mut field = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(out, "  {name:<12} {value}");
        }
    };
    field("looked at", text(shown, "bound"));
    for verdict in shown["verdicts"].as_array().into_iter().flatten() {
        let [who, what, seq] = ["validator", "verdict", "seq"].map(|name| text(verdict, name));
        field("looked", format!("{who}: {what}, in event {seq}"));
    }
    field("tests edited", texts(shown, "test_edits").join(", "));
    for flag in texts(shown, "flags") {
        field("note", flag);
    }
    field("must look", texts(shown, "unvalidated").join(", "));
    field("judge", Some(text(shown, "judge")).filter(|judge| judge != "none").unwrap_or_default());
    field("judgement", joined(": ", [text(shown, "judgement"), text(shown, "reasoning")]));
    field("accepted", joined(", by ", [texts(shown, "accepted").join(", "), text(shown, "accepted_by")]));
    field("before", text(shown, "last"));
    for (who, result) in last_failures(shown) {
        let [id, status, evidence] = ["criterion_id", "status", "evidence"].map(|name| text(&result, name));
        field("", format!("{id}  {status} by {who}: {evidence}"));
    }
    field(
        "",
        Some(text(shown, "last_reasoning"))
            .filter(|it| !it.is_empty())
            .map_or_else(String::new, |why| format!("the judge: {why}")),
    );
    if shown["waits_for_a_person"] == true {
        field("waits for", "a person".to_owned());
    }
    field("answer with", format!("--shown {}", text(shown, "shown")));
    out
}

/// What did not hold in the attempt before, or could not be looked at, and who said so.
fn last_failures(shown: &Value) -> Vec<(String, Value)> {
    let responses = shown["last_responses"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let responses = responses.filter_map(|response| parse(response, Form::of_text(response), SIZE_MAX).ok());
    let responses = responses.map(|document| document.root().to_value());
    let of = |response: Value| {
        let results = response["criteria_results"].as_array().cloned().unwrap_or_default();
        let failed = results.into_iter().filter(|result| result["status"] != "PASS");
        failed.map(|result| (text(&response, "validator_id"), result)).collect::<Vec<_>>()
    };
    responses.flat_map(of).collect()
}

fn joined(by: &str, parts: [String; 2]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(by)
}

/// How it stands at one gate. Each is looked at only when the one before it is passed.
fn passage(shown: &Value, gate: u64) -> String {
    let nobody_judges = gate == 3 && shown["judge"] == "none";
    match (shown["status"].as_str(), shown["gate"].as_u64()) {
        (Some("cancelled"), _) => "not asked for any more".to_owned(),
        (_, Some(open)) if gate == open && shown["stale"].is_string() => format!("stale: {}", text(shown, "reason")),
        (_, Some(open)) if gate == open => format!("open: {}", text(shown, "reason")),
        _ if nobody_judges => "nobody is named".to_owned(),
        (_, Some(open)) if gate > open => format!("waits for gate {open}"),
        _ => "passed".to_owned(),
    }
}

/// A criterion, with what everybody who looked said about it.
fn about(shown: &Value, criterion: &Value) -> String {
    let [id, description, asks, status] = ["id", "description", "asks", "status"].map(|name| text(criterion, name));
    let status = if status.is_empty() { "not looked at".to_owned() } else { status };
    let asks = if asks == "statement" { String::new() } else { format!("  (asks for evidence: {asks})") };
    let mut out = format!("  {id}  {status}  {description}{asks}\n");
    if criterion["question"].is_string() {
        out.push_str(&format!("        a person is asked: {}\n", text(criterion, "question")));
    }
    for verdict in shown["verdicts"].as_array().into_iter().flatten() {
        let who = text(verdict, "validator");
        for line in evidence(verdict["response"].as_str().unwrap_or_default(), criterion["id"].as_str()) {
            let _ = writeln!(out, "        {who}: {line}");
        }
        if let Some(why) = criterion["id"].as_str().and_then(|id| verdict["why"][id].as_str()) {
            let _ = writeln!(out, "        counts for less: {}", visible(why));
        }
    }
    out
}

/// What a response says about a criterion: the evidence, and what is to be done. It was checked when it was given; one that
/// cannot be read any more, because it was erased, says nothing.
fn evidence(response: &str, criterion: Option<&str>) -> Vec<String> {
    let Ok(document) = parse(response, Form::of_text(response), SIZE_MAX) else { return Vec::new() };
    let response = document.root().to_value();
    let results = ["criteria_results", "results"].into_iter().find_map(|name| response[name].as_array());
    let of_this = |result: &&Value| {
        ["criterion_id", "criterion"]
            .iter()
            .any(|name| result[*name].is_string() && result[*name].as_str() == criterion)
    };
    let line = |result: &Value| {
        let said = |name: &str| result[name].as_str().map(visible).filter(|text| !text.trim().is_empty());
        let status = said("status").unwrap_or_default();
        let evidence = said("evidence").unwrap_or_default();
        let mend = said("remediation").map(|mend| format!("; to mend it: {mend}")).unwrap_or_default();
        format!("{status}, {evidence}{mend}")
    };
    results.into_iter().flatten().filter(of_this).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_gate_says_how_it_stands() {
        let shown = |status: &str, gate: Option<u64>, judge: &str| json!({ "status": status, "gate": gate, "judge": judge, "reason": "why", "passed": gate.is_none() });
        for (it, wanted, stops) in [
            (shown("in_progress", Some(1), "none"), ["open: why", "waits for gate 1", "nobody is named"], false),
            (shown("in_progress", Some(2), "person"), ["passed", "open: why", "waits for gate 2"], false),
            (shown("in_progress", Some(3), "person"), ["passed", "passed", "open: why"], false),
            (shown("verified", None, "person"), ["passed", "passed", "passed"], true),
            (shown("verified", None, "none"), ["passed", "passed", "nobody is named"], true),
            (shown("cancelled", Some(1), "none"), ["not asked for any more"; 3], true),
        ] {
            assert_eq!([1, 2, 3].map(|gate| passage(&it, gate)), wanted, "{it}");
            assert_eq!(may_stop(&it), stops, "{it}");
        }
    }

    #[test]
    fn what_was_said_about_a_criterion_is_found_in_either_kind_of_response() {
        let response = "criteria_results:\n- {criterion_id: AC-1, status: FAIL, evidence: \"a\\u001b[2J\", remediation: b}\n\
                        - {criterion_id: AC-2, status: PASS, evidence: c, remediation: ''}\n";
        assert_eq!(evidence(response, Some("AC-1")), ["FAIL, a\\u{1b}[2J; to mend it: b"]);
        assert_eq!(evidence(response, Some("AC-2")), ["PASS, c"]);
        let testimony =
            r#"{"by": "ann", "results": [{"criterion": "AC-1", "status": "PASS", "evidence": "I saw it"}]}"#;
        assert_eq!(evidence(testimony, Some("AC-1")), ["PASS, I saw it"]);
        for response in ["", "(erased)", "[]", "{\"results\": 1}"] {
            assert!(evidence(response, Some("AC-1")).is_empty(), "{response}");
        }
        assert!(evidence(testimony, None).is_empty());
    }
}
