//! What questions and claims cost beside many tasks and many locks: ratios in one run.
//!
//! ```text
//! cargo bench -p countersign-engine --bench work [next] [locks] [cycle]
//! ```
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use countersign_engine::{Call, Engine, Nowhere};
use countersign_ledger::{Clock, Sqlite};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// As in the binary that is shipped.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

struct Bench {
    engine: Engine,
    _folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::create(&folder.path().join("ledger.db"), Clock::System).unwrap();
        let engine = Engine::create(Box::new(store), "bench").unwrap();
        let bench = Self { engine, _folder: folder };
        bench.ask("project.init", json!({ "name": "bench" }));
        bench.ask("run.open", json!({ "objective": "measure" }));
        bench
    }

    fn ask(&self, id: &str, request: Value) -> Value {
        self.engine.ask(&Nowhere, &Call::declared("ana"), id, &request.to_string()).unwrap().answer
    }

    fn look(&self, id: &str, question: Value) -> Value {
        self.engine.look(&Nowhere, &Call::declared("bob"), id, &question.to_string()).unwrap()
    }

    /// Adds tasks with numbers from `from` on, each with a path of its own.
    fn add(&self, from: usize, to: usize) {
        let numbers: Vec<usize> = (from..to).collect();
        for chunk in numbers.chunks(1000) {
            let tasks: Vec<Value> = chunk.iter().map(|n| spec(*n)).collect();
            self.ask("task.add", json!({ "tasks": tasks }));
        }
    }

    fn claim(&self, from: usize, to: usize) {
        std::thread::scope(|scope| {
            for worker in 0..32 {
                scope.spawn(move || {
                    for n in (from..to).filter(|n| n % 32 == worker) {
                        self.ask("task.claim", json!({ "task_id": format!("T-{n}") }));
                    }
                });
            }
        });
    }
}

fn spec(n: usize) -> Value {
    json!({
        "task_id": format!("T-{n}"), "title": "Measure", "lock_scope": [path(n)], "acceptance_criteria": ["it is fast"],
        "timeout_seconds": 86_400,
    })
}

fn path(n: usize) -> String {
    format!("src/part{}/module{}/file{n}.rs", n % 97, n % 1009)
}

fn median(count: usize, mut once: impl FnMut(usize)) -> Duration {
    let mut times: Vec<Duration> = (0..count)
        .map(|n| {
            let start = Instant::now();
            once(n);
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

fn next() {
    let bench = Bench::new();
    bench.add(1, 101);
    let few = median(200, |_| drop(bench.look("task.next", json!({}))));
    bench.add(101, 100_001);
    let many = median(200, |_| drop(bench.look("task.next", json!({}))));
    println!("next: {few:?} with 100 open tasks, {many:?} with 100,000 (limit 1 ms): {:.2} times", ratio(many, few));
}

fn locks(count: usize) {
    let bench = Bench::new();
    bench.add(1, 1001);
    bench.claim(1, 1001);
    let ask = |n: usize| drop(bench.look("lock.may", json!({ "path": path(n % 1000 + 1) })));
    let free = |n: usize| drop(bench.look("lock.who", json!({ "path": format!("docs/deep/er/{n}.md") })));
    let (few, few_free) = (median(500, ask), median(500, free));
    let start = Instant::now();
    bench.add(1001, count + 1);
    bench.claim(1001, count + 1);
    let rate = (count - 1000) as f64 / start.elapsed().as_secs_f64();
    let (many, many_free) = (median(500, ask), median(500, free));
    println!(
        "locks: who holds it {few:?} at 1,000 and {many:?} at {count} ({:.2} times, limit 5); a free path {few_free:?} and {many_free:?} ({:.2} times)",
        ratio(many, few),
        ratio(many_free, few_free)
    );
    println!("  they were added and claimed at {rate:.0} tasks a second");
}

fn cycle() {
    let bench = Bench::new();
    bench.add(1, 2001);
    let start = Instant::now();
    bench.claim(1, 2001);
    println!("claims by 32 threads: {:.0} a second", 2000.0 / start.elapsed().as_secs_f64());
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    let wants = |name: &str| asked.is_empty() || asked.iter().any(|it| it == name);
    if wants("next") {
        next();
    }
    if wants("locks") {
        let count = asked.iter().find_map(|it| it.parse().ok()).unwrap_or(20_000);
        locks(count);
    }
    if wants("cycle") {
        cycle();
    }
}
