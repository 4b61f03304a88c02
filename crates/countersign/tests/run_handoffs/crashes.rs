//! Runners that are killed between making, sending and receiving: nothing is sent twice, or left half done.

use super::*;

/// Kills a run after so many lines, goes on with it, and gives the last line before the end.
fn killed_at(lines: usize) -> String {
    let yard = Yard::new();
    let agents = json!({ "coder": talker(&yard, &long(3000)) });
    let tasks = vec![task("T-1", json!({})), task("T-2", json!({})), task("T-3", json!({}))];
    let edges = [edge("T-1", "T-2", json!({})), edge("T-2", "T-3", json!({ "max_tokens": 900 }))];
    let plan = yard.plan(agents, tasks, json!({ "handoffs": edges }));
    let mut going = yard.start(&["run", &plan]);
    let mut last = String::new();
    for _ in 0..=lines {
        match going.line() {
            Some(line) => last = line,
            None => break,
        }
    }
    going.kill();
    let resumed = yard.resume();
    if !(resumed.code == 1 && resumed.err.contains("no open run")) {
        resumed.ended(0);
    }
    for kind in ["handoff.sent", "handoff.received"] {
        let found = events(&yard, kind);
        let steps: Vec<u64> = found.iter().map(|it| it["facts"]["step"].as_u64().unwrap()).collect();
        assert_eq!(steps, [1, 2], "after {lines} lines, `{last}`: {kind}");
    }
    for (task, from) in [("T-2", "T-1"), ("T-3", "T-2")] {
        let given = assignment(&yard, task);
        assert_eq!(given["x_handoffs"][0]["from"], from, "after {lines} lines, `{last}`");
    }
    yard.is_tidy();
    last
}

#[test]
fn a_run_that_is_killed_anywhere_between_making_sending_and_receiving_sends_nothing_twice() {
    const LINES: usize = 26;
    let next = std::sync::atomic::AtomicUsize::new(0);
    let seen: Vec<String> = std::thread::scope(|scope| {
        let work = || {
            let mut seen = Vec::new();
            loop {
                let lines = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if lines >= LINES {
                    return seen;
                }
                seen.push(killed_at(lines));
            }
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    for words in [
        "T-1: done",
        "T-1: handoff to T-2 made",
        "T-1: handed over",
        "T-2: received",
        "T-2: coder works",
        "T-3: received",
    ] {
        assert!(seen.iter().any(|line| line.contains(words)), "no kill after `{words}`: {seen:#?}");
    }
}

#[test]
fn a_runner_that_its_own_summarizer_kills_leaves_nothing_half_done() {
    let yard = Yard::new();
    let once = yard.path("once").display().to_string();
    let kills = format!("if [ ! -e {once} ]; then touch {once}; kill -9 $PPID; sleep 600; fi; head -c 100");
    let agents = json!({ "coder": talker(&yard, &long(3000)) });
    let tasks = vec![task("T-1", json!({})), task("T-2", json!({}))];
    let edges = [edge("T-1", "T-2", json!({ "summarizer": ["sh", "-c", kills] }))];
    let plan = yard.plan(agents, tasks, json!({ "handoffs": edges }));
    assert_eq!(yard.run(&["run", &plan]).code, -1, "it was killed");
    assert_eq!((yard.show("T-1")["task"]["status"].clone(), events(&yard, "handoff.sent").len()), (json!("done"), 0));
    yard.resume().ended(0);
    assert_eq!((events(&yard, "handoff.sent").len(), events(&yard, "handoff.received").len()), (1, 1));
    yard.is_tidy();
}

#[test]
fn a_summarizer_ends_with_the_run_that_is_stopped_and_is_asked_again_when_it_goes_on() {
    let yard = Yard::new();
    let [begun, asked] = ["begun", "asked"].map(|name| yard.path(name).display().to_string());
    // It goes when it is asked to, and leaves somebody behind who does not.
    let slow = format!(
        "if [ ! -e {begun} ]; then trap 'touch {asked}; exit 1' TERM; (trap '' TERM; sleep 600) & touch {begun}; sleep 600 & wait; fi; \
         head -c 100"
    );
    let agents = json!({ "coder": talker(&yard, &long(3000)) });
    let tasks = vec![task("T-1", json!({})), task("T-2", json!({}))];
    let edges = [edge("T-1", "T-2", json!({ "summarizer": ["sh", "-c", slow] }))];
    let plan = yard.plan(agents, tasks, json!({ "handoffs": edges }));
    let going = yard.start(&["run", &plan]);
    wait_for("the summarizer works", || yard.path("begun").exists());
    going.signal("-INT");
    let answer = going.end();
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(yard.path("asked").exists(), "it was asked to end, and had the time to");
    assert_eq!(yard.processes(), Vec::<String>::new());
    let status = |task: &str| yard.show(task)["task"]["status"].clone();
    assert_eq!((status("T-1"), status("T-2"), events(&yard, "handoff.sent").len()), (json!("done"), json!("todo"), 0));
    yard.resume().ended(0);
    assert_eq!((events(&yard, "handoff.sent").len(), events(&yard, "handoff.received").len()), (1, 1));
    yard.is_tidy();
}
