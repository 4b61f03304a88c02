//! A run that is killed at any moment and started again finishes its plan, and nothing is done twice.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod run_support;

use run_support::{Going, Yard, task, wait_for};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Names the seed of the points, so that a failure can be played again.
const SEED: &str = "COUNTERSIGN_TEST_SEED";

/// How many points there are.
const POINTS: usize = 50;

/// Two tasks side by side and one after them, with a check, a validator and a judge, so that there is much to be cut short.
fn plan(yard: &Yard) -> String {
    let script =
        "mkdir -p src; echo working >&2; echo \"$COUNTERSIGN_TASK\" > \"$scope\"; sleep 0.05; claim \"$scope\"";
    let validator = "sleep 0.03; printf '{\"task_id\":\"%s\",\"verdict\":\"PASS\",\"criteria_results\":[{\"criterion_id\":\"AC-1\",\
        \"status\":\"PASS\",\"evidence\":\"the file holds the name of the task\"}],\"reasoning\":\"looked\",\
        \"timestamp\":\"2026-01-01T00:00:00Z\",\"validator_id\":\"second\"}' \"$COUNTERSIGN_TASK\"";
    let judge = "sleep 0.03; echo '{\"verdict\":\"PASS\",\"reasoning\":\"it is shown\"}'";
    let agents = json!({
        "coder": yard.agent(script),
        "second": { "command": yard.agent(validator)["command"], "role": "validator" },
        "judge": { "command": yard.agent(judge)["command"], "role": "judge" },
    });
    let check = |id: &str| json!([{ "text": "it is there", "check": { "command": ["sh", "-c", format!("sleep 0.03; test -f src/{id}")] } }]);
    let tasks = vec![
        task("T-1", json!({ "acceptance": check("T-1") })),
        task("T-2", json!({ "acceptance": check("T-2") })),
        task("T-3", json!({ "acceptance": check("T-3"), "depends_on": ["T-1", "T-2"] })),
    ];
    yard.plan(
        agents,
        tasks,
        json!({ "gates": { "validate": ["builtin", "second"], "judge": "judge" }, "concurrency": 2 }),
    )
}

/// What chance decides, so that it can be played again: SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (it ^ (it >> 31)) % below.max(1)
    }
}

/// How finely a run is divided.
const PARTS: u64 = 10_000;

/// When a run is killed: after so many parts of its lines and a moment more; and once more on its way after that.
#[derive(Debug, Clone, Copy)]
struct Point {
    parts: u64,
    micros: u64,
    parts_again: u64,
    micros_again: u64,
}

/// Points that chance has chosen, one in each of as many equal stretches of a run.
fn points(seed: u64) -> Vec<Point> {
    let (mut dice, stretch) = (Dice(seed), PARTS / POINTS as u64);
    let point = |number: u64| Point {
        parts: number * stretch + dice.roll(stretch),
        micros: dice.roll(40_000),
        parts_again: dice.roll(PARTS),
        micros_again: dice.roll(40_000),
    };
    (0..POINTS as u64).map(point).collect()
}

/// Reads lines for so long, waits a moment, and kills. The last line.
fn kill_when(mut going: Going, mut is_it: impl FnMut(&str) -> bool, micros: u64) -> String {
    let mut last = String::new();
    while let Some(line) = going.line() {
        last = line;
        if is_it(&last) {
            break;
        }
    }
    // Between two lines there is much to be cut short. Nothing depends on how long this is.
    std::thread::sleep(Duration::from_micros(micros));
    going.kill();
    last
}

/// Once so many parts of some lines and one more were read.
fn after(lines: u64, parts: u64) -> impl FnMut(&str) -> bool {
    let mut left = lines * parts / PARTS;
    move |_| {
        let is_it = left == 0;
        left = left.saturating_sub(1);
        is_it
    }
}

/// Kills a run, after a line with some words if they are given, and goes on with it, killed once more on the way.
fn killed_at(point: Point, lines: u64, words: Option<&str>) -> String {
    let yard = Yard::new();
    let plan = plan(&yard);
    let going = yard.start(&["run", &plan]);
    let last = match words {
        Some(words) => kill_when(going, |line| line.contains(words), 0),
        None => kill_when(going, after(lines, point.parts), point.micros),
    };
    kill_when(yard.start(&["run", "--resume"]), after(lines, point.parts_again), point.micros_again);
    // A run that had come to its end is closed, and there is nothing to go on with.
    let resumed = yard.resume();
    if !(resumed.code == 1 && resumed.err.contains("no run is open")) {
        resumed.ended(0);
    }
    let mut landed = BTreeMap::new();
    for task in yard.landed() {
        *landed.entry(task).or_insert(0) += 1;
    }
    let once: BTreeMap<String, i32> = ["T-1", "T-2", "T-3"].map(|task| (task.to_owned(), 1)).into();
    assert_eq!(landed, once, "{point:?}, after `{last}`");
    for task in ["T-1", "T-2", "T-3"] {
        assert_eq!(yard.count("task.completed", task), 1, "{point:?}, after `{last}`: {task}");
        assert_eq!(yard.read(&format!("src/{task}")).unwrap(), format!("{task}\n"), "{point:?}, after `{last}`");
    }
    yard.is_tidy();
    last
}

/// The seed: the one that is named, or one that the clock gives.
fn seed() -> u64 {
    let named =
        std::env::var(SEED).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{SEED} is no number: {text}")));
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    named.unwrap_or(since.as_nanos() as u64)
}

#[test]
fn a_run_that_is_killed_at_50_points_of_chance_finishes_and_does_nothing_twice() {
    let seed = seed();
    // How long it is, when nobody kills it.
    let yard = Yard::new();
    let whole = yard.run(&["run", &plan(&yard)]).ended(0);
    let (points, lines) = (points(seed), whole.lines().count() as u64);
    let next = AtomicUsize::new(0);
    let results = std::thread::scope(|scope| {
        let work = || {
            let mut seen = Vec::new();
            while let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                let done = std::panic::catch_unwind(|| killed_at(*point, lines, None));
                // A test that fails says by which seed it is played again.
                seen.push(done.unwrap_or_else(|_| panic!("{point:?} failed; play it again with {SEED}={seed}")));
            }
            seen
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    let failed = results.iter().filter(|it| it.is_err()).count();
    assert_eq!(failed, 0, "play it again with {SEED}={seed}");
    let seen: Vec<String> = results.into_iter().flat_map(Result::unwrap).collect();
    // Every part of the work is cut short: what chance has missed is aimed at.
    for (words, point) in [
        "works, attempt",
        "working",
        "agent exited",
        "claims",
        "pass",
        "PASS by",
        "second says PASS",
        "judged",
        "landed",
        "done (",
    ]
    .into_iter()
    .zip(&points)
    {
        if !seen.iter().any(|line| line.contains(words)) {
            let last = killed_at(*point, lines, Some(words));
            assert!(last.contains(words), "no kill after `{words}`, with {SEED}={seed}: `{last}`");
        }
    }
}

/// What is running when the runner is killed, whoever it is, does not outlive the next one.
#[test]
fn whoever_runs_when_the_runner_is_killed_is_ended_by_the_next_one() {
    let hang = "trap '' TERM; (trap '' TERM; sleep 600) & touch \"$COUNTERSIGN_HOME/hangs\"; sleep 600";
    let once = format!("if [ ! -e \"$COUNTERSIGN_HOME/hangs\" ]; then {hang}; fi; ");
    let pass = "printf '{\"task_id\":\"T-1\",\"verdict\":\"PASS\",\"criteria_results\":[{\"criterion_id\":\"AC-1\",\"status\":\"PASS\",\
        \"evidence\":\"the file is there\"}],\"reasoning\":\"looked\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"validator_id\":\"second\"}'";
    let judged = "echo '{\"verdict\":\"PASS\",\"reasoning\":\"it is shown\"}'";
    std::thread::scope(|scope| {
        for who in ["coder", "second", "judge", "check"] {
            let once = &once;
            scope.spawn(move || {
                let yard = Yard::new();
                let part = |name: &str| if name == who { once.as_str() } else { "" };
                let work = format!("{}mkdir -p src; echo x > $scope; claim $scope", part("coder"));
                let agents = json!({
                    "coder": yard.agent(&work),
                    "second": { "command": yard.agent(&format!("{}{pass}", part("second")))["command"], "role": "validator" },
                    "judge": { "command": yard.agent(&format!("{}{judged}", part("judge")))["command"], "role": "judge" },
                });
                let home = yard.path("home").display().to_string();
                let check = part("check").replace("$COUNTERSIGN_HOME", &home);
                let check = json!([{ "text": "it is there", "check": { "command": ["sh", "-c", format!("{check}test -f src/T-1")] } }]);
                let gates = json!({ "gates": { "validate": ["builtin", "second"], "judge": "judge" } });
                let plan = yard.plan(agents, vec![task("T-1", json!({ "acceptance": check }))], gates);
                let going = yard.start(&["run", &plan]);
                wait_for(who, || yard.path("home/hangs").exists());
                going.kill();
                assert_ne!(yard.processes(), Vec::<String>::new(), "{who}");
                let answer = yard.resume();
                // It is said of each that it was still there.
                answer.says(&match who {
                    "coder" => "processes of its agent were ended".to_owned(),
                    "check" => "processes that an earlier runner left were ended".to_owned(),
                    who => format!("processes of {who} were ended"),
                });
                assert!(!answer.out.contains("had ended"), "{who}: {}", answer.out);
                answer.ended(0);
                assert_eq!(yard.landed(), ["T-1"], "{who}");
                yard.is_tidy();
            });
        }
    });
}

/// A runner that is killed while it writes down which commit was claimed leaves that lock behind.
#[test]
fn locks_that_a_killed_runner_held_are_let_go_of_by_the_next_one() {
    let yard = Yard::new();
    let hangs = "if [ ! -e $COUNTERSIGN_HOME/hangs ]; then touch $COUNTERSIGN_HOME/hangs; sleep 600; fi; ";
    let work = format!("{hangs}mkdir -p src; echo x > $scope; claim $scope");
    let tasks = vec![task("T-1", json!({ "retries": 0 }))];
    let plan = yard.plan(json!({ "coder": yard.agent(&work) }), tasks, json!({}));
    let going = yard.start(&["run", &plan]);
    wait_for("the agent", || yard.path("home/hangs").exists());
    going.kill();
    let refs = yard.repository().join(".git/refs/countersign").join(&yard.runs()[0]);
    std::fs::create_dir_all(&refs).unwrap();
    std::fs::write(refs.join("T-1.lock"), "").unwrap();
    yard.resume().ended(0);
    assert_eq!(yard.landed(), ["T-1"]);
    assert!(!refs.exists());
    yard.is_tidy();
}

/// Two runners in a row are killed while the judge thinks: what was claimed before the first still is, and is not done anew.
#[test]
fn what_was_claimed_stands_however_many_runners_are_killed() {
    let yard = Yard::new();
    let judge = "for n in 1 2; do if [ ! -e $COUNTERSIGN_HOME/hangs-$n ]; then touch $COUNTERSIGN_HOME/hangs-$n; sleep 600; fi; done; \
        echo '{\"verdict\":\"PASS\",\"reasoning\":\"it is shown\"}'";
    let agents = json!({
        "coder": yard.agent("mkdir -p src; echo x > $scope; claim $scope"),
        "judge": { "command": yard.agent(judge)["command"], "role": "judge" },
    });
    let plan = yard.plan(agents, vec![task("T-1", json!({ "retries": 0 }))], json!({ "gates": { "judge": "judge" } }));
    for (n, arguments) in [&["run", plan.as_str()][..], &["run", "--resume"]].iter().enumerate() {
        let going = yard.start(arguments);
        wait_for("the judge", || yard.path(&format!("home/hangs-{}", n + 1)).exists());
        going.kill();
    }
    yard.resume().ended(0);
    assert_eq!((yard.count("result.submitted", "T-1"), yard.landed().len()), (1, 1));
    yard.is_tidy();
}

#[test]
fn work_that_changed_nothing_is_known_as_such_by_the_next_runner() {
    let yard = Yard::new();
    let judge = "if [ ! -e $COUNTERSIGN_HOME/hangs ]; then touch $COUNTERSIGN_HOME/hangs; sleep 600; fi; \
        echo '{\"verdict\":\"PASS\",\"reasoning\":\"it is shown\"}'";
    let agents = json!({
        "coder": yard.agent("claim"),
        "judge": { "command": yard.agent(judge)["command"], "role": "judge" },
    });
    let there = json!([{ "text": "it is there", "check": { "file": { "path": "src/start" } } }]);
    let tasks = vec![task("T-1", json!({ "acceptance": there, "retries": 0 }))];
    let plan = yard.plan(agents, tasks, json!({ "gates": { "judge": "judge" } }));
    let going = yard.start(&["run", &plan]);
    wait_for("the judge", || yard.path("home/hangs").exists());
    going.kill();
    let head = yard.git(&["rev-parse", "HEAD"]);
    yard.resume().ended(0);
    assert_eq!((yard.count("result.submitted", "T-1"), yard.count("task.completed", "T-1")), (1, 1));
    assert_eq!(yard.git(&["rev-parse", "HEAD"]), head);
    yard.is_tidy();
}

#[test]
fn a_run_is_carried_out_by_one_process_at_a_time() {
    let yard = Yard::new();
    let plan = yard.plan(json!({ "coder": yard.agent("touch $COUNTERSIGN_HOME/on; while [ ! -e $COUNTERSIGN_HOME/go ]; do sleep 0.05; done; mkdir -p src; echo x > $scope; claim $scope") }), vec![task("T-1", json!({}))], json!({}));
    let mut going = yard.start(&["run", &plan]);
    going.until("works, attempt 1");
    wait_for("the agent", || yard.path("home/on").exists());
    let other = yard.resume();
    other.says("is being carried out by another process");
    // That is all it says: nothing was begun.
    assert_eq!((other.code, other.out.as_str(), other.err.lines().count()), (3, "", 1), "{}", other.err);
    std::fs::write(yard.path("home/go"), "").unwrap();
    going.end().ended(0);
    assert_eq!((yard.landed().len(), yard.count("task.claimed", "T-1")), (1, 1));
    yard.is_tidy();
}

/// The plan's budget is the least that the linter lets pass. What was cut short is not the worker's, and does not count.
#[test]
fn an_attempt_that_was_cut_short_is_not_counted() {
    let hang = "if [ ! -e $COUNTERSIGN_HOME/hangs ]; then touch $COUNTERSIGN_HOME/hangs; sleep 600; fi; ";
    let pass = "printf '{\"task_id\":\"%s\",\"verdict\":\"PASS\",\"criteria_results\":[{\"criterion_id\":\"AC-1\",\
        \"status\":\"PASS\",\"evidence\":\"the file is there\"}],\"reasoning\":\"looked\",\
        \"timestamp\":\"2026-01-01T00:00:00Z\",\"validator_id\":\"second\"}' \"$COUNTERSIGN_TASK\"";
    std::thread::scope(|scope| {
        for who in ["coder", "second"] {
            scope.spawn(move || {
                let yard = Yard::new();
                let part = |name: &str| if name == who { hang } else { "" };
                let agents = json!({
                    "coder": yard.agent(&format!("{}mkdir -p src; echo x > $scope; claim $scope", part("coder"))),
                    "second": { "command": yard.agent(&format!("{}{pass}", part("second")))["command"], "role": "validator" },
                });
                let tasks = vec![task("T-1", json!({})), task("T-2", json!({ "depends_on": ["T-1"] }))];
                let more = json!({ "gates": { "validate": ["builtin", "second"] }, "budgets": { "attempts": 2 } });
                let going = yard.start(&["run", &yard.plan(agents, tasks, more)]);
                wait_for(who, || yard.path("home/hangs").exists());
                going.kill();
                yard.resume().ended(0);
                assert_eq!((yard.count("task.claimed", "T-1"), yard.landed().len()), (2, 2), "{who}");
                yard.is_tidy();
            });
        }
    });
}

const NO_TOOL: &str = "the agent claims to be done, and by its own figures used no tool";
const NO_EDIT: &str = "files differ, and by the agent's own figures it neither changed one nor ran a command";
const NO_RUN: &str = "AC-1 is claimed by something that was run, and by the agent's own figures it ran no command";

/// What a claim is contradicted by is told to who looks, also if the runner is killed in between.
#[test]
fn what_contradicts_a_claim_is_told_again_by_the_next_runner() {
    let cases: [(&str, &str, &[&str]); 4] = [
        ("", "ran pytest, 12 passed", &[NO_TOOL, NO_EDIT, NO_RUN]),
        ("Edit", "ran pytest, 12 passed", &[NO_RUN]),
        ("Edit", "src/T-1 holds one line", &[]),
        ("Edit Bash", "ran pytest, 12 passed", &[]),
    ];
    std::thread::scope(|scope| {
        for (tools, evidence, flags) in cases {
            scope.spawn(move || {
                let yard = Yard::new();
                let tools: Vec<_> = tools.split_whitespace().map(|name| json!({ "type": "tool_use", "name": name })).collect();
                let said = json!({ "type": "assistant", "message": { "id": "m", "content": tools } });
                let script = format!(
                    r#"#!/bin/sh
cat > /dev/null; mkdir -p src; echo x > src/T-1
cat <<END
{said}
{{"type":"result","subtype":"success","is_error":false,"result":"","structured_output":{{"schema_version":"1.0.0","run_id":"$COUNTERSIGN_RUN","task_id":"T-1","status":"done","changes":[{{"resource":"src/T-1","action":"created","summary":"as asked"}}],"acceptance_check":[{{"criterion":"the file is there","status":"pass","evidence":"{evidence}"}}],"notes_for_orchestrator":[],"worklog_path":"worklogs/T-1.jsonl"}}}}
END
"#
                );
                let claude = yard.path("bin/claude");
                std::fs::create_dir_all(claude.parent().unwrap()).unwrap();
                std::fs::write(&claude, &script).unwrap();
                std::fs::set_permissions(&claude, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
                let path = format!("{}:{}", claude.parent().unwrap().display(), std::env::var("PATH").unwrap());
                let look = "printf %s \"$assignment\" > $COUNTERSIGN_HOME/asked.new; mv $COUNTERSIGN_HOME/asked.new $COUNTERSIGN_HOME/asked
                    if [ ! -e $COUNTERSIGN_HOME/hangs ]; then touch $COUNTERSIGN_HOME/hangs; sleep 600; fi";
                let agents = json!({
                    "coder": { "preset": "claude" },
                    "second": { "command": yard.agent(look)["command"], "role": "validator" },
                });
                let gates = json!({ "gates": { "validate": ["builtin", "second"] } });
                let plan = yard.plan(agents, vec![task("T-1", json!({}))], gates);
                let going = yard.start_with(&["run", &plan], &[("PATH", &path)]);
                wait_for("the validator", || yard.path("home/hangs").exists());
                going.kill();
                let told = || {
                    let asked = std::fs::read_to_string(yard.path("home/asked")).unwrap();
                    std::fs::remove_file(yard.path("home/asked")).unwrap();
                    serde_json::from_str::<serde_json::Value>(&asked).unwrap()["x_flags"].clone()
                };
                assert_eq!(told(), json!(flags), "{evidence}");
                yard.run_with(&["run", "--resume"], &[("PATH", &path)]);
                assert_eq!(told(), json!(flags), "{evidence}, after the runner was gone");
            });
        }
    });
}

/// Its lease lapses while nobody is there to keep it alive. There is no second attempt in the plan, and no need of one.
#[test]
fn a_lease_that_lapses_while_the_runner_is_gone_is_no_attempt() {
    let yard = Yard::new();
    let hang = "if [ ! -e $COUNTERSIGN_HOME/hangs ]; then touch $COUNTERSIGN_HOME/hangs; sleep 600; fi; ";
    let agents = json!({ "coder": yard.agent(&format!("{hang}mkdir -p src; echo x > $scope; claim $scope")) });
    let tasks = vec![task("T-1", json!({ "retries": 0, "timeout": "30s", "heartbeat": "5s" }))];
    let going = yard.start(&["run", &yard.plan(agents, tasks, json!({ "budgets": { "attempts": 1 } }))]);
    wait_for("the agent", || yard.path("home/hangs").exists());
    going.kill();
    let engine = yard.engine();
    wait_for("the lapse", || {
        engine.settle(8).unwrap();
        yard.show("T-1")["task"]["status"] == "blocked"
    });
    assert_eq!(yard.show("T-1")["failures"], json!({ "coder": 1 }));
    let answer = yard.resume();
    answer.says("its lease lapsed while the runner was gone");
    answer.ended(0);
    let shown = yard.look("task.show", json!({ "run_id": yard.runs()[0], "task_id": "T-1" }));
    assert_eq!((yard.landed().len(), &shown["failures"]), (1, &json!({})));
    yard.is_tidy();
}
