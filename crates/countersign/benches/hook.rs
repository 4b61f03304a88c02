//! What a hook takes from its start to its end, beside a program that does nothing, in the same run: also on a long ledger.
//!
//! ```text
//! cargo bench -p countersign --bench hook [EVENTS]
//! ```
//!
//! The other program is the smallest that the same compiler makes: it prints a line. Both are started in turns.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program that measures")]
#![allow(dead_code, reason = "a measurement uses its part of the house")]

mod hello;
#[path = "../tests/house/mod.rs"]
mod house;

use countersign_engine::{Call, Engine, Nowhere};
use countersign_ledger::{Clock, Sqlite};
use house::House;
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const TURNS: usize = 300;

fn main() {
    let asked = std::env::args().skip(1).find_map(|it| it.parse::<usize>().ok());
    let house = House::new();
    let hello = hello::program(&house);
    for events in [0, asked.unwrap_or(20_000)] {
        let stage = Stage::new(events);
        for (what, actor) in [("allowed", "coder-1"), ("denied", "coder-2")] {
            let mut times = [Vec::new(), Vec::new()];
            for _ in 0..TURNS {
                times[0].push(took(Command::new(&hello), ""));
                times[1].push(took(stage.hook(actor), &stage.event));
            }
            let [nothing, hook] = times.map(median);
            println!(
                "a write that is {what}, with {} events: {hook:?}, a program that does nothing {nothing:?}: {:.2} times (limit 4)",
                stage.events,
                hook.as_secs_f64() / nothing.as_secs_f64()
            );
        }
    }
}

/// A project in which somebody holds a file.
struct Stage {
    house: House,
    event: String,
    events: u64,
}

impl Stage {
    fn new(events: usize) -> Self {
        let house = House::new();
        assert_eq!(house.run(&["init", "--name", "bench"]).code, 0);
        let store = Sqlite::open(&house.path(".countersign/ledger.db"), Clock::System).unwrap();
        let engine = Engine::open(Box::new(store)).unwrap();
        let ask = |id: &str, request: Value| {
            engine.ask(&Nowhere, &Call::declared("coder-1"), id, &request.to_string()).unwrap();
        };
        ask("run.open", json!({ "objective": "measure" }));
        let task = |n: usize| {
            let path = format!("src/part{}/file{n}.rs", n % 97);
            json!({ "task_id": format!("T-{n}"), "title": "do it", "lock_scope": [path], "acceptance_criteria": ["done"] })
        };
        let numbers: Vec<usize> = (2..events + 2).collect();
        for some in numbers.chunks(1000) {
            ask("task.add", json!({ "tasks": some.iter().map(|n| task(*n)).collect::<Vec<_>>() }));
        }
        ask("task.add", json!({ "tasks": [task(1)] }));
        ask("task.claim", json!({ "task_id": "T-1" }));
        let root = house.path("").canonicalize().unwrap();
        let event = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": root, "tool_name": "Write",
            "tool_input": { "file_path": root.join("src/part1/file1.rs"), "content": "fn main() {}" },
        });
        let events = engine.ledger().head().unwrap().seq;
        Self { house, event: event.to_string(), events }
    }

    fn hook(&self, actor: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(["hook", "claude-code", "--as", actor]).current_dir(self.house.path(""));
        command.env("COUNTERSIGN_HOME", self.house.path(".home"));
        command
    }
}

fn took(mut command: Command, stdin: &str) -> Duration {
    let started = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
    // A program that does not read closes its input.
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), stdin.as_bytes());
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success() && !ended.stdout.is_empty());
    started.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
