//! Promises and gates through the real binary: what is claimed, what others find, and what a person accepts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;
mod server;
mod shop;
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

#[test]
fn what_does_not_hold_is_accepted_by_a_person_who_was_shown_it() {
    let house = project();
    promised(&house, &[]);
    let early = mark(&house);
    response(&house, ["PASS", "FAIL"]);
    assert_eq!(json_of(&house, &validate("reviewer-1", "reviewer-1"))["verdict"], "PARTIAL");
    let (code, why) = check(&house, &[ID]);
    assert!(code == 2 && why.contains("a person must answer"), "{why}");
    let shown = done(house.run(&["gate", "status", ID])).out;
    for wanted in [
        "2 validated  open: validated as PARTIAL",
        "AC-2  FAIL",
        "to mend it: say in the body",
        "waits for    a person",
    ] {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
    let (token, current) = (house.owner_token(), mark(&house));
    let accept = |failures: &str, more: &[&str]| {
        let accept = ["gate", "accept", ID, "--failures", failures, "--reason", "mended next week", "--format", "json"];
        house.run(&[&accept, more].concat())
    };
    let code = |answer: Answer| {
        assert_eq!(answer.code, 1, "{answer:?}");
        serde_json::from_str::<Value>(&answer.out).unwrap()["code"].as_str().unwrap().to_owned()
    };
    // An agent, with the mark or without, whatever it calls itself.
    for name in ["coder-1", "coder-2", "owner", "person"] {
        assert_eq!(code(accept("AC-2", &["--as", name])), "AUTHORIZATION_MISSING", "{name}");
        assert_eq!(code(accept("AC-2", &["--shown", &current, "--as", name])), "AUTHORIZATION_MISSING", "{name}");
    }
    // What was shown before is not what is accepted now; nor is anything else than what does not hold.
    for stale in [early.as_str(), "0123456789abcdef.29000000", &current.replace('.', ".1")] {
        assert_eq!(code(accept("AC-2", &["--shown", stale, "--token-file", &token])), "INTEGRITY_MISMATCH", "{stale}");
    }
    let as_owner = ["--shown", &current, "--token-file", &token];
    for failures in ["AC-1", "AC-1,AC-2"] {
        assert_eq!(code(accept(failures, &as_owner)), "ACCEPTANCE_FAILED", "{failures}");
    }
    // Where nobody can be asked, the mark must be given, and it is said how to get it.
    let without = accept("AC-2", &["--token-file", &token]);
    assert_eq!(without.code, 2, "{without:?}");
    assert!(without.err.contains(&format!("countersign gate status {ID}")), "{without:?}");
    assert_eq!(check(&house, &[ID]).0, 2);

    done(accept("AC-2", &as_owner));
    assert_eq!(check(&house, &[ID]).0, 0);
    let shown = json_of(&house, &["gate", "status", ID]);
    assert_eq!(shown["accepted"], json!(["AC-2"]));
    assert!(shown["accepted_by"].as_str().unwrap().starts_with("user"), "{shown}");
    // Once.
    assert_eq!(code(accept("AC-2", &as_owner)), "INVALID_TRANSITION");
    assert!(done(house.run(&["log"])).out.contains("accepted"));
}

#[test]
fn a_person_validates_and_judges_and_no_agent_does_so_for_them() {
    let house = project();
    promised(&house, &["--validator", "person", "--judge", "person"]);
    let token = house.owner_token();
    let answer = |verb: &str, more: &[&str], mark: &str| {
        let arguments = [&["gate", verb, ID], more, &["--shown", mark, "--token-file", &token]].concat();
        done(house.run(&arguments))
    };
    response(&house, ["PASS", "PASS"]);
    assert_eq!(refused(&house, &validate("reviewer-1", "person")), "AUTHORIZATION_MISSING");
    let testify = ["gate", "testify", ID, "--pass", "AC-1,AC-2", "--evidence", "I tried both", "--as", "coder-2"];
    assert_eq!(refused(&house, &testify), "AUTHORIZATION_MISSING");
    for wrong in [&["--evidence", "x"][..], &["--pass", "AC-1", "--fail", "AC-1", "--evidence", "x"]] {
        assert_eq!(house.run(&[&["gate", "testify", ID], wrong].concat()).code, 2, "{wrong:?}");
    }
    answer("testify", &["--pass", "AC-1,AC-2", "--evidence", "I paid with an empty cart"], &mark(&house));
    let shown = done(house.run(&["gate", "status", ID])).out;
    assert!(shown.contains("person: PASS, I paid with an empty cart"), "{shown}");
    assert!(shown.contains("3 judged     open: the judge has not spoken yet"), "{shown}");
    let judge = ["gate", "judge", ID, "PASS", "--judge", "judge-1", "--reason", "fine", "--as", "lead"];
    assert_eq!(refused(&house, &judge), "AUTHORIZATION_MISSING");
    let rule = ["gate", "rule", ID, "PASS", "--reason", "fine", "--as", "coder-2"];
    assert_eq!(refused(&house, &rule), "AUTHORIZATION_MISSING");
    assert_eq!(house.run(&["gate", "rule", ID, "UNREACHED", "--reason", "x"]).code, 2);
    answer("rule", &["warn", "--reason", "slow, but right"], &mark(&house));
    assert_eq!(check(&house, &[ID]).0, 0);
    let shown = done(house.run(&["gate", "status", ID])).out;
    assert!(shown.contains("judgement    WARN: slow, but right"), "{shown}");
}

/// Countersign looks at AC-2 itself.
fn looked_at(house: &House, verdict: &str) {
    house.write("tests.sh", TESTS);
    house.write("cart.rs", "the cart");
    let look = ["gate", "validate", ID, "--checks", "checks.yaml", "--as"];
    // The author does not have it looked at, nor does anybody speak for it.
    let answer = house.run(&[&look[..], &["coder-1"]].concat());
    assert!(answer.code == 1 && answer.err.contains("AUTHORIZATION_MISSING"), "{answer:?}");
    assert_eq!(refused(house, &validate("reviewer-1", "builtin")), "AUTHORIZATION_MISSING");
    let answer = done(house.run(&[&look[..], &["reviewer-1"]].concat()));
    assert!(answer.out.contains(verdict), "{answer:?}");
}

#[test]
fn countersign_looks_at_the_commit_that_is_named_or_at_what_lies_here() {
    // Whether the work is committed, what is named, and what the look comes to.
    for (committed, named, wanted) in [
        (false, None, "PASS"),
        (false, Some("HEAD"), "FAIL"),
        (true, None, "PASS"),
        (true, Some("HEAD"), "PASS"),
        (true, Some("HEAD~1"), "FAIL"),
    ] {
        let shop = Shop::idle();
        let house = &shop.house;
        house.write("tests.sh", TESTS);
        house.write("checks.yaml", "AC-1: {test: [sh, tests.sh]}\nAC-2: {file: {path: cart.rs}}\n");
        shop.commit();
        house.write("cart.rs", "the cart");
        if committed {
            shop.commit();
        }
        promised(house, &["--evidence-kind", "test", "file", "--checks", "checks.yaml"]);
        let bound = named.map(|name| shop.git(&["rev-parse", name]));
        let mut look = vec!["gate", "validate", ID, "--checks", "checks.yaml", "--as", "reviewer-1"];
        look.extend(bound.iter().flat_map(|bound| ["--bound", bound]));
        assert_eq!(json_of(house, &look)["verdict"], wanted, "{committed} {named:?}");
        assert_eq!(check(house, &[ID]).0, if wanted == "PASS" { 0 } else { 2 }, "{committed} {named:?}");
        // What was looked at is what counts.
        house.write("cart.rs", "another cart");
        assert_eq!(check(house, &[ID]).0, 2, "{committed} {named:?}");
    }
    let shop = Shop::idle();
    let run = planned(&shop);
    shop.house.write("checks.yaml", "AC-1: {file: {path: cart.rs}}\n");
    let answer = shop.house.run(&["gate", "validate", "T-1", "--run", &run, "--checks", "checks.yaml"]);
    assert!(answer.code == 2 && answer.err.contains("its run carries them out"), "{answer:?}");
}

/// A program that counts its tests, and whether they pass.
const TESTS: &str = "echo 1..1; if [ -f cart.rs ]; then echo ok 1; else echo not ok 1; fi";

#[test]
fn a_criterion_that_asks_for_more_than_a_word_passes_with_what_countersign_saw_itself() {
    let shows =
        |kind: &str, status: &str| json!([{ "criterion": "AC-2", "kind": kind, "status": status, "says": "12 tests" }]);
    for (evidence, checked, wanted) in [
        (None, false, 2),
        (Some(shows("statement", "PASS")), false, 2),
        (Some(shows("test", "FAIL")), false, 2),
        // Whoever validates can write down what they like.
        (Some(shows("test", "PASS")), false, 2),
        (None, true, 0),
        (Some(shows("test", "PASS")), true, 0),
        // What they saw fail counts all the same.
        (Some(shows("test", "FAIL")), true, 2),
    ] {
        let house = project();
        house.write("checks.yaml", "AC-2: {test: [sh, tests.sh]}\n");
        let set_down: &[&str] = if checked { &["--checks", "checks.yaml"] } else { &[] };
        promised(&house, &[&["--evidence-kind", "statement", "test"], set_down].concat());
        response(&house, ["PASS", "PASS"]);
        let mut arguments = validate("reviewer-1", "reviewer-1").to_vec();
        if let Some(evidence) = &evidence {
            house.write("evidence.json", evidence.to_string());
            arguments.extend(["--evidence", "evidence.json"]);
        }
        if checked {
            looked_at(&house, "PARTIAL");
        }
        done(house.run(&arguments));
        assert_eq!(check(&house, &[ID]).0, wanted, "{evidence:?} {checked}");
    }
    let house = project();
    let create = ["promise", "create", "--title", "t", "--criterion", "a", "b", "c", "--evidence-kind"];
    for kinds in [&["test", "file"][..], &["word"]] {
        assert_eq!(house.run(&[&create, kinds].concat()).code, 2, "{kinds:?}");
    }
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

fn validated(shop: &Shop, lease: &str, results: [&str; 2]) {
    response(&shop.house, results);
    let response = shop.house.read("response.json").replace(ID, "T-1");
    shop.house.write(".home/response.json", response);
    let validate =
        ["gate", "validate", "T-1", ".home/response.json", "--validator", "reviewer-1", "--bound", "c0ffee", "--lease"];
    // Nobody carries the run out: then a person speaks there, and no name that somebody gives themselves.
    let answer = shop.house.run(&[&validate[..], &[lease, "--as", "lead"]].concat());
    assert!(answer.code == 1 && answer.err.contains("AUTHORIZATION_MISSING"), "{answer:?}");
    done(shop.house.run(&[&validate[..], &[lease, "--token-file", &shop.house.owner_token()]].concat()));
}

#[test]
fn what_waits_for_a_person_is_answered_with_the_commands_that_the_inbox_prints() {
    let shop = Shop::idle();
    let house = &shop.house;
    assert_eq!(done(house.run(&["inbox"])).out, "nothing waits for a person\n");
    let run = planned(&shop);
    let lease = worked(&shop, &run, CLAUDE);
    assert_eq!(check(house, &["T-1"]).0, 2);
    validated(&shop, &lease, ["PASS", "FAIL"]);

    let inbox = json_of(house, &["inbox"]);
    let item = &inbox["items"][0];
    assert_eq!(
        (&item["asks"], &item["task_id"], &item["failures"]),
        (&json!("acceptance"), &json!("T-1"), &json!(["AC-2"]))
    );
    assert_eq!(json_of(house, &["inbox", "--run", "11111111-2222-4333-8444-555555555555"])["items"], json!([]));
    // Another run is open, and what the inbox prints still means this one.
    done(house.run(&["run", "open", "--objective", "another", "--as", "lead"]));
    let text = done(house.run(&["inbox"])).out;
    let command = text.lines().find_map(|line| line.trim().strip_prefix("answer       countersign ")).unwrap();
    assert!(command.starts_with("gate accept T-1 --failures AC-2 "), "{text}");
    assert!(text.contains("ago") || text.contains("since event"), "{text}");
    let token = house.owner_token();
    let arguments: Vec<&str> = command.split(' ').chain(["--token-file", &token]).collect();
    done(house.run(&arguments));
    assert_eq!(done(house.run(&["inbox"])).out, "nothing waits for a person\n");

    // It goes on where it was: somebody takes it up, and what was validated becomes part of the tree.
    let of_run = ["--run", &run];
    let claim = json_of(house, &[&["task", "claim", "T-1", "--as", "claude-code:2"], &of_run[..]].concat());
    let lease = claim["lease"].to_string();
    let land = |by: &[&str]| {
        let land = ["gate", "land", "T-1", "--bound", "c0ffee", "--lease", &lease];
        house.run(&[&land[..], by, &of_run[..]].concat())
    };
    // Nobody who worked on it says that it is done, nor whoever says that they lead.
    for worker in [CLAUDE, "claude-code:2", "lead"] {
        let answer = land(&["--as", worker]);
        assert!(answer.code == 1 && answer.err.contains("AUTHORIZATION_MISSING"), "{answer:?}");
    }
    let answer = done(land(&["--token-file", &token]));
    assert!(answer.out.contains("done"), "{answer:?}");
    assert_eq!(check(house, &[&["T-1"], &of_run[..]].concat()).0, 0);
}

/// What a person is told at a terminal, who types this.
#[cfg(unix)]
fn at_a_terminal(house: &House, arguments: &[&str], typed: &str) -> (i32, String) {
    let quoted: Vec<String> = arguments.iter().map(|argument| format!("'{argument}'")).collect();
    walkthrough::shell(house, &format!("countersign {}", quoted.join(" ")), &[], Some(typed))
}

#[cfg(unix)]
#[test]
fn the_page_about_gates_is_true() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gates.md");
    let page = std::fs::read_to_string(page).unwrap();
    let played = walkthrough::play(&House::new(), &page, &["coder", "reviewer", "you"]);
    assert!(played >= 12, "{played}");
}

#[cfg(unix)]
#[test]
fn somebody_at_a_terminal_is_shown_what_they_accept_and_asked() {
    let house = project();
    promised(&house, &[]);
    response(&house, ["PASS", "FAIL"]);
    done(house.run(&validate("reviewer-1", "reviewer-1")));
    let accept = ["gate", "accept", ID, "--failures", "AC-2", "--reason", "mended next week"];
    let (code, said) = at_a_terminal(&house, &accept, "n\n");
    assert_eq!(code, 1, "{said}");
    for wanted in ["AC-2  FAIL", "Accept these failures: AC-2? [y/N]", "nothing was done"] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    assert_eq!(check(&house, &[ID]).0, 2);
    // Whoever did the work does not accept it, at a terminal either.
    let (code, said) = at_a_terminal(&house, &[&accept[..], &["--as", "coder-1"]].concat(), "y\n");
    assert!(code == 1 && said.contains("AUTHORIZATION_MISSING"), "{said}");
    let (code, said) = at_a_terminal(&house, &accept, "y\n");
    assert_eq!(code, 0, "{said}");
    assert_eq!(check(&house, &[ID]).0, 0);
}

#[test]
fn a_session_that_wants_to_end_is_told_of_promises_that_it_did_not_keep() {
    let shop = Shop::open();
    let house = &shop.house;
    done(house.run(&["promise", "create", "--title", "t", "--id", ID, "--criterion", "it holds", "--as", CLAUDE]));
    // What is not begun keeps nobody.
    assert_eq!(shop.answer("claude-code", "stop", ""), json!({}));
    done(house.run(&["promise", "start", ID, "--as", CLAUDE]));
    let kept = shop.answer("claude-code", "stop", "");
    assert_eq!(kept["decision"], "block", "{kept}");
    let why = kept["reason"].as_str().unwrap();
    assert!(
        why.contains(ID) && why.contains("gate 1: not said to be met: AC-1") && why.contains("round 1 of 5"),
        "{why}"
    );
    done(house.run(&["promise", "meet", ID, "AC-1", "--evidence", "seen in docs/c.md:1", "--as", CLAUDE]));
    for round in 2..=5 {
        let why = shop.answer("claude-code", "stop", "");
        assert!(why["reason"].as_str().unwrap().contains("gate 2"), "{round}: {why}");
    }
    // In the end it is let go, and the ledger still says that it is not kept.
    let gone = shop.answer("claude-code", "stop", "");
    assert!(gone.get("decision").is_none() && gone.to_string().contains("not kept yet"), "{gone}");
    assert_eq!(check(house, &[ID]).0, 2);
}

#[test]
fn a_worker_whose_result_is_at_the_gates_may_end() {
    let shop = Shop::idle();
    let run = planned(&shop);
    let claim = shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    assert_eq!(shop.answer("claude-code", "stop", "")["decision"], "block");
    shop.ask(CLAUDE, "task.release", json!({ "task_id": "T-1", "lease": claim["lease"], "reason": "begin anew" }));
    worked(&shop, &run, CLAUDE);
    assert_eq!(shop.answer("claude-code", "stop", ""), json!({}));
    assert_eq!(shop.look("lead", "task.show", json!({ "task_id": "T-1" }))["task"]["status"], "in_progress");
}

#[test]
fn a_server_is_asked_the_same_and_knows_by_the_token_who_answers() {
    let house = server::project();
    let server = server::Server::start(&house, &[]);
    let url = format!("http://{}", server.address);
    let tokens = [("coder-1", "orchestrator"), ("reviewer-1", "orchestrator"), ("ann", "reviewer")];
    let tokens = tokens.map(|(actor, role)| server::token(&house, actor, role, None));
    let ask = |token: &str, arguments: &[&str]| {
        house.run_with(arguments, "", &[("COUNTERSIGN_URL", url.as_str()), ("COUNTERSIGN_TOKEN", token)])
    };
    let [coder, reviewer, ann] = &tokens;
    let create = ["promise", "create", "--title", "t", "--id", ID, "--criterion", "it is quick", "it is right"];
    done(ask(coder, &create));
    for criterion in ["AC-1", "AC-2"] {
        done(ask(coder, &["promise", "meet", ID, criterion, "--evidence", "seen in the log of the last night"]));
    }
    response(&house, ["PASS", "FAIL"]);
    let validate = ["gate", "validate", ID, "response.json", "--validator", "reviewer-1"];
    assert!(ask(coder, &validate).err.contains("AUTHORIZATION_MISSING"));
    done(ask(reviewer, &validate));
    assert_eq!(ask(coder, &["gate", "check", ID]).code, 2);
    // Whose promises are meant, only the server could tell.
    let unnamed = ask(coder, &["gate", "check"]);
    assert!(unnamed.code == 2 && unnamed.err.contains("name a task, or a promise"), "{unnamed:?}");
    let shown: Value = serde_json::from_str(&done(ask(ann, &["gate", "status", ID, "--format", "json"])).out).unwrap();
    let accept =
        ["gate", "accept", ID, "--failures", "AC-2", "--reason", "r", "--shown", shown["shown"].as_str().unwrap()];
    for token in [coder, reviewer] {
        let answer = ask(token, &accept);
        assert!(answer.code == 1 && answer.err.contains("AUTHORIZATION_MISSING"), "{answer:?}");
    }
    done(ask(ann, &accept));
    assert_eq!(ask(coder, &["gate", "check", ID]).code, 0);
    assert_eq!(done(ask(ann, &["inbox"])).out, "nothing waits for a person\n");
}

#[test]
fn nobody_carries_a_run_out_from_afar() {
    let house = server::project();
    let server = server::Server::start(&house, &[]);
    let mut lead = server.client(&server::token(&house, "lead", "orchestrator", None));
    let run = lead.ask("run.open", &json!({ "objective": "o" })).answer()["run_id"].clone();
    let said = lead.ask("run.lead", &json!({ "run_id": run, "leads": true }));
    assert_eq!((said.status, &said.json()["code"]), (403, &json!("AUTHORIZATION_MISSING")));
    assert_eq!(lead.ask("run.lead", &json!({ "run_id": run, "leads": false })).status, 200);
}
