//! What it costs to make, check and receive a handoff, beside a Python script that does the same with jsonschema and tiktoken
//! in a warm process. Tokens are counted exactly on both sides. What is received is recorded in a ledger on the disk, as it is
//! for users; the script records nothing. `cargo xtask bench-peers` installs the peer and runs this.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![allow(clippy::unwrap_used, reason = "a benchmark whose peers are missing should stop")]
#![allow(dead_code, reason = "the other benchmarks use the rest of the shared files")]

mod documents;
mod turns;

use countersign_contract::fix::fix;
use countersign_contract::{Checked, Checker, Outside, Request, Settings, check};
use countersign_diagnostic::Source;
use countersign_domain::deciding::Tree;
use countersign_engine::{Call, Engine, World};
use countersign_ledger::{Clock, Sqlite, Time};
use serde_json::{Value, json};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// As in the binary that is shipped.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many times as fast as the script each must be.
const WANTED: f64 = 5.0;
/// How often ours and the script take turns.
const ROUNDS: usize = 5;
/// How many handoffs are received in a turn.
const RECEIVED: usize = 40;

fn main() {
    let Some(peers) = std::env::var_os("COUNTERSIGN_PEERS").map(PathBuf::from) else {
        println!("handoffs are measured by `cargo xtask bench-peers`, which installs the peer first");
        return;
    };
    let document = documents::handoff();
    let draft = draft(&document);
    let world = Hour(Settings::default());
    let folder = tempfile::tempdir().unwrap();
    let mut arrivals = Arrivals::new(&world, &document, &folder.path().join("ledger.db"));
    let (mut ours, mut theirs) = ([f64::INFINITY; 3], [f64::INFINITY; 3]);
    for _ in 0..ROUNDS {
        for _ in 0..20 {
            ours[0] = ours[0].min(turns::turn(&mut || make(&world, &draft)));
            ours[1] = ours[1].min(turns::turn(&mut || checked(&world, &document)));
        }
        for _ in 0..4 {
            ours[2] = ours[2].min(arrivals.turn());
        }
        for (best, nanos) in theirs.iter_mut().zip(script(&peers, &draft, &document)) {
            *best = best.min(nanos);
        }
    }
    println!("handoff, {} bytes, exact tokens; the script does it with jsonschema and tiktoken", document.len());
    let whole = [("together", (ours.iter().sum(), theirs.iter().sum()))];
    let each = ["make", "check", "receive"].into_iter().zip(ours.into_iter().zip(theirs));
    for (name, (ours, theirs)) in each.chain(whole) {
        let (micros, script, ratio): (f64, f64, f64) = (ours / 1e3, theirs / 1e3, theirs / ours);
        println!(
            "  {name:<24} {micros:>8.1} µs, the script {script:>8.1} µs: {ratio:>5.1} times as fast, {WANTED} wanted"
        );
    }
}

/// A world of one hour, in which there is nothing but the time.
struct Hour(Settings);

const MADE: &str = "2026-02-07T19:00:00Z";

impl World for Hour {
    fn checker(&self) -> Checker<'_> {
        Checker { contracts: countersign_domain::contracts(), foreign: &[], settings: &self.0, raised: &[] }
    }

    fn outside(&self) -> Outside {
        Outside { now: MADE.parse().ok(), ..Outside::default() }
    }

    fn look_for_files(&self, _: &Checked, _: &str) -> Option<Outside> {
        None
    }

    fn tree(&self, _: Option<&str>) -> Option<Tree> {
        None
    }
}

/// The handoff before hash, size and count are filled in.
fn draft(document: &str) -> String {
    let mut draft: Value = serde_json::from_str(document).unwrap();
    let zeros = format!("sha256:{}", "0".repeat(64));
    let meta = &mut draft["handoff"]["meta"];
    (meta["payload_hash"], meta["payload_size_bytes"], meta["token_count"]) = (json!(zeros), json!(0), json!(0));
    draft.to_string()
}

/// As `countersign handoff make` does it, without the file.
fn make(world: &Hour, draft: &str) {
    let mut value: Value = serde_json::from_str(black_box(draft)).unwrap();
    (countersign_domain::contract("universal_handoff").unwrap().seal)(&mut value);
    let (text, outside) = (format!("{value:#}\n"), world.outside());
    let request = Request::alone(Source { name: "the handoff", text: &text }, &outside);
    let fixed = fix(&world.checker(), &request, None, &mut |_, _| None);
    assert!(fixed.checked.decision.allow, "{:?}", fixed.checked.decision);
    black_box(fixed);
}

fn checked(world: &Hour, document: &str) {
    let outside = world.outside();
    let text = std::str::from_utf8(black_box(document.as_bytes())).unwrap();
    let checked = check(&world.checker(), &Request::alone(Source { name: "handoff.json", text }, &outside));
    assert!(checked.decision.allow, "{:?}", checked.decision);
    black_box(checked);
}

/// Handoffs that were sent and arrive one after the other, each of a trace of its own.
struct Arrivals<'w> {
    world: &'w Hour,
    engine: Engine,
    document: String,
    sent: usize,
}

impl<'w> Arrivals<'w> {
    fn new(world: &'w Hour, document: &str, ledger: &Path) -> Self {
        let now: jiff::Timestamp = MADE.parse().unwrap();
        let (clock, _) = Clock::manual(Time(now.as_millisecond()));
        let engine = Engine::create(Box::new(Sqlite::create(ledger, clock).unwrap()), "bench").unwrap();
        let arrivals = Self { world, engine, document: document.to_owned(), sent: 0 };
        arrivals.ask("owner", "project.init", &json!({ "name": "bench" }));
        arrivals
    }

    fn ask(&self, actor: &str, id: &str, request: &Value) -> Value {
        self.engine.ask(self.world, &Call::declared(actor), id, &request.to_string()).unwrap().answer
    }

    /// Nanoseconds for one handoff that is received, over one turn.
    fn turn(&mut self) -> f64 {
        let arrived: Vec<(String, String)> = (0..RECEIVED).map(|_| self.send()).collect();
        let began = Instant::now();
        for (trace, text) in &arrived {
            let request = json!({ "trace_id": trace, "skill": "programming-pm", "handoff": text });
            let answer = self.ask("programming-pm", "handoff.receive", &request);
            assert_eq!(answer["state"], "loaded");
        }
        began.elapsed().as_nanos() as f64 / RECEIVED as f64
    }

    fn send(&mut self) -> (String, String) {
        const TRACE: &str = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
        self.sent += 1;
        let trace = format!("7c9e6679-7425-40de-944b-{:012x}", self.sent);
        let text = self.document.replace(TRACE, &trace);
        self.ask("security-review", "handoff.send", &json!({ "trace_id": trace, "handoff": text }));
        (trace, text)
    }
}

/// What the script says it took to make, check and receive.
fn script(peers: &Path, draft: &str, document: &str) -> [f64; 3] {
    let write = |name: &str, text: &str| {
        let path = peers.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let schema = (countersign_domain::contract("universal_handoff").unwrap().schema)().to_string();
    let files = [write("handoff.schema.json", &schema), write("draft.json", draft), write("handoff.json", document)];
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/peers/handoff_peer.py");
    let output = Command::new(peers.join("venv/bin/python")).arg(script).args(files).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = said.lines().filter_map(|line| line.parse().ok());
    [(); 3].map(|()| {
        lines.next().unwrap_or_else(|| {
            println!("the script failed: {}", String::from_utf8_lossy(&output.stderr));
            std::process::exit(1)
        })
    })
}
