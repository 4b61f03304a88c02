//! Answers as validators give them in the field: which become proper responses, and which are left alone.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use countersign_contract::diagnostic::Source;
use countersign_contract::{Checker, Outside, Request, Set, Settings, check};
use countersign_domain::validation::payload::ValidationRequest;
use countersign_domain::validation::tolerant::repair_answer;
use serde_json::{Value, json};
use std::sync::Arc;

const WORDS: [&str; 2] = ["an empty cart is answered with status 400", "a full cart is answered with status 201"];

/// A request of so many criteria, read as any document is.
fn asked(criteria: usize) -> (Arc<ValidationRequest>, Set) {
    let criteria: Vec<Value> =
        (0..criteria).map(|at| json!({"id": format!("AC-{}", at + 1), "description": WORDS[at]})).collect();
    let text = json!({"task_id": "shop-1", "validation_type": "code", "acceptance_criteria": criteria}).to_string();
    let settings = Settings::default();
    let checker =
        Checker { contracts: countersign_domain::contracts(), foreign: &[], settings: &settings, raised: &[] };
    let checked = check(&checker, &Request::alone(Source { name: "request.json", text: &text }, &Outside::default()));
    let mut set = Set::default();
    set.add_checked(&checked);
    (checked.records[0].clone().downcast().unwrap(), set)
}

/// Repairs an answer to a request of so many criteria (0 for none given), and says what came of it: the verdict, each
/// result, and whether the check allows it then.
fn outcome(criteria: usize, answer: &Value) -> String {
    let now = "2026-02-17T15:00:00Z".parse().ok();
    let given = (criteria > 0).then(|| asked(criteria));
    let request = given.as_ref().map(|(request, _)| &**request);
    let Some((response, done)) = repair_answer(answer, request, now) else { return "left alone".to_owned() };
    assert!(!done.is_empty() && done.iter().all(|it| !it.contains('\n')), "{done:?}");
    assert!(repair_answer(&response, request, now).is_none(), "a second time changes something: {response:#}");
    let text = response.to_string();
    let settings = Settings::default();
    let checker =
        Checker { contracts: countersign_domain::contracts(), foreign: &[], settings: &settings, raised: &[] };
    let outside = Outside::default();
    let alone = Request::alone(Source { name: "response.json", text: &text }, &outside);
    let decision = match &given {
        Some((_, set)) => check(&checker, &Request { others: set, ..alone }).decision,
        None => check(&checker, &alone).decision,
    };
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let results: Vec<String> = response["criteria_results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| format!("{} {} {}", text(&it["criterion_id"]), text(&it["status"]), text(&it["evidence"])))
        .collect();
    format!("{} [{}] {}", text(&response["verdict"]), results.join(", "), decision.code_str())
}

fn hold(rows: Vec<(&str, usize, Value, &str)>) {
    for (name, criteria, answer, expected) in rows {
        assert_eq!(outcome(criteria, &answer), expected, "{name}: {answer}");
    }
}

#[test]
fn a_bare_answer_counts_for_the_one_criterion_there_is() {
    hold(vec![
        (
            "result and reason",
            1,
            json!({"result": "pass", "reason": "cart.rs:41 asserts 400"}),
            "PASS [AC-1 PASS cart.rs:41 asserts 400] OK",
        ),
        (
            "result fail",
            1,
            json!({"result": "fail", "reason": "POST answered 500"}),
            "FAIL [AC-1 FAIL POST answered 500] OK",
        ),
        (
            "status and evidence",
            1,
            json!({"status": "PASSED", "evidence": "cart.rs:41"}),
            "PASS [AC-1 PASS cart.rs:41] OK",
        ),
        (
            "a list of evidence",
            1,
            json!({"status": "ok", "evidence": ["cart.rs:41", "12 tests pass"]}),
            "PASS [AC-1 PASS cart.rs:41; 12 tests pass] OK",
        ),
        (
            "an object of evidence",
            1,
            json!({"status": "failed", "evidence": {"http": 500}}),
            r#"FAIL [AC-1 FAIL {"http":500}] OK"#,
        ),
        (
            "a list of objects",
            1,
            json!({"verdict": "PASS", "evidence": [{"file": "cart.rs", "line": 41}]}),
            r#"PASS [AC-1 PASS {"file":"cart.rs","line":41}] OK"#,
        ),
        (
            "a boolean",
            1,
            json!({"pass": true, "evidence": ["cart.rs:41"], "failures": []}),
            "PASS [AC-1 PASS cart.rs:41] OK",
        ),
        (
            "a boolean and reasons",
            1,
            json!({"passed": false, "reasons": ["500 for {}", "no test"]}),
            "FAIL [AC-1 FAIL 500 for {}; no test] OK",
        ),
        (
            "a boolean as a text",
            1,
            json!({"is_verified": "true", "reasoning": "cart.rs:41 asserts 400"}),
            "PASS [AC-1 PASS cart.rs:41 asserts 400] OK",
        ),
        (
            "a failure",
            1,
            json!({"status": "failure", "details": "no route /checkout"}),
            "FAIL [AC-1 FAIL no route /checkout] OK",
        ),
        (
            "an error",
            1,
            json!({"status": "error", "message": "cargo test did not build"}),
            "FAIL [AC-1 FAIL cargo test did not build] OK",
        ),
        ("skipped", 1, json!({"status": "skipped", "reason": "no staging"}), "BLOCKED [AC-1 SKIP no staging] OK"),
        (
            "blocked",
            1,
            json!({"result": "blocked", "reason": "port 3000 is closed"}),
            "BLOCKED [AC-1 BLOCKED port 3000 is closed] OK",
        ),
        ("bold", 1, json!({"verdict": "**PASS**", "evidence": "cart.rs:41"}), "PASS [AC-1 PASS cart.rs:41] OK"),
        (
            "the task and the criterion named",
            1,
            json!({"task_id": "shop-1", "criterion": "AC-1", "result": "pass", "evidence": "cart.rs:41"}),
            "PASS [AC-1 PASS cart.rs:41] OK",
        ),
        (
            "its own time and validator",
            1,
            json!({"result": "pass", "evidence": "cart.rs:41", "timestamp": "2026-02-17T14:00:00Z", "validator": "v-1"}),
            "PASS [AC-1 PASS cart.rs:41] OK",
        ),
        (
            "empty evidence beside a reason",
            1,
            json!({"result": "pass", "evidence": [], "reason": "cart.rs:41 asserts 400"}),
            "PASS [AC-1 PASS cart.rs:41 asserts 400] OK",
        ),
        (
            "a message that carries it",
            1,
            json!({"type": "message", "recipient": "team-lead", "content": r#"{"result": "pass", "evidence": "cart.rs:41"}"#}),
            "PASS [AC-1 PASS cart.rs:41] OK",
        ),
        (
            "a message with a fence",
            1,
            json!({"content": "```json\n{\"result\": \"pass\", \"evidence\": \"cart.rs:41\"}\n```"}),
            "PASS [AC-1 PASS cart.rs:41] OK",
        ),
        (
            "evidence that shows nothing is for the check",
            1,
            json!({"result": "pass", "reason": "looks good"}),
            "PASS [AC-1 PASS looks good] ACCEPTANCE_FAILED",
        ),
    ]);
}

#[test]
fn a_list_of_results_is_read_whatever_its_members_are_called() {
    let two = "PARTIAL [AC-1 PASS cart.rs:41, AC-2 FAIL answered 500] OK";
    hold(vec![
        (
            "id and result",
            2,
            json!({"task_id": "shop-1", "results": [{"id": "AC-1", "result": "pass", "evidence": "cart.rs:41"}, {"id": "AC-2", "result": "fail", "evidence": "answered 500"}]}),
            two,
        ),
        (
            "no task",
            2,
            json!({"criteria_results": [{"criterion_id": "AC-1", "status": "PASS", "evidence": "cart.rs:41"}, {"criterion_id": "AC-2", "status": "FAIL", "evidence": "answered 500"}]}),
            two,
        ),
        (
            "a list alone",
            2,
            json!([{"id": "AC-1", "status": "pass", "evidence": "cart.rs:41"}, {"id": "AC-2", "status": "fail", "evidence": "answered 500"}]),
            two,
        ),
        (
            "by criterion",
            2,
            json!({"results": {"AC-1": {"status": "pass", "evidence": "cart.rs:41"}, "AC-2": {"status": "fail", "reason": "answered 500"}}}),
            two,
        ),
        (
            "by the words of the criteria",
            2,
            json!({"criteria": [{"criterion": WORDS[0], "status": "pass", "evidence": "cart.rs:41"}, {"criterion": WORDS[1], "status": "fail", "evidence": "answered 500"}]}),
            two,
        ),
        (
            "booleans and feedback",
            2,
            json!({"passed": false, "criteriaResults": [{"name": "AC-1", "passed": true, "feedback": "cart.rs:41"}, {"name": "AC-2", "passed": false, "feedback": "answered 500"}]}),
            two,
        ),
        (
            "an overall word of two",
            2,
            json!({"status": "fail", "results": [{"id": "AC-1", "status": "pass", "evidence": "cart.rs:41"}, {"id": "AC-2", "status": "fail", "evidence": "answered 500"}]}),
            two,
        ),
        (
            "how the run went",
            2,
            json!({"status": "completed", "results": [{"id": "AC-1", "status": "pass", "evidence": "cart.rs:41"}, {"id": "AC-2", "status": "fail", "evidence": "answered 500"}]}),
            two,
        ),
        (
            "evidence and a note",
            1,
            json!({"results": [{"id": "AC-1", "status": "pass", "evidence": "cart.rs:41", "note": "also on main"}]}),
            "PASS [AC-1 PASS cart.rs:41; also on main] OK",
        ),
        (
            "one answer without a name",
            1,
            json!({"results": [{"status": "pass", "evidence": "cart.rs:41"}]}),
            "PASS [AC-1 PASS cart.rs:41] OK",
        ),
        (
            "no request, but all that is needed",
            0,
            json!({"task_id": "shop-1", "results": [{"id": "AC-1", "status": "pass", "evidence": "cart.rs:41"}]}),
            "PASS [AC-1 PASS cart.rs:41] OK",
        ),
        (
            "a verdict that does not follow is for the check",
            1,
            json!({"verdict": "fail", "results": [{"id": "AC-1", "status": "pass", "evidence": "cart.rs:41"}]}),
            "FAIL [AC-1 PASS cart.rs:41] NON_COMPLIANT",
        ),
        (
            "a criterion that was not asked is for the check",
            1,
            json!({"results": [{"id": "AC-9", "status": "pass", "evidence": "cart.rs:41"}]}),
            "PASS [AC-9 PASS cart.rs:41] CORRELATION_MISMATCH",
        ),
    ]);
}

/// The answer takes its form, and the check asks for the evidence by its place.
#[test]
fn a_bare_answer_without_evidence_stays_without() {
    let asked_for = "PASS [AC-1 PASS ?] MISSING_REQUIRED_INPUT";
    hold(vec![
        ("no evidence", 1, json!({"result": "pass"}), asked_for),
        ("empty evidence", 1, json!({"result": "pass", "evidence": []}), asked_for),
        ("blank evidence", 1, json!({"result": "pass", "evidence": " ", "reason": ""}), asked_for),
    ]);
}

#[test]
fn what_would_have_to_be_invented_is_left_alone() {
    let alone = "left alone";
    hold(vec![
        ("no request", 0, json!({"result": "pass", "reason": "cart.rs:41"}), alone),
        ("two criteria", 2, json!({"result": "pass", "reason": "cart.rs:41"}), alone),
        ("two criteria, even to block", 2, json!({"result": "blocked", "reason": "port 3000 is closed"}), alone),
        ("how the run went", 1, json!({"status": "success", "reason": "validation ran"}), alone),
        ("done", 1, json!({"status": "done", "evidence": "cart.rs:41"}), alone),
        ("a word that is not known", 1, json!({"verdict": "WARN", "evidence": "cart.rs:41"}), alone),
        ("both words", 1, json!({"verdict": "PASS | FAIL", "evidence": "cart.rs:41"}), alone),
        ("in part", 1, json!({"verdict": "PARTIAL", "evidence": "cart.rs:41"}), alone),
        ("two words that contradict", 1, json!({"result": "pass", "passed": false, "evidence": "cart.rs:41"}), alone),
        ("another task", 1, json!({"task_id": "shop-2", "result": "pass", "evidence": "cart.rs:41"}), alone),
        ("another criterion", 1, json!({"criterion_id": "AC-2", "result": "pass", "evidence": "cart.rs:41"}), alone),
        (
            "a result without evidence",
            2,
            json!({"results": [{"id": "AC-1", "status": "pass", "evidence": "cart.rs:41"}, {"id": "AC-2", "status": "pass"}]}),
            alone,
        ),
        ("a result without a status", 1, json!({"results": [{"id": "AC-1", "evidence": "cart.rs:41"}]}), alone),
        (
            "results without names",
            2,
            json!({"results": [{"status": "pass", "evidence": "a.rs:1"}, {"status": "pass", "evidence": "b.rs:1"}]}),
            alone,
        ),
        (
            "a name that is nobody's",
            1,
            json!({"results": [{"criterion": "the cart is fast", "status": "pass", "evidence": "cart.rs:41"}]}),
            alone,
        ),
        ("results by a word", 2, json!({"results": {"AC-1": "pass", "AC-2": "pass"}}), alone),
        (
            "an overall word that contradicts",
            1,
            json!({"result": "pass", "results": [{"id": "AC-1", "status": "fail", "evidence": "answered 500"}]}),
            alone,
        ),
        (
            "an overall boolean that contradicts",
            1,
            json!({"passed": false, "results": [{"id": "AC-1", "status": "pass", "evidence": "cart.rs:41"}]}),
            alone,
        ),
        (
            "no task anywhere",
            0,
            json!({"results": [{"id": "AC-1", "status": "pass", "evidence": "cart.rs:41"}]}),
            alone,
        ),
        ("no results", 1, json!({"results": []}), alone),
        ("a message of words", 1, json!({"content": "All criteria pass."}), alone),
        (
            "a key twice in the message",
            1,
            json!({"content": r#"{"result": "fail", "result": "pass", "evidence": "cart.rs:41"}"#}),
            alone,
        ),
        ("a word alone", 1, json!("PASS"), alone),
        ("nothing", 1, json!({}), alone),
        (
            "proper already",
            1,
            json!({"task_id": "shop-1", "verdict": "PASS", "criteria_results": [{"criterion_id": "AC-1", "status": "PASS", "evidence": "cart.rs:41"}], "timestamp": "2026-02-17T14:00:00Z"}),
            alone,
        ),
    ]);
}

#[test]
fn without_a_clock_a_missing_time_is_not_made_up() {
    let (request, _) = asked(1);
    assert_eq!(repair_answer(&json!({"result": "pass", "evidence": "cart.rs:41"}), Some(&request), None), None);
}

#[test]
fn what_was_done_is_said_and_what_is_not_understood_is_kept() {
    let (request, _) = asked(1);
    let answer = json!({"result": "pass", "evidence": ["cart.rs:41"], "reason": "it is asserted", "failures": []});
    let (response, done) = repair_answer(&answer, Some(&request), "2026-02-17T15:00:00Z".parse().ok()).unwrap();
    assert_eq!(
        done,
        [
            "took `task_id` from the request",
            "read `result` as the status PASS of `AC-1`",
            "wrote the evidence for `AC-1` as a text",
            "read `reason` as `reasoning`",
            "set the verdict to PASS, which follows from the one result",
            "set `timestamp` to now, when the answer was taken in",
        ]
    );
    assert_eq!(
        response,
        json!({
            "task_id": "shop-1",
            "verdict": "PASS",
            "criteria_results": [{"criterion_id": "AC-1", "status": "PASS", "evidence": "cart.rs:41"}],
            "reasoning": "it is asserted",
            "timestamp": "2026-02-17T15:00:00Z",
            "failures": []
        })
    );
}
