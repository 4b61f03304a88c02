//! How fast work goes over HTTP, beside the ledger's own append rate with as many clients, in the same run.
//!
//! ```text
//! cargo bench -p countersign --bench http
//! ```
//!
//! A cycle is a claim, a sign of life and a result: three requests, three writes. The events are counted: a claim is one, a sign
//! of life none, a result that completes its task two. Clients and server share the machine; the ledger by itself has it alone.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a program that measures")]
#![allow(dead_code, reason = "a measurement uses its part of the house")]

#[path = "../tests/house/mod.rs"]
mod house;
#[path = "../tests/server/mod.rs"]
mod server;

use countersign_ledger::conformance::{Counters, add, once};
use countersign_ledger::{Clock, Ledger, Sqlite};
use serde_json::{Value, json};
use server::{Client, Server, owner, project, token};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// As in the binary that is shipped.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CLIENTS: usize = 64;
const APPENDS: u64 = 20_000;
/// Before anything is measured: threads are started and given memory of their own.
const WARMING_UP: usize = 1_000;
const CYCLES: usize = 5_000;
const PASSES: usize = 3;

fn main() {
    let mut ratios = Vec::new();
    for pass in 1..=PASSES {
        let own = appends();
        let (cycles, events) = cycles();
        let requests = cycles * 3.0;
        ratios.push(requests / own);
        println!(
            "{CLIENTS} clients, pass {pass}: {cycles:.0} cycles, {requests:.0} requests and {events:.0} events a second over HTTP, the \
             ledger by itself {own:.0} appends of one event: {:.0} % by requests, {:.0} % by events",
            100.0 * requests / own,
            100.0 * events / own
        );
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "{CLIENTS} clients: {:.0} % of the ledger's own rate (median); the limit is 50 %",
        100.0 * ratios[PASSES / 2]
    );
}

/// Events of a few hundred bytes, each in a command of its own.
fn appends() -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::create(&folder.path().join("ledger.db"), Clock::System).unwrap();
    let ledger = Ledger::create(Box::new(store), Arc::new(Counters), "bench").unwrap();
    let next = AtomicU64::new(0);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= APPENDS {
                        return;
                    }
                    let command = once("bench", &number.to_string(), "request");
                    let draft = add(&format!("c{}", number % 1000), 1);
                    ledger.write(move |transaction| transaction.append(&command, vec![draft])).unwrap();
                }
            });
        }
    });
    APPENDS as f64 / began.elapsed().as_secs_f64()
}

/// Cycles and events a second.
fn cycles() -> (f64, f64) {
    let house = project();
    let server = Server::start(&house, &[]);
    let mut boss = server.client(&owner(&house));
    let run = boss.ask("run.open", &json!({ "objective": "measure" })).answer()["run_id"].as_str().unwrap().to_owned();
    let task = |n: usize| {
        let (id, path) = (format!("T-{n}"), format!("src/{n}.rs"));
        json!({ "task_id": id, "title": "do it", "lock_scope": [path], "acceptance_criteria": ["it is done"] })
    };
    let all = WARMING_UP + CYCLES;
    for first in (0..all).step_by(500) {
        let tasks: Vec<Value> = (first..(first + 500).min(all)).map(task).collect();
        boss.ask("task.add", &json!({ "run_id": run, "tasks": tasks })).answer();
    }
    let mut clients: Vec<Client> =
        (0..CLIENTS).map(|n| server.client(&token(&house, &format!("agent:{n}"), "agent", None))).collect();
    let head = |boss: &mut Client| boss.get("/readyz").json()["head"].as_f64().unwrap();
    by_all(&mut clients, 0..WARMING_UP, |client, number| cycle(client, &run, number));
    let (before, began) = (head(&mut boss), Instant::now());
    by_all(&mut clients, WARMING_UP..all, |client, number| cycle(client, &run, number));
    let seconds = began.elapsed().as_secs_f64();
    (CYCLES as f64 / seconds, (head(&mut boss) - before) / seconds)
}

/// Has all clients do some things at once, each whatever comes next.
fn by_all(clients: &mut [Client], numbers: std::ops::Range<usize>, work: impl Fn(&mut Client, usize) + Sync) {
    let next = AtomicUsize::new(numbers.start);
    std::thread::scope(|scope| {
        for client in clients {
            let (next, work, end) = (&next, &work, numbers.end);
            scope.spawn(move || {
                while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|it| *it < end) {
                    work(client, number);
                }
            });
        }
    });
}

fn cycle(client: &mut Client, run: &str, number: usize) {
    let task = format!("T-{number}");
    let ask = |client: &mut Client, step: &str, command: &str, request: Value| {
        client.ask_once(command, &format!("{task}-{step}"), &request).unwrap().answer()
    };
    let claimed = ask(client, "claim", "task.claim", json!({ "run_id": run, "task_id": task }));
    let lease = claimed["lease"].clone();
    ask(client, "beat", "task.heartbeat", json!({ "run_id": run, "task_id": task, "lease": lease }));
    let result = house::document(
        "subagent_result",
        json!({
            "run_id": run, "task_id": task, "worklog_path": format!("worklogs/{task}.jsonl"),
            "changes": [{ "resource": format!("src/{number}.rs"), "action": "edit", "evidence": "it is there" }],
            "acceptance_check": [{ "criterion": "it is done", "status": "pass", "evidence": "seen" }],
        }),
    );
    let request = json!({ "run_id": run, "task_id": task, "lease": lease, "result": result });
    assert_eq!(ask(client, "submit", "task.submit", request)["status"], "done");
}
