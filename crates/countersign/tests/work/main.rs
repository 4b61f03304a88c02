//! Runs, tasks, locks and tokens, through the binary; the main story also on PostgreSQL.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

#[path = "../house/mod.rs"]
mod house;
#[path = "../readme/mod.rs"]
mod readme;
mod watching;

use countersign_engine::{Call, Engine, Nowhere};
use countersign_ledger::conformance::postgres_server;
use countersign_ledger::{Clock, Hash, Sqlite};
use house::{Answer, House, document};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// A house in which work goes on.
struct Work(House);

impl Work {
    fn begun() -> Self {
        let work = Self(House::new());
        assert_eq!(work.0.run(&["init", "--name", "billing"]).code, 0);
        work
    }

    fn with_run() -> (Self, String) {
        let work = Self::begun();
        let run = work.open("round money");
        (work, run)
    }

    fn open(&self, objective: &str) -> String {
        self.done("lead", &["run", "open", "--objective", objective])["run_id"].as_str().unwrap().to_owned()
    }

    fn add(&self, task: &str, scope: &str, more: &[&str]) {
        let flags = ["task", "add", task, "--title", "Round", "--lock", scope, "--accept", "it rounds"];
        self.done("lead", &[&flags[..], more].concat());
    }

    /// Asks in somebody's name, and reads the answer.
    fn ask(&self, actor: &str, arguments: &[&str]) -> (i32, Value) {
        let answer = self.0.run(&[arguments, &["--as", actor, "--format", "json"]].concat());
        let value = serde_json::from_str(&answer.out).unwrap_or_else(|_| json!({ "err": answer.err }));
        (answer.code, value)
    }

    fn done(&self, actor: &str, arguments: &[&str]) -> Value {
        let (code, answer) = self.ask(actor, arguments);
        assert_eq!(code, 0, "{arguments:?}: {answer}");
        answer
    }

    /// The same where the answer is no: its code, and what was said.
    fn refused(&self, actor: &str, arguments: &[&str]) -> (String, String) {
        let (code, answer) = self.ask(actor, arguments);
        assert_eq!((code, &answer["allow"]), (1, &json!(false)), "{arguments:?}: {answer}");
        for field in ["reason", "help"] {
            assert!(answer[field].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
        }
        assert!(answer["details"]["findings"].is_array(), "{answer}");
        (answer["code"].as_str().unwrap().to_owned(), answer["reason"].as_str().unwrap().to_owned())
    }

    /// What is said to people.
    fn says(&self, actor: &str, arguments: &[&str]) -> String {
        let answer = self.0.run(&[arguments, &["--as", actor]].concat());
        assert_eq!(answer.code, 0, "{arguments:?}: {answer:?}");
        answer.out
    }

    fn result(&self, name: &str, run: &str, task: &str, file: &str) {
        let result = document(
            "subagent_result",
            json!({
                "run_id": run, "task_id": task, "worklog_path": format!("worklogs/{task}.jsonl"),
                "changes": [{ "resource": file, "action": "edit", "evidence": "it is there" }],
                "acceptance_check": [{ "criterion": "it rounds", "status": "pass", "evidence": "12 tests pass" }],
            }),
        );
        self.0.write(name, result.to_string());
    }

    fn log(&self, actor: &str, task: &str) {
        let flags = ["--action", "edit", "--decision", "decimals", "--result", "tests pass", "--next", "submit"];
        self.done(actor, &[&["worklog", "add", task][..], &flags].concat());
    }

    /// Lets every lease lapse, as if its worker had been silent for long.
    fn silence(&self) {
        silence(&self.0.path(".countersign/ledger.db"));
    }

    fn status(&self, task: &str) -> String {
        self.done("lead", &["task", "show", task])["task"]["status"].as_str().unwrap().to_owned()
    }
}

fn silence(ledger: &Path) {
    let file = rusqlite::Connection::open(ledger).unwrap();
    file.execute_batch(
        "UPDATE liveness SET beat = 1, deadline = 2 WHERE name LIKE '%/%'; UPDATE due SET deadline = 2;",
    )
    .unwrap();
}

#[test]
fn a_run_goes_from_its_first_task_to_its_end_in_a_file() {
    story(&Work::begun());
}

#[test]
fn a_run_goes_from_its_first_task_to_its_end_in_a_database() {
    let server = postgres_server::shared();
    let work = Work(House::new());
    let answer = work.0.run(&["--ledger", &server.url(), "init", "--name", "billing"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    story(&work);
}

fn story(work: &Work) {
    let run = work.open("round money");
    work.add("T-1", "src/money", &[]);
    work.add("T-2", "src/money/tax.rs", &["--priority", "high"]);
    work.add("T-3", "docs", &["--after", "T-1"]);
    work.add("T-4", "web", &[]);
    assert_eq!(work.done("coder-1", &["task", "next"])["task"]["task_id"], "T-2");

    // Two workers; the scope of one collides with what the other holds.
    let first = work.done("coder-1", &["task", "claim", "T-1"]);
    assert_eq!((&first["status"], &first["owner"]), (&json!("in_progress"), &json!("coder-1")));
    let (code, reason) = work.refused("coder-2", &["task", "claim", "T-2"]);
    let until = &first["expires_at"].as_str().unwrap()[..16];
    assert!(code == "LOCK_CONFLICT" && reason.contains("T-1 of coder-1") && reason.contains(until), "{reason}");
    let (code, reason) = work.refused("coder-2", &["task", "claim", "T-1"]);
    assert!(code == "CONCURRENCY_CONFLICT" && reason.contains("coder-1"), "{reason}");
    assert_eq!(work.done("coder-2", &["task", "claim"])["task_id"], "T-4", "the best that is free");
    let (code, may) = work.ask("coder-2", &["lock", "may", "src/money/round.rs"]);
    assert_eq!((code, &may["code"], &may["holder"]), (1, &json!("LOCK_CONFLICT"), &json!("coder-1")));
    assert_eq!(work.done("coder-1", &["lock", "may", "src/money/round.rs"])["allowed"], true);
    assert_eq!(work.done("coder-2", &["lock", "who", "src"])["holders"][0]["task_id"], "T-1");
    assert_eq!(work.done("lead", &["lock", "list"])["locks"].as_array().unwrap().len(), 2);
    assert_eq!(work.done("coder-2", &["lock", "mine"])["locks"][0]["path"], "web");
    assert!(work.done("coder-1", &["task", "heartbeat", "T-1"])["expires_at"].is_string());

    // A result completes its task, by its worker's word, and what waited for it is ready.
    assert_eq!(work.refused("coder-2", &["task", "claim", "T-3"]).0, "DEPENDENCY_NOT_MET");
    work.log("coder-1", "T-1");
    work.result("1.json", &run, "T-1", "src/money/round.rs");
    assert_eq!(work.refused("coder-2", &["task", "submit", "1.json"]).0, "CONCURRENCY_CONFLICT");
    assert!(work.says("coder-1", &["task", "submit", "1.json"]).starts_with("T-1: done (claimed)"));
    for shown in
        [&["task", "list"][..], &["task", "graph"], &["task", "show", "T-1"], &["watch", "--once"], &["run", "list"]]
    {
        assert!(work.says("lead", shown).contains("done (claimed)"), "{shown:?}");
    }
    assert_eq!(work.done("coder-1", &["task", "claim", "T-3"])["status"], "in_progress");

    // A task is taken away; what its former worker brings then is evidence, and completes nothing.
    let lease =
        work.done("lead", &["task", "reassign", "T-4", "--to", "coder-3", "--reason", "stuck"])["lease"].clone();
    work.result("4.json", &run, "T-4", "web/a.js");
    let (code, reason) = work.refused("coder-2", &["task", "submit", "4.json"]);
    assert!(code == "CONCURRENCY_CONFLICT" && reason.ends_with("kept as evidence"), "{reason}");
    assert_eq!(work.status("T-4"), "in_progress");
    work.log("coder-3", "T-4");
    assert_eq!(work.done("coder-3", &["task", "submit", "4.json", "--lease", &lease.to_string()])["status"], "done");

    // Blocked, asked for anew, given back, canceled.
    work.done("coder-1", &["task", "block", "T-3", "--reason", "nobody knows the rule"]);
    assert_eq!(work.refused("coder-1", &["task", "claim", "T-3"]).0, "INVALID_TRANSITION");
    work.done("lead", &["task", "replan", "T-3", "--lock", "handbook", "--reason", "it moved"]);
    let shown = work.done("lead", &["task", "show", "T-3"]);
    assert_eq!(
        (&shown["task"]["lock_scope"], &shown["acceptance_criteria"]),
        (&json!(["handbook"]), &json!(["it rounds"]))
    );
    work.done("coder-1", &["task", "claim", "T-3"]);
    work.done("coder-1", &["task", "extend", "T-3", "--timeout", "1h30m", "--reason", "long tests"]);
    assert_eq!(work.done("lead", &["task", "show", "T-3"])["timeout_seconds"], 5400);
    work.done("coder-1", &["task", "release", "T-3", "--reason", "another comes first"]);
    work.done("lead", &["task", "cancel", "T-3", "--reason", "not wanted"]);

    // Another orchestrator goes on.
    work.says("lead", &["bundle", "make", "--out", "bundle.json"]);
    assert_eq!(work.0.codes(&["bundle.json"]).1, ["OK"]);
    work.done("lead-2", &["bundle", "resume", "bundle.json"]);
    assert_eq!(work.refused("lead", &["bundle", "resume", "bundle.json"]).0, "CONCURRENCY_CONFLICT");
    assert_eq!(work.done("lead-2", &["run", "show"])["orchestrator"], "lead-2");
    assert_eq!(work.done("lead-2", &["reconcile"])["clean"], true);
    assert_eq!(work.refused("lead-2", &["run", "close"]).0, "INVALID_TRANSITION");
    work.done("lead-2", &["task", "fail", "T-2", "--code", "NON_COMPLIANT", "--reason", "cannot be done"]);
    assert_eq!(work.done("lead-2", &["run", "close"])["status"], "closed");
    assert!(work.0.run(&["verify"]).out.starts_with("everything matches"));
}

#[test]
fn a_worker_that_falls_silent_loses_its_task_and_what_it_brings_late_is_kept_and_refused() {
    let (work, run) = Work::with_run();
    work.add("T-1", "src", &[]);
    let first = work.done("coder-1", &["task", "claim", "T-1"])["lease"].to_string();
    work.silence();
    // Nobody else was awake: the next command sees it.
    assert_eq!(work.done("coder-2", &["task", "claim", "T-1"])["owner"], "coder-2");
    work.result("r.json", &run, "T-1", "src/a.rs");
    let (code, reason) = work.refused("coder-1", &["task", "submit", "r.json", "--lease", &first]);
    assert!(
        code == "CONCURRENCY_CONFLICT" && reason.contains("coder-2") && reason.ends_with("kept as evidence"),
        "{reason}"
    );
    let log = work.0.run(&["log"]).out;
    assert!(log.contains("task.timed_out") && log.contains("too late to count"), "{log}");
    assert!(work.0.run(&["verify"]).out.starts_with("everything matches"));
}

#[test]
fn whoever_lost_a_lease_names_the_one_that_they_have_now() {
    let (work, run) = Work::with_run();
    work.add("T-1", "src", &[]);
    let first = work.done("coder", &["task", "claim", "T-1"])["lease"].to_string();
    work.done("coder", &["task", "heartbeat", "T-1"]);
    work.silence();
    let second = work.done("coder", &["task", "claim", "T-1"])["lease"].to_string();
    assert_ne!(first, second);
    for lease in [&[][..], &["--lease", &first]] {
        assert_eq!(work.refused("coder", &[&["task", "heartbeat", "T-1"], lease].concat()).0, "CONCURRENCY_CONFLICT");
    }
    work.done("coder", &["task", "heartbeat", "T-1", "--lease", &second]);
    // A variable says the same as the flag, and an empty one says nothing.
    work.result("r.json", &run, "T-1", "src/a.rs");
    let submit = ["task", "submit", "r.json", "--as", "coder"];
    assert_eq!(work.0.run_with(&submit, "", &[("COUNTERSIGN_LEASE", "")]).code, 1);
    assert_eq!(work.0.run_with(&submit, "", &[("COUNTERSIGN_LEASE", "soon")]).code, 2);
    assert_eq!(work.0.run_with(&submit, "", &[("COUNTERSIGN_LEASE", &second)]).code, 0);
}

#[test]
fn a_person_may_say_that_a_task_cannot_go_on_and_whoever_may_not_is_told_who_does() {
    let (work, _) = Work::with_run();
    work.add("T-1", "src/a", &[]);
    work.done("bob", &["task", "claim", "T-1"]);
    let block = ["task", "block", "T-1", "--code", "DEPENDENCY_NOT_MET", "--reason", "no server"];
    let (code, answer) = work.ask("cem", &block);
    assert_eq!((code, answer["code"].as_str()), (1, Some("CONCURRENCY_CONFLICT")), "{answer}");
    let help = answer["help"].as_str().unwrap();
    assert!(["bob", "lead", "at a terminal", "--token-file"].iter().all(|words| help.contains(words)), "{help}");
    let token = work.0.owner_token();
    let answer = work.0.run(&[&block[..], &["--token-file", &token]].concat());
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(work.done("lead", &["task", "show", "T-1"])["task"]["status"], "blocked");
}

#[test]
fn the_only_open_run_is_meant_and_of_several_one_is_named() {
    let work = Work::begun();
    assert_eq!(work.refused("lead", &["task", "list"]).0, "DEPENDENCY_NOT_MET");
    let first = work.open("one");
    work.add("T-1", "one", &[]);
    let second = work.open("two");
    let (code, reason) = work.refused("lead", &["task", "list"]);
    assert!(code == "MISSING_REQUIRED_INPUT" && reason.contains("several runs"), "{reason}");
    assert_eq!(work.done("lead", &["task", "list", "--run", &first])["tasks"].as_array().unwrap().len(), 1);
    let named = work.0.run_with(&["task", "list", "--format", "json"], "", &[("COUNTERSIGN_RUN", &second)]);
    assert_eq!(serde_json::from_str::<Value>(&named.out).unwrap()["tasks"], json!([]));
    work.done("lead", &["run", "cancel", "--run", &second, "--reason", "not wanted"]);
    assert_eq!(work.done("lead", &["task", "list"])["run_id"], json!(first));
    assert_eq!(work.done("lead", &["run", "list"])["runs"].as_array().unwrap().len(), 2);
    assert_eq!(
        work.refused("lead", &["task", "list", "--run", "11111111-1111-4111-8111-111111111111"]).0,
        "DEPENDENCY_NOT_MET"
    );
    assert_eq!(work.refused("lead", &["task", "list", "--run", "first"]).0, "SCHEMA_INVALID");
}

#[test]
fn a_call_with_a_key_is_done_once() {
    let (work, _) = Work::with_run();
    work.add("T-1", "src", &[]);
    let claim = ["task", "claim", "T-1", "--key", "k"];
    let first = work.done("coder", &claim);
    let again = work.done("coder", &claim);
    assert_eq!((&first["repeated"], &again["repeated"]), (&json!(false), &json!(true)));
    assert_eq!(first["lease"], again["lease"]);
    assert!(work.says("coder", &claim).ends_with("(done by an earlier call with this key)\n"));
    assert_eq!(work.refused("coder", &["task", "claim", "--key", "k"]).0, "CONCURRENCY_CONFLICT");
}

#[test]
fn refusals_usage_and_what_cannot_be_done_are_told_apart() {
    let (work, run) = Work::with_run();
    work.add("T-1", "src", &[]);
    // Refused: for people on standard error, for programs on standard output.
    let Answer { code, out, err } = work.0.run(&["task", "claim", "T-9"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.starts_with("refused [DEPENDENCY_NOT_MET]: there is no task T-9") && err.contains("help: "), "{err}");
    work.done("coder", &["task", "claim", "T-1"]);
    work.result("r.json", &run, "T-1", "elsewhere/a.rs");
    let (code, answer) = work.ask("coder", &["task", "submit", "r.json"]);
    assert_eq!((code, &answer["code"]), (1, &json!("SCOPE_VIOLATION")));
    let finding = &answer["details"]["findings"][0];
    assert_eq!((&finding["pointer"], &finding["severity"]), (&json!("/changes/0"), &json!("error")), "{answer}");
    // For people each fault has its place, if it has one, and says what to do.
    let said = work.0.run(&["task", "submit", "r.json", "--as", "coder"]).err;
    assert!(said.contains("\n  /changes/0: ") && said.contains("; "), "{said}");
    let said = work.0.run_with(&["task", "submit", "-", "--as", "coder"], "{", &[]).err;
    assert!(said.contains("\n  the text ends where a key in double quotes is expected; "), "{said}");
    // The directory that one is in may be named as it is everywhere.
    let whole = work.0.run(&["task", "add", "T-3", "--title", "x", "--accept", "y", "--lock", "."]);
    assert_eq!((whole.code, whole.err.as_str()), (0, ""));
    // Called wrongly.
    for arguments in [
        &["task", "add", "T-2", "--title", "x"][..],
        &["task", "add", "T-2", "--title", "x", "--accept", "y", "--lock", "../elsewhere"],
        &["task", "add", "T-2", "--title", "x", "--accept", "y", "--lock", "a", "--timeout", "soon"],
        &["task", "add", "T-2", "--title", "x", "--accept", "y", "--lock", "a", "--priority", "now"],
        &["task", "add", "T-2", "--file", "graph.yaml"],
        &["task", "add", "--file", "graph.yaml", "--title", "x"],
        &["task", "claim", "T-1", "T-2"],
        &["task", "add", "T-2", "--title", "x", "--accept", "y", "--lock", ""],
        &["task", "add", "T-2", "--title", "x", "--accept", "y", "--lock", "a", "--forbid", " "],
        &["lock", "who", "/etc/passwd"],
        &["lock", "who", ""],
        &["lock", "may", ""],
        &["token", "make", "--role", "agent"],
        &["token", "make", "--role", "king"],
        &["run"],
    ] {
        let answer = work.0.run(arguments);
        assert_eq!(answer.code, 2, "{arguments:?}: {answer:?}");
    }
    // Could not be done.
    assert_eq!(work.0.run(&["task", "submit", "absent.json"]).code, 3);
    assert_eq!(House::new().run(&["task", "list"]).code, 3);
}

#[test]
fn a_graph_is_added_from_a_file_whole_or_not_at_all() {
    let (work, _) = Work::with_run();
    let task = |id: &str, after: &[&str]| json!({ "task_id": id, "title": "Round", "lock_scope": [id], "acceptance_criteria": ["it rounds"], "dependencies": after });
    work.0.write("bad.json", json!([task("T-1", &[]), task("T-2", &["T-9"])]).to_string());
    work.refused("lead", &["task", "add", "--file", "bad.json"]);
    assert_eq!(work.done("lead", &["task", "list"])["tasks"], json!([]));
    work.0.write("good.json", json!({ "tasks": [task("T-2", &["T-1"]), task("T-1", &[])] }).to_string());
    assert_eq!(work.done("lead", &["task", "add", "--file", "good.json"])["task_ids"], json!(["T-1", "T-2"]));
    let yaml = "- task_id: T-3\n  title: Describe it\n  lock_scope: [docs]\n  acceptance_criteria: [it is said]\n  dependencies: [T-2]\n";
    let piped = work.0.run_with(&["task", "add", "--file", "-"], yaml, &[]);
    assert_eq!(piped.code, 0, "{piped:?}");
    let graph = work.done("lead", &["task", "graph"]);
    let waits: Vec<&Value> = graph["tasks"].as_array().unwrap().iter().map(|it| &it["waiting_for"]).collect();
    assert_eq!(waits, [&json!([]), &json!(["T-1"]), &json!(["T-2"])]);
    assert_eq!(work.0.write("none.json", "{}").run(&["task", "add", "--file", "none.json"]).code, 3);
}

#[test]
fn results_come_in_three_forms_and_envelopes_are_applied_whole() {
    let (work, run) = Work::with_run();
    for (task, scope) in [("T-1", "a"), ("T-2", "b")] {
        work.add(task, scope, &[]);
        work.done("coder", &["task", "claim", task]);
    }
    let yaml = format!(
        "schema_version: 1.0.0\nrun_id: {run}\ntask_id: T-1\nstatus: done\nworklog_path: worklogs/T-1.jsonl\n\
         changes:\n  - {{resource: a/x.rs, action: edit, evidence: it is there}}\n\
         acceptance_check:\n  - {{criterion: it rounds, status: pass, evidence: 12 tests pass}}\n\
         notes_for_orchestrator: []\n"
    );
    work.0.write("r.yaml", &yaml);
    assert_eq!(work.done("coder", &["task", "submit", "r.yaml"])["assurance"], "claimed");
    let markdown = format!("---\n{}---\n# Done\n", yaml.replace("T-1", "T-2").replace("a/x.rs", "b/x.rs"));
    let piped = work.0.run_with(&["task", "submit", "-", "--as", "coder"], &markdown, &[]);
    assert_eq!(piped.code, 0, "{piped:?}");
    // An envelope of a run that is not there changes nothing.
    work.0.document("envelope.json", "orchestrator_output", json!({}));
    let (code, _) = work.ask("lead", &["apply", "envelope.json"]);
    assert_eq!(code, 1);
}

#[test]
fn paths_are_meant_from_where_one_stands() {
    let (work, _) = Work::with_run();
    std::fs::create_dir_all(work.0.path("src/money")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(arguments).current_dir(work.0.path("src")).env("COUNTERSIGN_HOME", work.0.path(".home"));
        let output = command.stdin(Stdio::null()).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let add = ["task", "add", "T-1", "--title", "x", "--accept", "y", "--lock", "money", "../docs", "--forbid", "old"];
    assert_eq!(run(&add).0, 0);
    let shown = work.done("lead", &["task", "show", "T-1"]);
    assert_eq!(shown["task"]["lock_scope"], json!(["src/money", "docs"]));
    assert_eq!(shown["forbidden_scope"], json!(["src/old"]));
    work.done("coder", &["task", "claim", "T-1"]);
    assert!(run(&["lock", "who", "money/round.rs"]).1.contains("coder"));
}

#[test]
fn text_of_others_cannot_act_on_a_terminal() {
    let (work, _) = Work::with_run();
    let hostile = "it rounds \u{1b}[2J";
    let added = work.0.run(&["task", "add", "T-1", "--title", hostile, "--lock", "src", "--accept", hostile]);
    assert_eq!(added.code, 0, "{added:?}");
    for shown in ["list", "next", "graph", "show", "assignment"] {
        let task = if ["show", "assignment"].contains(&shown) { &["T-1"][..] } else { &[] };
        for format in ["text", "json"] {
            let said = work.0.run(&[&["task", shown, "--format", format], task].concat());
            assert!(said.code == 0 && said.out.contains("it rounds"), "{shown}: {said:?}");
            assert!(!said.out.contains('\u{1b}'), "{shown}: {said:?}");
        }
    }
    assert!(!work.0.run(&["watch", "--once"]).out.contains('\u{1b}'));
}

#[test]
fn a_name_that_cannot_be_used_is_wrong_usage_and_an_empty_variable_says_nothing() {
    let (work, _) = Work::with_run();
    work.add("T-1", "a", &[]);
    for name in ["", " ", "a\nb", "a\"b"] {
        let answer = work.0.run(&["task", "claim", "T-1", "--as", name]);
        assert!(answer.code == 2 && answer.err.contains("what --as says cannot be used"), "{name:?}: {answer:?}");
    }
    let answer = work.0.run_with(&["task", "claim", "T-1"], "", &[("COUNTERSIGN_ACTOR", "")]);
    assert_eq!(answer.code, 0, "{answer:?}");
}

#[test]
fn a_bundle_takes_no_other_files_place_and_says_so_once() {
    let (work, _) = Work::with_run();
    assert_eq!(work.0.run(&["bundle", "make", "--out", "b.json"]).code, 0);
    let again = work.0.run(&["bundle", "make", "--out", "b.json"]);
    assert_eq!((again.code, again.err.as_str()), (3, "error: b.json exists already; choose another name\n"));
    let nowhere = work.0.run(&["bundle", "make", "--out", "missing/b.json"]);
    let said = "error: missing/b.json cannot be written: there is no directory missing\n";
    assert_eq!((nowhere.code, nowhere.err.as_str()), (3, said));
}

#[test]
fn tokens_for_two_tasks_speak_in_two_names() {
    let (work, run) = Work::with_run();
    work.add("T-1", "a", &[]);
    work.add("T-2", "b", &[]);
    let owner = work.0.owner_token();
    let make = |more: &[&str]| {
        let made = work.0.run(&[&["token", "make", "--token-file", &owner, "--format", "json"], more].concat());
        let made: Value = serde_json::from_str(&made.out).unwrap();
        (made["actor"].as_str().unwrap().to_owned(), made["token"].as_str().unwrap().to_owned())
    };
    let (one, first) = make(&["--role", "agent", "--task", "T-1"]);
    let (two, second) = make(&["--role", "agent", "--task", "T-2"]);
    assert_eq!((one, two), (format!("agent:T-1@{}", &run[..8]), format!("agent:T-2@{}", &run[..8])));
    assert_eq!(make(&["--role", "auditor"]).0, "auditor");
    let with = |token: &str, arguments: &[&str]| work.0.run_with(arguments, "", &[("COUNTERSIGN_TOKEN", token)]).code;
    assert_eq!(with(&second, &["task", "claim", "T-2"]), 0);
    assert_eq!((with(&second, &["lock", "may", "b/x"]), with(&first, &["lock", "may", "b/x"])), (0, 1));
    // Who is given the same name is still held to its own task.
    let same: Vec<String> = ["T-1", "T-2"].map(|it| make(&["--role", "agent", "--task", it, "--name", "pal"]).1).into();
    assert_eq!(with(&second, &["task", "release", "T-2", "--reason", "r"]), 0);
    assert_eq!(with(&same[1], &["task", "claim", "T-2"]), 0);
    assert_eq!((with(&same[1], &["lock", "may", "b/x"]), with(&same[0], &["lock", "may", "b/x"])), (0, 1));
}

#[test]
fn only_an_owner_makes_tokens_and_a_token_speaks_for_its_task_alone() {
    let (work, _) = Work::with_run();
    work.add("T-1", "a", &[]);
    work.add("T-2", "b", &[]);
    let owner = work.0.owner_token();
    let as_owner =
        |arguments: &[&str]| work.0.run(&[arguments, &["--token-file", &owner, "--format", "json"]].concat());
    for verb in [&["token", "list"][..], &["token", "make", "--role", "owner"], &["token", "revoke", "x"]] {
        assert_eq!(work.refused("lead", verb).0, "AUTHORIZATION_MISSING", "{verb:?}");
    }
    let made = as_owner(&["token", "make", "--role", "agent", "--task", "T-1", "--name", "coder", "--expires", "8h"]);
    assert_eq!(made.code, 0, "{made:?}");
    let made: Value = serde_json::from_str(&made.out).unwrap();
    let (token, id) = (made["token"].as_str().unwrap(), made["id"].as_str().unwrap());
    let with = |arguments: &[&str]| work.0.run_with(arguments, "", &[("COUNTERSIGN_TOKEN", token)]);
    for (arguments, code) in [
        (&["task", "claim", "T-2"][..], 1),
        (&["task", "claim"], 1),
        (&["run", "open", "--objective", "mine"], 1),
        (&["token", "list"], 1),
        (&["task", "claim", "T-1", "--as", "somebody-else"], 0),
        (&["task", "heartbeat", "T-1"], 0),
    ] {
        let answer = with(arguments);
        assert_eq!(answer.code, code, "{arguments:?}: {answer:?}");
    }
    assert_eq!(work.done("lead", &["task", "show", "T-1"])["task"]["owner"], "coder", "the token says who it is");
    let listed = as_owner(&["token", "list"]).out;
    assert!(listed.contains(id) && !listed.contains(token), "{listed}");
    assert!(!work.0.read(&format!(".home/tokens/{}.json", project_of(&owner))).contains(token), "it is kept hashed");
    assert_eq!(as_owner(&["token", "revoke", id]).code, 0);
    assert_eq!(as_owner(&["token", "revoke", id]).code, 1);
    assert_eq!(with(&["task", "heartbeat", "T-1"]).code, 3, "it was taken back");
    assert_eq!(as_owner(&["token", "make", "--role", "agent", "--task", "T-9"]).code, 1, "there is no such task");
    // The ledger tells of it, and of who tried, without what has to be shown.
    let log = work.0.run(&["log", "--format", "json"]).out;
    let events: Vec<Value> =
        log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].clone()).collect();
    let of = |kind: &str| events.iter().filter(|it| it["kind"] == kind).map(|it| &it["facts"]).collect::<Vec<_>>();
    let [made] = of("token.made")[..] else { panic!("{log}") };
    assert_eq!(
        (&made["token"], &made["actor"], &made["role"]),
        (&json!(id), &json!("coder"), &json!("agent")),
        "{made}"
    );
    assert_eq!(
        (&made["task"], made["run"].is_string(), made["expires"].is_string()),
        (&json!("T-1"), true, true),
        "{made}"
    );
    assert_eq!(of("token.revoked"), [&json!({ "token": id })]);
    let tried = |command: &str| of("command.refused").iter().any(|it| it["command"] == command);
    assert!(tried("token.make") && tried("token.revoke"), "{log}");
    let secret = token.rsplit('_').next().unwrap();
    let kept = work.0.all().into_iter().filter(|(path, _)| path.to_string_lossy().contains(".countersign"));
    for (path, bytes) in kept {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(secret) && !text.contains(&Hash::of(token.as_bytes()).hex()), "{}", path.display());
    }
}

fn project_of(owner: &str) -> String {
    Path::new(owner).file_stem().unwrap().to_str().unwrap().to_owned()
}

/// The walkthrough in the README, played by three terminals; each says what is shown.
#[test]
fn the_walkthrough_is_true() {
    let readme = readme::text();
    let sections = readme.lines().filter(|line| *line == "## Two workers, one tree").count();
    assert_eq!(sections, 1, "the walkthrough stands there once");
    let steps = readme::steps(&readme, "console walkthrough", &["lead", "one", "two"]);
    let opened = steps.iter().filter(|step| step.command.contains("countersign run open")).count();
    assert_eq!(opened, 1, "the run is opened once");
    let house = House::new();
    let mut settings: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let mut played = 0;
    for step in steps {
        if let Some((name, value)) = step.command.strip_prefix("export ").and_then(|it| it.split_once('=')) {
            settings.entry(step.terminal).or_default().push((name.to_owned(), value.to_owned()));
            continue;
        }
        if step.command.starts_with("sleep ") {
            silence(&house.path(".countersign/ledger.db"));
            continue;
        }
        step.play(&house, settings.get(&step.terminal).map_or(&[], Vec::as_slice));
        played += 1;
    }
    assert!(played >= 15, "{played}");
}
