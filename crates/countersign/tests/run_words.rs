//! What a run says, to people and to programs, and how it ends when it cannot begin.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod run_support;

use run_support::{Yard, task};
use serde_json::{Value, json};

#[test]
fn what_cannot_be_begun_says_why_and_what_to_do() {
    let yard = Yard::new();
    let good = yard.plan(json!({ "coder": yard.honest() }), vec![task("T-1", json!({}))], json!({}));
    let bad = yard.path("bad.json").display().to_string();
    let circle = vec![task("T-1", json!({ "depends_on": ["T-2"] })), task("T-2", json!({ "depends_on": ["T-1"] }))];
    std::fs::copy(yard.plan(json!({ "coder": yard.honest() }), circle, json!({})), &bad).unwrap();
    yard.plan(json!({ "coder": yard.honest() }), vec![task("T-1", json!({}))], json!({}));
    let broken = yard.path("broken.yaml").display().to_string();
    std::fs::write(&broken, "plan: [1.0").unwrap();
    let cases: [(&[&str], i32, &[&str]); 9] = [
        (&["run"], 2, &["name a plan", "--resume"]),
        (&["run", "nowhere.yaml"], 3, &["nowhere.yaml", "no such file"]),
        (&["run", &broken], 1, &["refused"]),
        (&["run", &bad], 1, &["refused", "T-1"]),
        (&["run", &bad, "--dry-run"], 1, &["plan-dependencies-circular"]),
        (&["run", &good, "--dry-run"], 0, &["stage 1", "gate 2     validated by builtin", "gate 3     nobody judges"]),
        (&["run", "--resume"], 1, &["no run is open"]),
        (&["run", "--resume", "4ce0c7b8-64a1-4a2a-8f5d-0d7b4b1f4a11"], 1, &["there is no run 4ce0c7b8"]),
        (&["run", &good, "--concurrency", "0"], 2, &["--concurrency"]),
    ];
    for (arguments, code, says) in cases {
        let answer = yard.run(arguments);
        assert_eq!(answer.code, code, "{arguments:?}: {answer:?}");
        for words in says {
            answer.says(words);
        }
    }
    assert_eq!(yard.runs(), Vec::<String>::new(), "nothing was begun");
    let nowhere = Yard::bare("");
    let plan = nowhere.plan(json!({ "coder": nowhere.honest() }), vec![task("T-1", json!({}))], json!({}));
    let answer = nowhere.run(&["run", &plan]);
    answer.says("there is no project here").says("countersign init");
    assert_eq!(answer.code, 3);
}

#[test]
fn a_run_that_is_over_is_not_gone_on_with() {
    let yard = Yard::new();
    yard.one(json!({ "coder": yard.honest() }), json!({}), json!({})).ended(0);
    let run = yard.runs()[0].clone();
    let head = yard.git(&["rev-parse", "HEAD"]);
    let events = yard.events().len();
    let answer = yard.run(&["run", "--resume", &run]);
    answer.says("is closed; there is nothing to go on with").says("1 of 1 tasks are done");
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!((yard.git(&["rev-parse", "HEAD"]), yard.events().len()), (head, events));
    yard.is_tidy();
    // Whoever looks afterwards is told its name, and what they are told to do works.
    for question in [&["task", "list"][..], &["task", "show", "T-1"], &["gate", "status", "T-1"], &["run", "show"]] {
        let answer = yard.run(question);
        answer.says("no run is open").says(&format!("look at it with `--run {run}`")).ended_with(1);
        yard.run(&[question, &["--run", &run]].concat()).ended_with(0);
    }
    // One without a plan is for those who opened it.
    yard.run(&["run", "open", "--objective", "by hand"]).ended(0);
    let answer = yard.resume();
    answer.says("plan");
    assert_eq!(answer.code, 1, "{answer:?}");
}

#[test]
fn of_several_runs_the_one_that_is_meant_must_be_named() {
    let yard = Yard::new();
    let stuck = json!({ "coder": yard.agent("exit 1") });
    for _ in 0..2 {
        assert_eq!(yard.one(stuck.clone(), json!({ "retries": 0 }), json!({})).code, 1);
    }
    let answer = yard.resume();
    assert_eq!(answer.code, 1, "{answer:?}");
    answer.says("several runs are open").says("countersign run --resume RUN");
    for run in yard.runs() {
        yard.run(&["run", "--resume", &run]).says(&run).says("0 of 1 tasks are done");
    }
}

#[test]
fn every_line_for_programs_is_an_object_and_the_last_is_the_end() {
    let yard = Yard::new();
    let tasks = vec![task("T-1", json!({})), task("T-2", json!({ "retries": 0, "agent": "liar" }))];
    let agents = json!({ "coder": yard.honest(), "liar": yard.agent("echo hm >&2; claim src/T-2") });
    let plan = yard.plan(agents, tasks, json!({}));
    let answer = yard.run(&["run", &plan, "--format", "json"]);
    assert_eq!(answer.code, 1);
    let lines: Vec<Value> = answer.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.first().unwrap()["note"], "run");
    for name in ["begun", "said", "ended", "claimed", "seen", "validated", "landed", "done", "stopped"] {
        assert!(lines.iter().any(|line| line["note"] == name), "{name}: {}", answer.out);
    }
    // What the words say is there by its name, too.
    let find = |name: &str, task: &str| lines.iter().find(|it| it["note"] == name && it["task_id"] == task).unwrap();
    assert_eq!((&find("begun", "T-1")["agent"], &find("begun", "T-1")["attempt"]), (&json!("coder"), &json!(1)));
    assert_eq!((&find("said", "T-2")["line"], &find("claimed", "T-1")["changes"]), (&json!("hm"), &json!(1)));
    assert!(find("ended", "T-1")["took_ms"].is_u64(), "{}", answer.out);
    let seen = find("seen", "T-1");
    assert_eq!((&seen["criterion"], &seen["kind"], &seen["status"]), (&json!("AC-1"), &json!("file"), &json!("PASS")));
    let said = find("validated", "T-1");
    assert_eq!((&said["validator"], &said["verdict"]), (&json!("builtin"), &json!("PASS")));
    assert_eq!(find("landed", "T-1")["commit"], yard.git(&["rev-parse", "HEAD"]).as_str());
    assert_eq!(find("done", "T-1")["assurance"], "verified");
    assert!(find("stopped", "T-2")["reason"].as_str().is_some_and(|it| !it.is_empty()), "{}", answer.out);
    let end = lines.last().unwrap();
    assert_eq!((&end["note"], &end["end"]), (&json!("end"), &json!("waits")));
    assert_eq!(end["go_on"], format!("countersign run --resume {}", yard.runs()[0]).as_str());
    assert_eq!((&end["tasks"][0]["title"], &end["over"]), (&json!("do T-1"), &Value::Null));
    assert!(end["text"].as_str().unwrap().starts_with("1 of 2 tasks are done after "), "{end}");
    let states: Vec<&Value> = end["tasks"].as_array().unwrap().iter().map(|it| &it["status"]).collect();
    assert_eq!(states, ["done", "blocked"]);
    assert!(end["checkpoint"].as_str().unwrap().starts_with("countersign/"), "{end}");
    let dry = yard.run(&["run", &plan, "--dry-run", "--format", "json"]).ended(0);
    let dry: Value = serde_json::from_str(&dry).unwrap();
    assert_eq!(dry["stages"], json!([["T-1", "T-2"]]));
}

#[test]
fn a_run_goes_on_when_nobody_reads_what_it_says() {
    let yard = Yard::new();
    let tasks = vec![task("T-1", json!({})), task("T-2", json!({ "depends_on": ["T-1"] }))];
    let plan = yard.plan(json!({ "coder": yard.honest() }), tasks, json!({}));
    let mut command = yard.command(&["run", &plan]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(yard.landed().len(), 2);
    yard.is_tidy();
}

#[test]
fn somebody_is_told_whenever_a_person_is_asked() {
    let yard = Yard::new();
    let tell = yard.path("tell.sh");
    std::fs::write(
        &tell,
        "cat >> $COUNTERSIGN_HOME/told; echo >> $COUNTERSIGN_HOME/told; echo \"$1\" > $COUNTERSIGN_HOME/whom\n",
    )
    .unwrap();
    let tasks = vec![task("T-1", json!({ "retries": 0 })), task("T-2", json!({ "agent": "good" }))];
    let plan = yard.plan(json!({ "coder": yard.agent("exit 5"), "good": yard.honest() }), tasks, json!({}));
    let tell = tell.display().to_string();
    assert_eq!(yard.run(&["run", "--notify", &format!("sh '{tell}' \"to us\""), &plan]).code, 1);
    let told = std::fs::read_to_string(yard.path("home/told")).unwrap();
    let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((&told[0]["task_id"], &told[0]["run_id"]), (&json!("T-1"), &json!(yard.runs()[0])));
    assert!(told[0]["reason"].as_str().unwrap().contains("exit code 5"), "{told:?}");
    // It is the item of the inbox, with the mark to answer with.
    let asked = yard.asked();
    for name in ["asks", "since", "answers"] {
        assert_eq!(told[0][name], asked[name], "{told:?}");
    }
    assert!(told[0]["shown"].is_string(), "{told:?}");
    assert_eq!(std::fs::read_to_string(yard.path("home/whom")).unwrap(), "to us\n");
    // Whoever goes on tells once of what waits already.
    assert_eq!(yard.run(&["run", "--resume", "--notify", &format!("sh '{tell}' again")]).code, 1);
    let told = std::fs::read_to_string(yard.path("home/told")).unwrap();
    let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!((&told[1]["task_id"], &told[1]["answers"]), (&json!("T-1"), &asked["answers"]));
    for open in ["'", "\"", ""] {
        assert_eq!(yard.run(&["run", "--notify", open, &plan]).code, 2, "{open}");
    }
    // That nobody could be told is said, and changes nothing else.
    yard.decide(&["run", "cancel", "--reason", "once more"]).ended(0);
    let answer = yard.run(&["run", &plan, "--notify", "no-such-program-anywhere"]);
    answer.says("nobody could be told");
    assert_eq!(answer.code, 1);
}

/// A plan as a person writes it, with lists that are empty and comments.
const WRITTEN: &str = r#"plan: "1.0"
objective: Half-even rounding in billing
agents:
  coder: {command: ["python3", "agents/coder.py"]}
  reviewer: {command: ["python3", "agents/reviewer.py"], role: validator}
gates: {validate: builtin, judge: none}      # builtin | agent name | person, one or a list; judge: none | optional | agent name | endpoint
tasks:
  - id: T-1
    title: Round half to even
    agent: coder
    lock_scope: [billing/round.py, tests/test_round.py]
    forbidden_scope: [billing/vendor]
    depends_on: []
    acceptance:
      - text: rounding tests pass
        check: {test: ["python3", "-m", "pytest", "-q", "tests/test_round.py"]}
        pin: [tests/test_round.py]
      - text: no float is left
        check: {file: {path: billing/round.py, not_contains: "float("}}
    timeout: 20m
    heartbeat: 2m
"#;

#[test]
fn a_plan_as_a_person_writes_it_is_checked_and_shown() {
    let yard = Yard::new();
    let plan = yard.path("plan.yaml").display().to_string();
    std::fs::write(&plan, WRITTEN).unwrap();
    yard.write("tests/test_round.py", "import billing\n");
    yard.commit("the test");
    let decision = yard.run(&["check", &plan, "--format", "json"]).ended(0);
    let decision: Value = serde_json::from_str(decision.trim()).unwrap();
    assert_eq!((&decision["allow"], &decision["details"]["diagnostics"]), (&json!(true), &json!([])), "{decision}");
    let dry = yard.run(&["run", &plan, "--dry-run"]);
    dry.says("test python3 -m pytest -q tests/test_round.py\n")
        .says("with tests/test_round.py as before the work\n")
        .says("file billing/round.py: is there, does not contain `float(`\n");
    assert_eq!((dry.code, yard.runs()), (0, vec![]));
    for empty in ["forbidden_scope: [billing/vendor]", "pin: [tests/test_round.py]"] {
        let (name, _) = empty.split_once(':').unwrap();
        std::fs::write(&plan, WRITTEN.replace(empty, &format!("{name}: []"))).unwrap();
        yard.run(&["check", &plan]).ended(0);
        yard.run(&["run", &plan, "--dry-run"]).ended(0);
    }
}

#[test]
fn a_file_that_is_pinned_and_not_there_is_noticed_before_anybody_works() {
    let criterion =
        |pin: &str| json!([{ "text": "the test passes", "check": { "test": ["sh", "tests/t.sh"] }, "pin": pin }]);
    let made = || task("T-2", json!({ "lock_scope": ["tests/new"] }));
    let cases = [
        ("tests/t.sh", json!([]), None),
        ("tests", json!([]), None),
        ("tests/tt.sh", json!([]), Some("write it as git has it")),
        ("tests/loose.sh", json!([]), Some("it lies there and is not committed: commit it first")),
        ("tests/new/a.sh", json!([]), Some("no task that it depends on may make it")),
        ("tests/new/a.sh", json!(["T-2"]), None),
    ];
    for (pin, after, refused) in cases {
        let yard = Yard::at("below");
        yard.write("tests/loose.sh", "exit 0\n");
        let tasks = vec![task("T-1", json!({ "acceptance": criterion(pin), "depends_on": after })), made()];
        let plan = yard.plan(json!({ "coder": yard.honest() }), tasks, json!({}));
        let dry = yard.run(&["run", &plan, "--dry-run"]);
        assert_eq!(dry.code, if refused.is_some() { 3 } else { 0 }, "{pin}: {dry:?}");
        if let Some(words) = refused {
            for answer in [dry, yard.run(&["run", &plan])] {
                answer
                    .says(&format!("criterion AC-1 of T-1 pins `{pin}`, which is not in commit"))
                    .says(words)
                    .ended_with(3);
            }
            assert_eq!(yard.runs(), Vec::<String>::new(), "nothing was begun");
        }
    }
}

#[test]
fn what_is_to_be_done_about_a_refusal_works() {
    let yard = Yard::new();
    // A number in quotes would be as wrong as it is without.
    let plan = yard.plan(json!({ "coder": yard.honest() }), vec![task("T-1", json!({ "timeout": 20 }))], json!({}));
    let answer = yard.run(&["check", &plan]);
    answer
        .says("expected a length of time such as 90s, 20m or 1h30m, found a number")
        .says("help: write a length of time");
    assert!(!format!("{answer:?}").contains("quotes"), "{answer:?}");
    // One that would be right in quotes is still sent there.
    std::fs::write(&plan, std::fs::read_to_string(&plan).unwrap().replace("\"1.0\"", "1.0").replace("20", "\"20m\""))
        .unwrap();
    yard.run(&["check", &plan]).says("put it in quotes: \"1.0\"");
    // Who may not is told whose token does, and an orchestrator's would not.
    assert_eq!(yard.one(json!({ "coder": yard.agent("exit 1") }), json!({ "retries": 0 }), json!({})).code, 1);
    let make = ["token", "make", "--role", "reviewer", "--name", "rita", "--format", "json"];
    let token: Value = serde_json::from_str(&yard.decide(&make).ended(0)).unwrap();
    let file = yard.path("rita.token");
    std::fs::write(&file, token["token"].as_str().unwrap()).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let unblock = ["task", "unblock", "T-1", "--reason", "once more"];
    let answer = yard.run(&[&unblock[..], &["--token-file", &file.display().to_string()]].concat());
    answer.says("is for the role orchestrator").says("or with an owner's token (--token-file)").ended_with(1);
    yard.decide(&unblock).ended_with(0);
}

#[test]
fn what_is_no_result_is_told_by_how_it_begins_and_nothing_is_said_twice() {
    let yard = Yard::new();
    let agents = json!({
        "talker": yard.agent("echo 'I am done: all is fine.'"), "teller": yard.agent("claim src/T-2 | sed s/done/finished/"),
    });
    let tasks =
        vec![task("T-1", json!({ "agent": "talker" })), task("T-2", json!({ "agent": "teller", "retries": 0 }))];
    let answer = yard.run(&["run", &yard.plan(agents, tasks, json!({}))]);
    answer
        .says("what talker wrote to standard output is no result, and begins with `I am done: all is fine.`")
        .says("(`countersign schema subagent_result`)")
        .says("T-2: waits for a person: the result: `finished` is not a known value (/status, help: use one of `done`, `blocked`, `failed`)\n")
        .ended_with(1);
    assert!(!answer.out.contains("(:"), "{}", answer.out);
}

#[test]
fn what_is_in_progress_says_who_has_it() {
    let yard = Yard::new();
    let tasks = vec![task("T-1", json!({ "agent": "pal" }))];
    let mut going = yard.start(&["run", &yard.plan(json!({ "pal": { "peer": true } }), tasks, json!({})), "--no-wait"]);
    going.until("run ");
    yard.run(&["task", "claim", "T-1", "--as", "pal:1a2b3c4d"]).ended(0);
    going.signal("-INT");
    going.end().says("T-1 is in progress: pal:1a2b3c4d has begun it");
}

#[test]
fn a_dry_run_says_what_each_check_asks() {
    let yard = Yard::new();
    let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let file = |more: Value| {
        let mut file = json!({ "path": "src/T-1" });
        for (name, value) in more.as_object().unwrap() {
            file[name] = value.clone();
        }
        json!({ "file": file })
    };
    let cases = [
        (json!({ "command": ["make", "lint"], "timeout": "5m" }), "command make lint, within 5m"),
        (file(json!({})), "file src/T-1: is there"),
        (file(json!({ "exists": false })), "file src/T-1: is not there"),
        (
            file(json!({ "min_size": 1, "max_size": 9, "contains": ["a", "b"], "not_contains": "c" })),
            "file src/T-1: is there, has at least 1 bytes, has at most 9 bytes, contains `a`, contains `b`, does not contain `c`",
        ),
        (file(json!({ "sha256": hash })), &format!("file src/T-1: is there, has the SHA-256 {hash}")),
        (file(json!({ "json_pointer": "/a/0" })), "file src/T-1: is there, has something at /a/0"),
        (file(json!({ "json_pointer": "/a", "equals": { "b": 1 } })), "file src/T-1: is there, has {\"b\":1} at /a"),
        (file(json!({ "equals": [1] })), "file src/T-1: is there, has [1] as a whole"),
        (file(json!({ "json_pointer": "/a", "equals": null })), "file src/T-1: is there, has null at /a"),
        (json!({ "diff": true }), "diff: what changed is what was declared, and lies inside the scope"),
        (json!({ "port": 8000 }), "port 8000: something listens"),
        (json!({ "http": { "url": "http://localhost:8000/x" } }), "http GET http://localhost:8000/x: answers 200"),
        (
            json!({ "http": { "url": "http://localhost/", "method": "post", "status": 404, "contains": "no" } }),
            "http POST http://localhost/: answers 404, contains `no`",
        ),
        (json!({ "page": { "url": "http://localhost/" } }), "page http://localhost/: opens in a browser"),
        (
            json!({ "page": { "url": "http://localhost/", "contains": "total" } }),
            "page http://localhost/: shows `total`",
        ),
        (json!({ "human": "Is it?" }), "a person is asked: Is it?"),
    ];
    let criterion = |(n, (check, _)): (usize, &(Value, &str))| json!({ "text": format!("t{n}"), "check": check });
    let acceptance: Vec<Value> = cases.iter().enumerate().map(criterion).collect();
    let tasks = vec![task("T-1", json!({ "acceptance": acceptance }))];
    let plan = yard.plan(json!({ "coder": yard.honest() }), tasks, json!({}));
    let said = yard.run(&["run", &plan, "--dry-run"]).ended(0);
    let shown = yard.run(&["run", &plan, "--dry-run", "--format", "json"]).ended(0);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    for (n, (_, words)) in cases.iter().enumerate() {
        assert!(said.contains(&format!("AC-{} t{n}\n           {words}\n", n + 1)), "{words}\n{said}");
        let asks = json!({ "id": format!("AC-{}", n + 1), "asks": [words] });
        assert_eq!(shown["tasks"][0]["criteria"][n], asks);
    }
}

#[test]
fn what_is_not_done_says_why() {
    let yard = Yard::new();
    let tasks = vec![
        task("T-1", json!({ "agent": "bad", "retries": 0 })),
        task("T-2", json!({ "depends_on": "T-1" })),
        task("T-3", json!({ "depends_on": ["T-1", "T-2"] })),
        task("T-4", json!({})),
    ];
    let agents = json!({ "coder": yard.honest(), "bad": yard.agent("exit 7") });
    let plan = yard.plan(agents, tasks, json!({}));
    let answer = yard.run(&["run", &plan]);
    answer
        .says("exit code 7")
        .says("  T-2 is todo: it waits for T-1, which is blocked\n")
        .says("  T-3 is todo: it waits for T-1, which is blocked, and for T-2, which is todo\n");
    assert_eq!((answer.code, answer.out.contains("  T-4 is")), (1, false), "{answer:?}");
    yard.decide(&["task", "cancel", "T-1", "--reason", "another task covers it"]).ended(0);
    let owner = yard.events().last().unwrap()["actor"].as_str().unwrap().to_owned();
    let answer = yard.run(&["run", "--resume", "--format", "json"]);
    let end: Value = serde_json::from_str(answer.out.lines().last().unwrap()).unwrap();
    let reasons: Vec<&Value> = end["tasks"].as_array().unwrap().iter().map(|it| &it["reason"]).collect();
    // What can never begin says what can be done about it.
    let never = |task: &str| {
        format!(
            ", and so can never begin; end it with `countersign task cancel {task} --reason TEXT`, or let it depend on others with \
             `countersign task replan {task} --after TASK --reason TEXT`"
        )
    };
    let expected = [
        json!(format!("{owner} canceled it: another task covers it")),
        json!(format!("it waits for T-1, which is canceled{}", never("T-2"))),
        json!(format!("it waits for T-1, which is canceled, and for T-2, which is todo{}", never("T-3"))),
        Value::Null,
    ];
    assert_eq!(end["end"], "stuck");
    assert_eq!(reasons, expected.iter().collect::<Vec<_>>(), "{end}");
    yard.decide(&["run", "cancel", "--reason", "enough"]).ended(0);
    yard.run(&["run", "--resume", &yard.runs()[0]])
        .says(&format!("  T-1 is canceled: {owner} canceled it: another task covers it\n"))
        .says(&format!("  T-2 is canceled: {owner} canceled it: enough\n"));
}

#[test]
fn what_was_not_begun_says_so() {
    let yard = Yard::new();
    let tasks = vec![task("T-1", json!({ "retries": 3, "agent": "bad" })), task("T-2", json!({ "priority": "low" }))];
    let agents = json!({ "coder": yard.honest(), "bad": yard.agent("exit 7") });
    let more = json!({ "budgets": { "attempts": 2 }, "concurrency": 1 });
    let answer = yard.run(&["run", &yard.plan(agents, tasks, more)]);
    answer
        .says("  T-1 is todo: it was begun 2 times without coming to its end, and is to be begun again\n")
        .says("  T-2 is todo: it was not begun\n");
    assert_eq!(answer.code, 1);
}

#[test]
fn all_that_happens_in_a_run_is_of_the_matter_of_its_plan() {
    let yard = Yard::new();
    let agents = || json!({ "coder": yard.honest(), "bad": yard.agent("exit 7") });
    let tasks = || vec![task("T-1", json!({})), task("T-2", json!({ "agent": "bad", "retries": 0 }))];
    let plan = yard.plan(agents(), tasks(), json!({ "matter": "billing" }));
    assert_eq!(yard.run(&["run", &plan]).code, 1);
    // What is refused in the run belongs to it, too.
    yard.run(&["task", "claim", "T-1", "--as", "bob"]).ended(1);
    yard.decide(&["run", "cancel", "--reason", "enough"]).ended(0);
    assert_eq!(yard.run(&["run", &yard.plan(agents(), tasks(), json!({}))]).code, 1);
    let events = yard.events();
    let first = events.iter().find(|it| it["kind"] == "run.opened").unwrap()["run"].clone();
    let (mut own, mut others) = (0, 0);
    for event in &events {
        let (expected, count) = if event["run"] == first { ("billing", &mut own) } else { ("main", &mut others) };
        assert_eq!(event["matter"], expected, "{event}");
        *count += 1;
    }
    assert!(own > 10 && others > 10, "{own} {others}");
    assert!(events.iter().any(|it| it["kind"] == "command.refused" && it["run"] == first), "{events:?}");
    yard.run(&["verify"]).ended(0);
}

#[test]
fn a_script_that_is_not_committed_is_told_before_anything_is_begun() {
    let yard = Yard::new();
    yard.write("agents/coder.sh", "exit 1\n");
    yard.write("agents/made.sh", "exit 1\n");
    let dry = |command: Value, patch: Value| {
        let agents = json!({ "coder": { "command": command } });
        let plan = yard.plan(agents, vec![task("T-1", patch)], json!({}));
        (yard.run(&["run", &plan, "--dry-run"]), yard.run(&["run", &plan, "--no-wait"]))
    };
    for command in
        [json!(["sh", "agents/coder.sh"]), json!(["sh", "-e", "./agents/coder.sh"]), json!(["agents/coder.sh"])]
    {
        let (dry, run) = dry(command, json!({}));
        dry.says("it would not be begun here").ended_with(3);
        for said in [dry, run] {
            said.says("agent coder is started with `agents/coder.sh`, which lies here and is not in commit");
            said.says("commit it first, or give its whole path").ended_with(3);
        }
    }
    assert_eq!(yard.runs(), Vec::<String>::new());
    // What is no file here, what lies elsewhere, and what a task may make are for the agent to find.
    let elsewhere = yard.root().join("agents/coder.sh").display().to_string();
    let made = json!({ "lock_scope": ["agents"], "acceptance": [{ "text": "x", "check": { "file": { "path": "agents/made.sh" } } }] });
    for (command, patch) in [
        (json!(["sh", "agents/none.sh"]), json!({})),
        (json!(["sh", elsewhere]), json!({})),
        (json!(["sh", "agents/made.sh"]), made),
    ] {
        dry(command, patch).0.ended(0);
    }
    yard.commit("the agent");
    dry(json!(["sh", "agents/coder.sh"]), json!({})).0.ended(0);
}
