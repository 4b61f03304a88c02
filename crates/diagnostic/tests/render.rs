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

fn all_read() -> sarif::Invocation {
    sarif::Invocation { exit_code: 1, notifications: Vec::new() }
}

#[test]
fn sarif_says_what_could_not_be_read() {
    let notifications = vec![sarif::notification("`a b.json` cannot be read", Some("a b.json"))];
    let invocation = sarif::Invocation { exit_code: 3, notifications };
    for (invocation, successful, code, notes) in [(all_read(), true, 1, 0), (invocation, false, 3, 1)] {
        let log = sarif::log(&[], Vec::new(), "0.1.0", invocation);
        let said = &log["runs"][0]["invocations"][0];
        assert_eq!(said["executionSuccessful"], successful);
        assert_eq!(said["exitCode"], code);
        let list = said["toolExecutionNotifications"].as_array().cloned().unwrap_or_default();
        assert_eq!(list.len(), notes);
        for note in list {
            assert_eq!(note["level"], "error");
            assert_eq!(note["message"]["text"], "`a b.json` cannot be read");
            assert_eq!(note["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a%20b.json");
        }
    }
}

#[test]
fn sarif_names_rule_and_region() {
    let rule = sarif::Rule { id: "r", summary: "s", explanation: "e", severity: Severity::Error };
    let log = sarif::log(&[rule], vec![sarif::result(&finding(), source())], "0.1.0", all_read());
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

const HOSTILE: &str = "a\u{1b}]0;x\u{7}\n::error::b\u{9b}31m\u{202e},c.json";

fn acting(text: &str) -> Option<char> {
    text.chars().find(|letter| countersign_diagnostic::acts(*letter) && *letter != '\n')
}

#[test]
fn a_hostile_name_pointer_and_message_act_in_no_format() {
    let mut finding = finding();
    finding.pointer = Pointer::root().key(HOSTILE);
    finding.message = HOSTILE.to_owned();
    finding.help = HOSTILE.to_owned();
    finding.labels[0].text = HOSTILE.to_owned();
    finding.labels[0].pointer = Pointer::root().key(HOSTILE);
    finding.labels[0].span = None;
    let hostile = Decision::from_findings(Details {
        file: HOSTILE.to_owned(),
        contract: Some(HOSTILE.to_owned()),
        version: Some(HOSTILE.to_owned()),
        diagnostics: vec![finding.clone()],
    });
    let source = Source { name: HOSTILE, text: "{\"a\": \"\u{9b}31m\u{1b}\u{202e}\"}" };
    let annotations = github::decision(&hostile, source) + &github::unread(HOSTILE, HOSTILE);
    assert_eq!(annotations.lines().count(), 2, "{annotations}");
    assert!(annotations.lines().all(|line| line.starts_with("::error file=")), "{annotations}");
    let notifications = vec![sarif::notification(HOSTILE, Some(HOSTILE))];
    let invocation = sarif::Invocation { exit_code: 3, notifications };
    let log = sarif::log(&[], vec![sarif::result(&finding, source)], "0.1.0", invocation);
    let shown = [
        text::verdict(&hostile),
        text::diagnostic(&finding, source, text::Look::default()),
        text::diagnostic(&finding, source, text::Look { lines: false, ..text::Look::default() }),
        json::decision(&hostile, source),
        sarif::text(&log),
        annotations,
    ];
    for shown in shown {
        assert_eq!(acting(&shown), None, "{shown}");
    }
    // What is escaped in JSON still means the same.
    let read: serde_json::Value = serde_json::from_str(&json::decision(&hostile, source)).unwrap_or_default();
    assert_eq!(read["details"]["file"], HOSTILE);
}

#[test]
fn a_link_to_a_file_holds_nothing_but_a_url() {
    let look = text::Look { link: Some("file:///home/me/"), ..text::Look::default() };
    let shown = |name| text::diagnostic(&finding(), Source { name, text: TEXT }, look);
    assert!(shown("a\u{1b}\\b c.json").contains("\u{1b}]8;;file:///home/me/a%1B/b%20c.json\u{1b}\\"));
    assert!(shown("/tmp/a.json").contains("\u{1b}]8;;file:///tmp/a.json\u{1b}\\"));
    assert!(!shown("<stdin>").contains('\u{1b}'));
}

#[test]
fn an_arrow_in_a_message_is_not_taken_for_the_place() {
    let mut finding = finding();
    finding.message = "there is no field `-->` \u{F8FF}".to_owned();
    let shown = text::diagnostic(&finding, source(), text::Look::default());
    let mut lines = shown.lines();
    assert_eq!(lines.next(), Some("error[heartbeat-not-below-timeout]: there is no field `-->` ?"));
    assert_eq!(lines.next().map(str::trim), Some("--> assignment.json:4:35 (/task/heartbeat_interval_seconds)"));
}

#[test]
fn without_lines_only_the_place_is_shown() {
    let shown = text::diagnostic(&finding(), source(), text::Look { lines: false, ..text::Look::default() });
    assert!(shown.contains("--> assignment.json:4:35 (/task/heartbeat_interval_seconds)"), "{shown}");
    assert!(shown.contains("the timeout at /task/timeout_seconds (line 3)"), "{shown}");
    assert!(!shown.contains("\"heartbeat_interval_seconds\""), "{shown}");
}
