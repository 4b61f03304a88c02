//! `countersign watch`: what changes, as it changes.

use super::*;

#[test]
fn watch_acts_when_a_worker_falls_silent() {
    let (work, _) = Work::with_run();
    work.add("T-1", "src", &[]);
    work.done("coder", &["task", "claim", "T-1"]);
    work.silence();
    let before = work.0.run(&["watch", "--once"]).out;
    assert!(before.contains("T-1") && before.contains("todo"), "{before}");
    assert!(work.0.run(&["log"]).out.contains("task.requeued"));
}

#[test]
fn watch_tells_runs_apart_and_misses_none_that_is_open() {
    let (work, first) = Work::with_run();
    work.add("T-1", "src", &[]);
    assert!(!work.0.run(&["watch", "--once"]).out.contains(&first), "one run needs no name");
    let engine = Engine::open(Box::new(Sqlite::open(&work.0.path(".countersign/ledger.db"), Clock::System).unwrap()));
    let engine = engine.unwrap();
    let ask = |id: &str, request: Value| {
        let reply = engine.ask(&Nowhere, &Call::declared("lead"), id, &request.to_string());
        reply.unwrap().answer["run_id"].as_str().unwrap().to_owned()
    };
    for _ in 0..100 {
        let run = ask("run.open", json!({ "objective": "o" }));
        ask("run.cancel", json!({ "run_id": run, "reason": "enough" }));
    }
    let second = work.open("another");
    work.add("T-1", "docs", &["--run", &second]);
    let table = work.0.run(&["watch", "--once"]).out;
    for run in [&first, &second] {
        assert!(table.lines().any(|line| line.contains(run.as_str()) && line.contains("T-1")), "{table}");
    }
}

#[test]
fn watch_prints_what_changes_until_nobody_listens() {
    use std::io::{BufRead, BufReader};
    let (work, _) = Work::with_run();
    work.add("T-1", "src", &[]);
    let mut watch = Command::new(env!("CARGO_BIN_EXE_countersign"));
    watch.args(["watch"]).current_dir(work.0.path("")).env("COUNTERSIGN_HOME", work.0.path(".home"));
    let mut child = watch.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "T-1: todo  (Round)");
    work.done("coder", &["task", "claim", "T-1"]);
    assert_eq!(lines.next().unwrap().unwrap(), "T-1: in progress by coder  (Round)");
    child.kill().unwrap();
    child.wait().unwrap();
}
