//! What a delegated action costs beyond what the platform itself takes, step by step and as a whole.
//!
//! ```text
//! cargo bench -p countersign --bench delegate
//! ```
//!
//! Two platforms: git in a repository of this machine, whose own time is that of the one command by which the same branch is
//! made by hand; and a server that speaks as GitHub does and takes a fixed time for each answer, whose own time is what it
//! says it took. The ledger is a file, as it is for users, and every event in it is on the disk before the next step.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a program that measures")]
#![allow(dead_code, reason = "a measurement uses its part of the house")]

#[path = "../tests/house/mod.rs"]
mod house;
mod platform;

use countersign_domain::delegation::command::ExecutorKind;
use countersign_domain::delegation::payload::DelegationInstruction;
use countersign_engine::{Call, Engine, Nowhere};
use countersign_ledger::{Clock, Sqlite};
use countersign_runner::delegate::{
    Attempt, Executor, GitExecutor, GithubExecutor, Looked, Obstacle, Seen, Setup, carry_out, entry,
};
use house::{House, document};
use platform::Platform;
use serde_json::{Value, json};
use std::cell::Cell;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// As in the binary that is shipped.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What a delegated action may cost beyond the platform's own time.
const LIMIT_MS: f64 = 20.0;
/// Actions of each kind; the median counts.
const ACTIONS: usize = 60;
/// How long the server takes for an answer.
const LATENCY: Duration = Duration::from_millis(30);

fn main() {
    let repository = Repository::new();
    println!("git, {ACTIONS} branches, medians");
    let by_hand = median((0..ACTIONS).map(|n| timed(|| repository.branch(&format!("hand/{n}"))).0));
    let git = || GitExecutor::new(repository.folder().to_owned(), Default::default());
    measure(&repository, &git(), &|| by_hand);
    command(by_hand);

    let platform = Platform::start(LATENCY);
    println!("github, {ACTIONS} branches, {} ms for an answer, medians", LATENCY.as_millis());
    let github = GithubExecutor::new(&platform.url, "a-token-for-a-measurement").unwrap();
    let repository = Repository::new();
    measure(&repository, &github, &|| platform.took());
    println!("  requests for an action {:>19.1}", platform.requests() as f64 / (2 * ACTIONS) as f64);
}

/// A repository with one commit.
struct Repository {
    folder: tempfile::TempDir,
    commit: String,
}

impl Repository {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let commit = begin(folder.path());
        Self { folder, commit }
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn branch(&self, name: &str) {
        git(self.folder(), &["branch", name, &self.commit]);
    }

    fn instruction(&self, number: usize) -> Value {
        instruction(number, &self.commit)
    }
}

fn begin(folder: &Path) -> String {
    std::fs::write(folder.join("README.md"), "shop\n").unwrap();
    git(folder, &["init", "-q", "-b", "main"]);
    git(folder, &["add", "README.md"]);
    git(folder, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "begin"]);
    git(folder, &["rev-parse", "HEAD"])
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git").arg("-C").arg(folder).args(arguments).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// An instruction of a moment ago to make a branch.
fn instruction(number: usize, commit: &str) -> Value {
    let given = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(2);
    let given = jiff::Timestamp::from_second(given.as_second()).unwrap().to_string();
    let id = format!("DI-{}-{number:03}", &given[..10]);
    let mut text = document(
        "delegation_instruction",
        json!({ "INSTRUCTION_ID": id, "TIMESTAMP_UTC": given, "AUTHORIZATION": { "QA_EVIDENCE": ".qa/ok.json" } }),
    );
    let parameters = json!({ "BRANCH_NAME": format!("fix/{number}"), "SOURCE_SHA": commit });
    text["ACTION"] = json!({ "TYPE": "CREATE_BRANCH", "PARAMETERS": parameters });
    text
}

/// Somebody who acts, and how long that took.
struct Watched<'e> {
    inner: &'e dyn Executor,
    acted: Cell<f64>,
}

impl Executor for Watched<'_> {
    fn kind(&self) -> ExecutorKind {
        self.inner.kind()
    }

    fn seconds(&self) -> u32 {
        self.inner.seconds()
    }

    fn obstacles(&self, instruction: &DelegationInstruction, valid: bool) -> Vec<Obstacle> {
        self.inner.obstacles(instruction, valid)
    }

    fn before(&self, instruction: &DelegationInstruction) -> Option<String> {
        self.inner.before(instruction)
    }

    fn act(&self, instruction: &DelegationInstruction, attempt: &Attempt<'_>) -> Result<Value, String> {
        let (took, acted) = timed(|| self.inner.act(instruction, attempt));
        self.acted.set(took);
        acted
    }

    fn saw(&self, instruction: &DelegationInstruction) -> Option<Seen> {
        self.inner.saw(instruction)
    }

    fn verify(&self, instruction: &DelegationInstruction, response: &Value) -> Result<Seen, String> {
        self.inner.verify(instruction, response)
    }

    fn constraint(&self, instruction: &DelegationInstruction) -> Result<Option<String>, String> {
        self.inner.constraint(instruction)
    }
}

/// Measures actions as a whole, then their steps one by one. `own` says how long the platform itself took for the last one.
fn measure(repository: &Repository, executor: &dyn Executor, own: &dyn Fn() -> f64) {
    let ledgers = tempfile::tempdir().unwrap();
    let store = Sqlite::create(&ledgers.path().join("ledger.db"), Clock::System).unwrap();
    let engine = Engine::create(Box::new(store), "bench").unwrap();
    let call = Call::declared("bench");
    engine.ask(&Nowhere, &call, "project.init", r#"{"name":"bench"}"#).unwrap();
    let executor = Watched { inner: executor, acted: Cell::new(0.0) };
    let root = repository.folder();
    let mut wholes = Vec::new();
    for number in 0..ACTIONS {
        let text = repository.instruction(number).to_string();
        let setup = Setup {
            engine: &engine,
            world: &Nowhere,
            call: &call,
            root,
            locks: &ledgers.path().join("locks"),
            executor: &executor,
            file: "instruction.json",
            text: &text,
            of_task: None,
        };
        let (took, answered) = timed(|| carry_out(&setup).unwrap());
        assert_eq!(answered.response["STATUS"], "SUCCESS", "{:#}", answered.response);
        assert_eq!(answered.looked, Looked::Found);
        wholes.push((took, executor.acted.get(), own()));
    }
    let steps: Vec<Steps> = (ACTIONS..2 * ACTIONS)
        .map(|number| Steps::of(&engine, &call, &executor, root, &repository.instruction(number).to_string()))
        .collect();
    for (index, name) in Steps::NAMES.iter().enumerate() {
        println!("  {name:<30} {:>8.2} ms", median(steps.iter().map(|it| it.0[index])));
    }
    let whole = |pick: fn(&(f64, f64, f64)) -> f64| median(wholes.iter().map(pick));
    let over = whole(|(took, _, own)| took - own);
    println!("  {:<30} {:>8.2} ms", "whole action", whole(|it| it.0));
    println!("  {:<30} {:>8.2} ms", "the platform's own time", whole(|it| it.2));
    println!("  {:<30} {:>8.2} ms", "beyond it while acting", whole(|(_, acted, own)| acted - own));
    println!("  overhead {over:.2} ms, {:.0} % of the limit of {LIMIT_MS} ms", 100.0 * over / LIMIT_MS);
}

/// How long each step of an action took, asked for as `carry_out` asks.
struct Steps([f64; 6]);

impl Steps {
    const NAMES: [&str; 6] = [
        "look whether it can be done",
        "receive and start",
        "act",
        "answer, with what was seen",
        "audit entry as a file",
        "look, if nobody has, and say",
    ];

    fn of(engine: &Engine, call: &Call, executor: &dyn Executor, root: &Path, text: &str) -> Self {
        let ask = |id: &str, request: Value| engine.ask(&Nowhere, call, id, &request.to_string()).unwrap().answer;
        let record = read(text);
        let kind = executor.kind().as_str();
        let (looks, obstacles) = timed(|| executor.obstacles(&record, true));
        assert_eq!(obstacles, Vec::new());
        let begin = json!({ "place": "0123456789abcdef", "seconds": executor.seconds() });
        let receive = json!({ "file": "instruction.json", "instruction": text, "executor": kind, "begin": begin });
        let (receive, begun) = timed(|| ask("delegation.receive", receive));
        let id = begun["instruction_id"].clone();
        let (act, acted) = timed(|| executor.act(&record, &Attempt::default()).unwrap());
        let saw = executor.saw(&record);
        let mut answer = json!({
            "instruction_id": id, "agent_instance_id": call.actor, "attempt": begun["attempt"], "acted": acted,
        });
        if let Some(Seen { holds, says }) = &saw {
            answer["seen"] = json!({ "holds": holds, "says": says });
        }
        let (answer, _) = timed(|| ask("delegation.answer", answer));
        let (audit, _) = timed(|| {
            let question = json!({ "instruction_id": id }).to_string();
            let shown = engine.look(&Nowhere, call, "delegation.show", &question).unwrap();
            let document: Value = serde_json::from_str(shown["audit_entry"].as_str().unwrap()).unwrap();
            entry::write(root, &document).unwrap()
        });
        let (looked, _) = timed(|| {
            if saw.is_some() {
                return Value::Null;
            }
            let seen = executor.verify(&record, &Value::Null).unwrap();
            let says = json!({ "instruction_id": id, "about": "outcome", "holds": seen.holds, "says": seen.says });
            ask("delegation.observe", says)
        });
        Self([looks, receive, act, answer, audit, looked])
    }
}

fn read(text: &str) -> DelegationInstruction {
    use countersign_contract::{Outside, Request, check};
    use countersign_diagnostic::Source;
    use countersign_engine::World;
    let outside = Outside::default();
    let request = Request::alone(Source { name: "instruction.json", text }, &outside);
    let checked = check(&Nowhere.checker(), &request);
    checked.records.first().unwrap().downcast_ref::<DelegationInstruction>().unwrap().clone()
}

/// The same through the program: its start, opening the ledger and printing the response are part of it.
fn command(by_hand: f64) {
    let house = House::new();
    house.write(".governance/compliance-check.md", "ok\n").write(".qa/ok.json", "{}\n");
    let commit = begin(&house.path(""));
    let begun = house.run(&["init", "--name", "bench"]);
    assert_eq!(begun.code, 0, "{begun:?}");
    let took = (0..ACTIONS).map(|number| {
        house.write("instruction.json", instruction(number, &commit).to_string());
        let (took, answer) = timed(|| house.run(&["delegate", "instruction.json", "--format", "json"]));
        assert_eq!(answer.code, 0, "{answer:?}");
        took
    });
    let whole = median(took);
    println!("  as a command {whole:.2} ms, {:.2} ms beyond the platform's own time", whole - by_hand);
}

/// In milliseconds.
fn timed<T>(act: impl FnOnce() -> T) -> (f64, T) {
    let began = Instant::now();
    let done = act();
    (began.elapsed().as_secs_f64() * 1000.0, done)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
