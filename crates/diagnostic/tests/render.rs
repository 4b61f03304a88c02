//! What people and machines see, to the letter.

use countersign_diagnostic::render::{github, json, sarif, text};
use countersign_diagnostic::{Code, Decision, Details, Diagnostic, Pointer, Repair, Severity, Source};

const TEXT: &str = r#"{
  "task": {
    "timeout_seconds": 60,
    "heartbeat_interval_seconds": 90
  }
}
"#;

fn source() -> Source<'static> {
    Source { name: "assignment.json", text: TEXT }
}

fn finding() -> Diagnostic {
    let at = TEXT.find("90").unwrap_or_default();
    let timeout = TEXT.find("60").unwrap_or_default();
    let mut finding = Diagnostic {
        rule: "heartbeat-not-below-timeout",
        code: Code::SchemaInvalid,
        severity: Severity::Error,
        message: "the heartbeat of 90 s is not below the timeout of 60 s".to_owned(),
        help: "send heartbeats at most every 30 s".to_owned(),
        pointer: Pointer::at("/task/heartbeat_interval_seconds"),
        span: Some(at..at + 2),
        labels: Vec::new(),
        repair: None,
    };
    finding.label(Pointer::at("/task/timeout_seconds"), "the timeout");
    finding.labels[0].span = Some(timeout..timeout + 2);
    finding.repair(Repair::replace(Pointer::at("/task/heartbeat_interval_seconds"), 30, "write 30"));
    finding
}

fn decision() -> Decision {
    Decision::from_findings(Details {
        file: "assignment.json".to_owned(),
        contract: Some("assignment".to_owned()),
        version: Some("1.0.0".to_owned()),
        diagnostics: vec![finding()],
    })
}

#[test]
fn text_looks_like_a_compiler() {
    insta::assert_snapshot!(text::diagnostic(&finding(), source(), text::Look::default()));
    insta::assert_snapshot!(text::verdict(&decision()), @"refused: SCHEMA_INVALID assignment.json (assignment 1.0.0): 1 error");
}

#[test]
fn json_is_one_line() {
    let line = json::decision(&decision(), source());
    assert!(!line.contains('\n'));
    insta::assert_snapshot!(line);
}

#[test]
fn github_annotates_the_line() {
    insta::assert_snapshot!(github::decision(&decision(), source()));
}

#[test]
fn sarif_names_rule_and_region() {
    let rule = sarif::Rule { id: "r", summary: "s", explanation: "e", severity: Severity::Error };
    let log = sarif::log(&[rule], vec![sarif::result(&finding(), source())], "0.1.0");
    insta::assert_snapshot!(serde_json::to_string_pretty(&log).unwrap_or_default());
}

/// A document on one endless line, a place beyond the end, and control characters in every text.
#[test]
fn hostile_documents_are_shown_in_little_space_and_without_escape_codes() {
    let long = format!("{{\"a\": \"{}\u{1b}[31m\", \"b\": 1}}", "x".repeat(1_000_000));
    let mut finding = finding();
    for span in [5..6, 900_000..900_001, 1_000_020..1_000_021, 0..long.len(), long.len()..long.len() + 9] {
        finding.span = Some(span);
        finding.pointer = Pointer::root().key("\u{1b}]0;title\u{7}");
        let shown = text::diagnostic(&finding, Source { name: "\u{1b}.json", text: &long }, text::Look::default());
        assert!(shown.len() < 20_000, "{} bytes", shown.len());
        assert!(!shown.contains('\u{1b}'), "{shown}");
    }
}
