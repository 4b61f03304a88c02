//! Promises and gates through the real binary: what is claimed, what others find, and what a person accepts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod doors;
#[path = "../house/mod.rs"]
mod house;
mod looking;
mod people;
#[path = "../server/mod.rs"]
mod server;
#[path = "../shop/mod.rs"]
mod shop;
#[path = "../walkthrough/mod.rs"]
mod walkthrough;

use house::{Answer, House};
use serde_json::{Value, json};
use shop::{CLAUDE, Shop};

const ID: &str = "promise-1a2b3c4d";

fn project() -> House {
    let house = House::new();
    done(house.run(&["init", "--name", "cart"]));
    house
}

fn done(answer: Answer) -> Answer {
    assert_eq!(answer.code, 0, "{answer:?}");
    answer
}

/// The answer of a verb that is asked for JSON.
fn json_of(house: &House, arguments: &[&str]) -> Value {
    let answer = done(house.run(&[arguments, &["--format", "json"]].concat()));
    serde_json::from_str(&answer.out).unwrap()
}

/// The code of a refusal.
fn refused(house: &House, arguments: &[&str]) -> String {
    let answer = house.run(&[arguments, &["--format", "json"]].concat());
    assert_eq!(answer.code, 1, "{answer:?}");
    let refusal: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(refusal["allow"], false);
    for field in ["reason", "help"] {
        assert!(refusal[field].as_str().is_some_and(|text| !text.is_empty()), "{refusal}");
    }
    refusal["code"].as_str().unwrap().to_owned()
}

/// A promise with two criteria, both of which its owner says are met.
fn promised(house: &House, more: &[&str]) {
    let create = [
        "promise",
        "create",
        "--title",
        "Refuse empty carts",
        "--id",
        ID,
        "--as",
        "coder-1",
        "--criterion",
        "an empty cart is answered with status 400",
        "the answer gives a reason",
    ];
    done(house.run(&[&create, more].concat()));
    for criterion in ["AC-1", "AC-2"] {
        meet(house, criterion);
    }
}

fn meet(house: &House, criterion: &str) -> Answer {
    let evidence = format!("tests/cart.rs:4{criterion} sends an empty cart and looks at what comes back");
    done(house.run(&["promise", "meet", ID, criterion, "--evidence", &evidence, "--type", "test", "--as", "coder-1"]))
}

/// A validation response about the promise.
fn response(house: &House, results: [&str; 2]) {
    let result = |(n, status): (usize, &str)| {
        let mend = if status == "FAIL" { "say in the body which field is missing" } else { "" };
        json!({
            "criterion_id": format!("AC-{}", n + 1), "status": status, "remediation": mend,
            "evidence": format!("POST /checkout with {{}} came back as case {n} of the log describes it"),
        })
    };
    let results: Vec<Value> = (0..).zip(results).map(result).collect();
    let all = |status: &str| results.iter().all(|it| it["status"] == status);
    let verdict = if all("PASS") {
        "PASS"
    } else if all("FAIL") {
        "FAIL"
    } else {
        "PARTIAL"
    };
    let document = json!({
        "task_id": ID, "verdict": verdict, "criteria_results": results, "timestamp": "2026-01-05T10:00:00Z",
        "validator_id": "reviewer-1",
    });
    house.write("response.json", document.to_string());
}

fn validate<'a>(by: &'a str, validator: &'a str) -> [&'a str; 8] {
    ["gate", "validate", ID, "response.json", "--validator", validator, "--as", by]
}

/// What a stop hook is told: whether the work may stop, and what was said.
fn check(house: &House, arguments: &[&str]) -> (i32, String) {
    let answer = house.run(&[&["gate", "check"], arguments].concat());
    assert_eq!(answer.out, "", "{answer:?}");
    assert_eq!(answer.err.is_empty(), answer.code == 0, "{answer:?}");
    (answer.code, answer.err)
}

fn mark(house: &House) -> String {
    json_of(house, &["gate", "status", ID])["shown"].as_str().unwrap().to_owned()
}

#[test]
fn a_promise_is_kept_when_somebody_else_saw_that_it_holds() {
    let house = project();
    assert!(done(house.run(&["promise", "list"])).out.contains("there is no promise yet"));
    // Where nothing was promised, nothing keeps anybody.
    assert_eq!(check(&house, &["--as", "coder-1"]).0, 0);
    let answer = json_of(
        &house,
        &["promise", "create", "--title", "t", "--criterion", "it holds", "--as", "coder-1", "--key", "k"],
    );
    assert_eq!((&answer["status"], &answer["repeated"]), (&json!("pending"), &json!(false)));
    let other = answer["promise"].as_str().unwrap();
    promised(&house, &["--validator", "reviewer-1"]);

    let (code, why) = check(&house, &[ID]);
    assert_eq!(code, 2);
    assert!(why.contains("gate 2, not validated yet by reviewer-1"), "{why}");
    let (code, why) = check(&house, &["--as", "coder-1"]);
    assert_eq!((code, why.contains(ID), why.contains(other)), (2, true, false), "{why}");
    assert_eq!(check(&house, &["--as", "coder-2"]).0, 0);

    response(&house, ["PASS", "PASS"]);
    // Neither in the name of whoever did the work, nor by them in another name.
    for (by, validator) in [("coder-1", "reviewer-1"), ("reviewer-1", "coder-1")] {
        assert_eq!(refused(&house, &validate(by, validator)), "AUTHORIZATION_MISSING", "{by} {validator}");
    }
    let answer = json_of(&house, &validate("reviewer-1", "reviewer-1"));
    assert_eq!(answer["verdict"], "PASS");
    assert_eq!(check(&house, &[ID]), (0, String::new()));
    assert_eq!(check(&house, &["--as", "coder-1"]).0, 0);

    let shown = done(house.run(&["gate", "status", ID])).out;
    for wanted in
        ["1 claimed    passed", "2 validated  passed", "AC-1  PASS", "reviewer-1: PASS, POST /checkout", "--shown "]
    {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
    let list = done(house.run(&["promise", "list"])).out;
    assert!(list.contains("verified") && list.contains("2 of 2"), "{list}");
    assert_eq!(done(house.run(&["verify"])).code, 0);
}

#[test]
fn what_was_found_counts_for_the_working_tree_that_was_there() {
    let house = project();
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").current_dir(house.path(""));
        let said =
            command.args(["-c", "user.name=ann", "-c", "user.email=ann@example.org"]).args(arguments).output().unwrap();
        assert!(said.status.success(), "{arguments:?}: {said:?}");
    };
    house.write(".gitignore", ".home\nresponse.json\n").write("src/cart.rs", "fn cart() {}\n");
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "-m", "begin"]);
    promised(&house, &[]);
    response(&house, ["PASS", "FAIL"]);
    done(house.run(&validate("reviewer-1", "reviewer-1")));
    let accept = |mark: &str| {
        let token = house.owner_token();
        let said =
            ["gate", "accept", ID, "--failures", "AC-2", "--reason", "known", "--shown", mark, "--token-file", &token];
        refused(&house, &said)
    };
    assert!(check(&house, &[ID]).1.contains("a person may accept that"));
    house.write("src/cart.rs", "fn cart() -> u16 { 400 }\n");
    let (code, why) = check(&house, &[ID]);
    assert_eq!(code, 2);
    assert!(why.contains("has changed since") && why.contains("src/cart.rs") && why.contains("gate validate"), "{why}");
    let shown = done(house.run(&["gate", "status", ID])).out;
    assert!(shown.contains("2 validated  stale: what was validated has changed since"), "{shown}");
    assert_eq!(accept(&mark(&house)), "INTEGRITY_MISMATCH");
    // What is there now is looked at, and kept; then it is changed once more.
    response(&house, ["PASS", "PASS"]);
    done(house.run(&validate("reviewer-1", "reviewer-1")));
    assert_eq!(check(&house, &[ID]).0, 0);
    git(&["commit", "--quiet", "--all", "-m", "the same, committed"]);
    assert_eq!(check(&house, &[ID]).0, 0);
    // Where the tree cannot be looked at, nobody knows.
    let blind = house.run_with(&["gate", "check", ID], "", &[("PATH", "/nonexistent")]);
    assert!(blind.code == 2 && blind.err.contains("cannot be seen here"), "{blind:?}");
    house.write("src/new.rs", "");
    let (code, why) = check(&house, &[ID]);
    assert!(code == 2 && why.contains("src/new.rs") && why.contains("make another promise"), "{why}");
}

#[test]
fn a_promise_is_shown_as_a_payload_that_passes_the_check() {
    let house = project();
    promised(&house, &["--summary", "The checkout answers an empty cart with status 400 and a reason"]);
    let shown = done(house.run(&["promise", "show", ID])).out;
    let checked = house.run_with(&["check", "-"], &shown, &[]);
    assert_eq!(checked.code, 0, "{checked:?}\n{shown}");
    assert!(shown.starts_with("# nobody else has looked at it yet\n"), "{shown}");
    let document = json_of(&house, &["promise", "show", ID]);
    assert_eq!(document["promise"]["acceptance_criteria"][0]["evidence_type"], "test");
}

#[test]
fn only_its_owner_changes_a_promise_and_what_is_given_up_keeps_nobody() {
    let house = project();
    let create = ["promise", "create", "--title", "t", "--id", ID, "--criterion", "it holds", "--as", "coder-1"];
    done(house.run(&create));
    assert_eq!(refused(&house, &create), "INVALID_TRANSITION");
    let of = |verb, by| ["promise", verb, ID, "--as", by];
    assert_eq!(refused(&house, &of("start", "coder-2")), "AUTHORIZATION_MISSING");
    assert_eq!(json_of(&house, &of("start", "coder-1"))["status"], "in_progress");
    assert!(done(house.run(&of("start", "coder-1"))).out.contains("it was so already"));
    assert_eq!(refused(&house, &of("adopt", "coder-2")), "AUTHORIZATION_MISSING");
    done(house.run(&of("release", "coder-1")));
    done(house.run(&of("adopt", "coder-2")));
    assert_eq!(check(&house, &["--as", "coder-2"]).0, 2);
    let cancel = ["promise", "cancel", ID, "--reason", "not wanted any more", "--as"];
    assert_eq!(refused(&house, &[&cancel[..], &["coder-1"]].concat()), "AUTHORIZATION_MISSING");
    done(house.run(&[&cancel[..], &["coder-2"]].concat()));
    assert_eq!(check(&house, &["--as", "coder-2"]).0, 0);
    assert_eq!(check(&house, &[ID]).0, 0);
    assert!(done(house.run(&["gate", "status", ID])).out.contains("not asked for any more"));
}

#[test]
fn what_cannot_be_told_is_no_leave_to_stop() {
    let house = project();
    for arguments in
        [&["promise-00000000"][..], &["T-1"], &["nonsense"], &["--nonsense"], &[ID, "--ledger", "absent.db"]]
    {
        assert_eq!(check(&house, arguments).0, 2, "{arguments:?}");
    }
    house.write(".countersign/config.toml", "nonsense = [\n");
    assert_eq!(check(&house, &[]).0, 2);
    // Where there is no project nothing was promised; but what is named must be there.
    let nowhere = House::new();
    assert_eq!(check(&nowhere, &[]).0, 0);
    assert_eq!(check(&nowhere, &[ID]).0, 2);
}

/// A run that follows a plan with one task of two criteria, which `reviewer` validates and which is tried once.
fn planned(shop: &Shop) -> String {
    let plan = json!({
        "plan": "1.0", "objective": "o", "gates": { "validate": "reviewer-1" },
        "agents": { "claude-code": { "peer": true }, "reviewer-1": { "peer": true, "role": "validator" } },
        "tasks": [{
            "id": "T-1", "title": "Change one", "agent": "claude-code", "lock_scope": ["src/a"], "retries": 0,
            "acceptance": [{ "text": "it is changed" }, { "text": "it is described" }],
        }],
    });
    shop.ask("lead", "run.start", json!({ "plan": plan }))["run_id"].as_str().unwrap().to_owned()
}

/// Somebody claims the task, does it, and brings its result. Which lease that was.
fn worked(shop: &Shop, run: &str, worker: &str) -> String {
    let claim = shop.ask(worker, "task.claim", json!({ "task_id": "T-1" }));
    shop.house.write("src/a/one.rs", "changed");
    let check =
        |criterion: &str| json!({ "criterion": criterion, "status": "pass", "evidence": "seen in src/a/one.rs:1" });
    let result = house::document(
        "subagent_result",
        json!({
            "run_id": run, "task_id": "T-1", "worklog_path": "worklogs/T-1.jsonl",
            "changes": [{ "resource": "src/a/one.rs", "action": "edit", "evidence": "it is there" }],
            "acceptance_check": [check("it is changed"), check("it is described")],
        }),
    );
    shop.ask(worker, "task.submit", json!({ "lease": claim["lease"], "result": result }));
    claim["lease"].to_string()
}

#[cfg(unix)]
#[test]
fn the_page_about_gates_is_true() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gates.md");
    let page = std::fs::read_to_string(page).unwrap();
    let played = walkthrough::play(&House::new(), &page, &["coder", "reviewer", "you"]);
    assert!(played >= 12, "{played}");
}
