//! How fast work goes over HTTP, beside the ledger's own append rate with as many clients, in the same run.
//!
//! ```text
//! cargo bench -p countersign --bench http
//! ```
//!
//! A cycle is a claim, a sign of life and a result: three requests, three writes. The events are counted: a claim is one, a sign
//! of life none, a result that completes its task two. The ledger by itself appends events of about 1 KB, each in a command of
//! its own under a key of its own: the same as in the benchmark of the ledger, whose rate with 64 clients this is.
//!
//! The project is no git repository: where it is one, a result is also compared with the working tree, by git, and that would be
//! measured instead.
//!
//! Clients and server share the machine; the ledger by itself has it alone. So the clients are one thread that keeps 64
//! connections busy, with requests that were written before the clock starts: what is measured is the server, and not who asks.
//! How much of the processors' time each of its threads spends on a request is told where the system says so (Linux); unlike the
//! rates it hardly depends on what else the machine does.
//!
//! What can be had at most is measured with the same clients: how many such requests axum answers that ask for nothing, in a process
//! of its own. A request takes as much of the machine as one of these and one append together, however little is decided.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a program that measures")]
#![allow(dead_code, reason = "a measurement uses its part of the house")]

#[path = "../tests/house/mod.rs"]
mod house;
#[path = "../../ledger/benches/load/mod.rs"]
mod load;
#[path = "../tests/server/mod.rs"]
mod server;

use axum::serve::ListenerExt;
use countersign_ledger::conformance::Counters;
use countersign_ledger::{Clock, Ledger, Sqlite};
use serde_json::{Value, json};
use server::{Client, Server, owner, project, token};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// As in the binary that is shipped.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CLIENTS: usize = 64;
const APPENDS: u64 = 40_000;
/// Before anything is measured: threads are started and given memory of their own.
const WARMING_UP: usize = 1_000;
const CYCLES: usize = 5_000;
const PASSES: usize = 3;

/// What is in the environment of this program where it is to be the server that asks for nothing.
const BARE: &str = "COUNTERSIGN_BENCH_BARE";

fn main() {
    if std::env::var_os(BARE).is_some() {
        return serve_nothing();
    }
    let (mut ratios, mut bounds) = (Vec::new(), Vec::new());
    for pass in 1..=PASSES {
        let own = appends();
        let bare = bare();
        let both = 1.0 / (1.0 / bare + 1.0 / own);
        let (cycles, events, spent) = cycles();
        let requests = cycles * 3.0;
        ratios.push(requests / own);
        bounds.push(both / own);
        println!(
            "{CLIENTS} clients, pass {pass}: {cycles:.0} cycles, {requests:.0} requests and {events:.0} events a second over HTTP, the \
             ledger by itself {own:.0} appends of one event: {:.0} % by requests, {:.0} % by events",
            100.0 * requests / own,
            100.0 * events / own
        );
        print_spent(&spent);
        println!(
            "axum alone answers {bare:.0} such requests a second; one of these and an append each time would be {both:.0} a second: \
             {:.0} % of the ledger by itself, and {:.0} % of that are reached",
            100.0 * both / own,
            100.0 * requests / both
        );
    }
    let median = |mut them: Vec<f64>| {
        them.sort_by(f64::total_cmp);
        100.0 * them[PASSES / 2]
    };
    println!(
        "{CLIENTS} clients: {:.0} % of the ledger's own rate (median); the limit is 50 %, and {:.0} % where nothing were decided",
        median(ratios),
        median(bounds)
    );
}

/// Answers whatever it is asked as soon as all of it is there, with as many threads as the server has on this machine.
fn serve_nothing() {
    let answer = "{\"ok\":true}".repeat(28);
    let answer = move |body: axum::body::Bytes| {
        let answer = answer.clone();
        async move { if body.is_empty() { String::new() } else { answer } }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from).saturating_sub(2).max(2);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("http://{}", listener.local_addr().unwrap());
        let route = axum::Router::new().route("/v1/commands/{id}", axum::routing::post(answer));
        axum::serve(listener.tap_io(|stream| stream.set_nodelay(true).unwrap()), route).await.unwrap();
    });
}

/// How many requests a second of the same form such a server answers.
fn bare() -> f64 {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(BARE, "1");
    let server = Server::over(command);
    let prepared: Vec<Cycle> = (0..WARMING_UP + CYCLES).map(|number| Cycle::of("run", number)).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut lines = Vec::new();
        for _ in 0..CLIENTS {
            lines.push(Line::to(&server.address, "nobody").await);
        }
        let mut took = 0.0;
        for numbers in [0..WARMING_UP, WARMING_UP..WARMING_UP + CYCLES] {
            let began = Instant::now();
            by_all(&mut lines, numbers, &prepared, false).await;
            took = began.elapsed().as_secs_f64();
        }
        (CYCLES * 3) as f64 / took
    })
}

/// How many the ledger appends a second for as many clients.
fn appends() -> f64 {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = Sqlite::create(&folder.path().join("ledger.db"), Clock::System).unwrap();
    let ledger = Ledger::create(Box::new(store), Arc::new(Counters), "bench").unwrap();
    load::concurrently(&ledger, CLIENTS as u64, 0, APPENDS)
}

/// What each kind of thread of the server spends on a request.
fn print_spent(spent: &Spent) {
    let requests = (CYCLES * 3) as f64;
    let each: Vec<String> =
        spent.iter().map(|(name, ns)| format!("{name} {:.1}", *ns as f64 / 1e3 / requests)).collect();
    if !each.is_empty() {
        let all = spent.values().sum::<u64>() as f64 / 1e3 / requests;
        println!("the server spends {all:.1} µs of a processor on a request: {}", each.join(", "));
    }
}

/// How long threads have run, in nanoseconds, by their names.
type Spent = BTreeMap<String, u64>;

fn spent(process: u32) -> Spent {
    let mut spent = Spent::new();
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    for task in tasks.map(|task| task.path()) {
        let read = |name: &str| std::fs::read_to_string(task.join(name)).unwrap_or_default();
        let (name, ran) = (read("comm").trim().to_owned(), read("schedstat"));
        *spent.entry(name).or_default() += ran.split(' ').next().and_then(|it| it.parse().ok()).unwrap_or(0);
    }
    spent
}

/// Cycles and events a second, and what the server spent on all cycles.
fn cycles() -> (f64, f64, Spent) {
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
    let tokens: Vec<String> = (0..CLIENTS).map(|n| token(&house, &format!("agent:{n}"), "agent", None)).collect();
    let prepared: Vec<Cycle> = (0..all).map(|number| Cycle::of(&run, number)).collect();
    let head = |boss: &mut Client| boss.get("/readyz").json()["head"].as_f64().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut lines = Vec::new();
        for token in &tokens {
            lines.push(Line::to(&server.address, token).await);
        }
        by_all(&mut lines, 0..WARMING_UP, &prepared, true).await;
        let (before, until_now, began) = (head(&mut boss), spent(server.process()), Instant::now());
        by_all(&mut lines, WARMING_UP..all, &prepared, true).await;
        let seconds = began.elapsed().as_secs_f64();
        let mut spent = spent(server.process());
        spent.iter_mut().for_each(|(name, ns)| *ns = ns.saturating_sub(*until_now.get(name).unwrap_or(&0)));
        spent.retain(|_, ns| *ns > 0);
        (CYCLES as f64 / seconds, (head(&mut boss) - before) / seconds, spent)
    })
}

/// Has all clients go through cycles at once, each through whatever comes next, and looks at the answers if there are any.
async fn by_all(lines: &mut [Line], numbers: Range<usize>, prepared: &[Cycle], is_answered: bool) {
    let next = Cell::new(numbers.start);
    let clients = lines.iter_mut().map(|line| async {
        while next.get() < numbers.end {
            let cycle = &prepared[next.replace(next.get() + 1)];
            cycle.go(line, is_answered).await;
        }
    });
    futures_util::future::join_all(clients).await;
}

/// The three requests of a cycle: their heads after the token, and their bodies, of which two have a lease in them.
struct Cycle {
    claim: String,
    beat: [String; 2],
    submit: [String; 2],
}

impl Cycle {
    fn of(run: &str, number: usize) -> Self {
        let task = format!("T-{number}");
        let result = house::document(
            "subagent_result",
            json!({
                "run_id": run, "task_id": task, "worklog_path": format!("worklogs/{task}.jsonl"),
                "changes": [{ "resource": format!("src/{number}.rs"), "action": "edit", "evidence": "it is there" }],
                "acceptance_check": [{ "criterion": "it is done", "status": "pass", "evidence": "seen" }],
            }),
        );
        let about = format!(r#""run_id":"{run}","task_id":"{task}""#);
        let key = |step: &str| format!("idempotency-key: {task}-{step}\r\n");
        let body = format!("{{{about}}}");
        Self {
            claim: format!("{}content-length: {}\r\n\r\n{body}", key("claim"), body.len()),
            beat: [key("beat"), format!("{{{about},\"lease\":")],
            submit: [key("submit"), format!("{{{about},\"result\":{result},\"lease\":")],
        }
    }

    async fn go(&self, line: &mut Line, is_answered: bool) {
        line.ask("task.claim", &self.claim).await;
        let lease = if is_answered { line.number_after("\"lease\":") } else { "12345".to_owned() };
        line.ask("task.heartbeat", &leased(&self.beat, &lease)).await;
        line.ask("task.submit", &leased(&self.submit, &lease)).await;
        assert!(!is_answered || line.said().contains(r#""status":"done""#), "{}", line.said());
    }
}

fn leased([key, body]: &[String; 2], lease: &str) -> String {
    let length = body.len() + lease.len() + 1;
    format!("{key}content-length: {length}\r\n\r\n{body}{lease}}}")
}

/// A client's connection, with what was read last.
struct Line {
    stream: TcpStream,
    /// What stands in every request after its first line.
    usual: String,
    text: String,
    bytes: Vec<u8>,
    read: usize,
}

impl Line {
    async fn to(address: &str, token: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let usual = format!(
            " HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n"
        );
        Self { stream, usual, text: String::new(), bytes: vec![0; 64 * 1024], read: 0 }
    }

    /// One write and, as a rule, one read.
    async fn ask(&mut self, command: &str, rest: &str) {
        self.text.clear();
        for part in ["POST /v1/commands/", command, &self.usual, rest] {
            self.text.push_str(part);
        }
        self.stream.write_all(self.text.as_bytes()).await.unwrap();
        self.read = 0;
        while !self.is_whole() {
            let read = self.stream.read(&mut self.bytes[self.read..]).await.unwrap();
            assert!(read > 0, "the server has hung up: {}", self.said());
            self.read += read;
        }
        assert!(self.said().starts_with("HTTP/1.1 200 "), "{}", self.said());
    }

    fn said(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.read]).unwrap()
    }

    fn is_whole(&self) -> bool {
        let Some((head, body)) = self.said().split_once("\r\n\r\n") else { return false };
        let length = head.split_once("content-length: ").unwrap().1;
        body.len() >= length.split("\r\n").next().unwrap().parse().unwrap()
    }

    fn number_after(&self, name: &str) -> String {
        let rest = self.said().split_once(name).unwrap().1;
        rest.chars().take_while(char::is_ascii_digit).collect()
    }
}
