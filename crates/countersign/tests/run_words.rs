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
    let end = lines.last().unwrap();
    assert_eq!((&end["note"], &end["end"]), (&json!("end"), &json!("waits")));
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
    std::fs::write(&tell, "cat >> $COUNTERSIGN_HOME/told; echo >> $COUNTERSIGN_HOME/told\n").unwrap();
    let tasks = vec![task("T-1", json!({ "retries": 0 })), task("T-2", json!({ "agent": "good" }))];
    let plan = yard.plan(json!({ "coder": yard.agent("exit 5"), "good": yard.honest() }), tasks, json!({}));
    let tell = tell.display().to_string();
    assert_eq!(yard.run(&["run", &plan, "--notify", "sh", &tell]).code, 1);
    let told = std::fs::read_to_string(yard.path("home/told")).unwrap();
    let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((&told[0]["task_id"], &told[0]["run_id"]), (&json!("T-1"), &json!(yard.runs()[0])));
    assert!(told[0]["reason"].as_str().unwrap().contains("exit code 5"), "{told:?}");
    // That nobody could be told is said, and changes nothing else.
    yard.decide(&["run", "cancel", "--reason", "once more"]).ended(0);
    let answer = yard.run(&["run", &plan, "--notify", "no-such-program-anywhere"]);
    answer.says("nobody could be told");
    assert_eq!(answer.code, 1);
}
