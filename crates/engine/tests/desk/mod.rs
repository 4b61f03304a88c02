//! A project in memory with a clock and a working tree that the test holds in its hand.
#![allow(dead_code, reason = "each test file uses its part")]

use countersign_contract::{Checked, Checker, Outside, Settings};
use countersign_domain::deciding::Tree;
use countersign_engine::{Call, Engine, Failure, Reply, World};
use countersign_ledger::{Clock, Memory, Sqlite, Time};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

pub const START: i64 = 1_800_000_000_000;

/// A project whose time and tree the test sets.
pub struct Desk {
    pub engine: Engine,
    pub around: Around,
    pub hand: Arc<AtomicI64>,
    folder: Option<tempfile::TempDir>,
}

/// What is seen of the world.
pub struct Around {
    hand: Arc<AtomicI64>,
    settings: Settings,
    pub tree: Mutex<Option<Tree>>,
    pub collects: AtomicBool,
    /// How often the tree was looked at.
    pub looks: AtomicI64,
}

impl Around {
    fn of(hand: &Arc<AtomicI64>) -> Self {
        let (tree, collects, looks) = (Mutex::default(), AtomicBool::default(), AtomicI64::default());
        Self { hand: Arc::clone(hand), settings: Settings::default(), tree, collects, looks }
    }
}

impl World for Around {
    fn checker(&self) -> Checker<'_> {
        Checker { contracts: countersign_domain::contracts(), foreign: &[], settings: &self.settings, raised: &[] }
    }

    fn outside(&self) -> Outside {
        let now = jiff::Timestamp::from_millisecond(self.hand.load(Ordering::SeqCst)).unwrap();
        Outside { now: Some(now), ..Outside::default() }
    }

    fn look_for_files(&self, _: &Checked, _: &str) -> Option<Outside> {
        None
    }

    fn tree(&self, _: Option<&str>) -> Option<Tree> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        self.tree.lock().unwrap().clone()
    }

    fn has_collected(&self) -> bool {
        self.collects.load(Ordering::SeqCst)
    }
}

impl Desk {
    /// In memory.
    pub fn new() -> Self {
        let (clock, hand) = Clock::manual(Time(START));
        Self::over(Engine::create(Box::new(Memory::new(clock)), "project").unwrap(), hand, None)
    }

    /// In a file, so that it can be opened again.
    pub fn in_file() -> Self {
        let (clock, hand) = Clock::manual(Time(START));
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::create(&folder.path().join("ledger.db"), clock).unwrap();
        Self::over(Engine::create(Box::new(store), "project").unwrap(), hand, Some(folder))
    }

    /// The same ledger, opened anew by another process as it were.
    pub fn reopened(self) -> Self {
        let Self { engine, hand, folder, .. } = self;
        drop(engine);
        let (clock, new) = Clock::manual(Time(hand.load(Ordering::SeqCst)));
        let path = folder.as_ref().unwrap().path().join("ledger.db");
        let engine = Engine::open(Box::new(Sqlite::open(&path, clock).unwrap())).unwrap();
        let around = Around::of(&new);
        Self { engine, around, hand: new, folder }
    }

    fn over(engine: Engine, hand: Arc<AtomicI64>, folder: Option<tempfile::TempDir>) -> Self {
        let around = Around::of(&hand);
        let desk = Self { engine, around, hand, folder };
        desk.ok("ana", "project.init", json!({ "name": "billing" }));
        desk
    }

    pub fn ask(&self, actor: &str, id: &str, request: Value) -> Result<Reply, Failure> {
        self.engine.ask(&self.around, &Call::declared(actor), id, &request.to_string())
    }

    /// The answer of a command that is carried out.
    pub fn ok(&self, actor: &str, id: &str, request: Value) -> Value {
        match self.ask(actor, id, request.clone()) {
            Ok(reply) => reply.answer,
            Err(failure) => panic!("{id} {request}: {failure:?}"),
        }
    }

    /// The code under which a command is refused, and why.
    pub fn refused(&self, actor: &str, id: &str, request: Value) -> (String, String) {
        match self.ask(actor, id, request.clone()) {
            Err(Failure::Refused(refusal)) => (refusal.code.as_str().to_owned(), refusal.reason),
            Err(Failure::Malformed(decision)) => (decision.code.unwrap().as_str().to_owned(), decision.reason),
            other => panic!("{id} {request} was not refused: {other:?}"),
        }
    }

    pub fn code(&self, actor: &str, id: &str, request: Value) -> String {
        self.refused(actor, id, request).0
    }

    pub fn look(&self, actor: &str, id: &str, question: Value) -> Value {
        self.engine.look(&self.around, &Call::declared(actor), id, &question.to_string()).unwrap()
    }

    pub fn pass(&self, seconds: i64) {
        self.hand.fetch_add(seconds * 1000, Ordering::SeqCst);
    }

    /// Opens a run, and gives its id.
    pub fn run(&self) -> String {
        self.ok("ana", "run.open", json!({ "objective": "Round money half to even" }))["run_id"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Adds a task with one path.
    pub fn task(&self, task: &str, path: &str) {
        self.ok("ana", "task.add", json!({ "tasks": [spec(task, path)] }));
    }

    pub fn status(&self, task: &str) -> String {
        let shown = self.look("ana", "task.show", json!({ "task_id": task }));
        shown["task"]["status"].as_str().unwrap().to_owned()
    }

    /// Claims a task, and gives the number of the lease.
    pub fn claim(&self, worker: &str, task: &str) -> u64 {
        self.ok(worker, "task.claim", json!({ "task_id": task }))["lease"].as_u64().unwrap()
    }

    /// Everything that was recorded, as (kind, facts).
    pub fn events(&self) -> Vec<(String, Value)> {
        let head = self.engine.ledger().head().unwrap().seq;
        let stored = self.engine.stored(1, head).unwrap();
        stored.iter().map(|event| (event.text("kind").to_owned(), event.facts().clone())).collect()
    }

    pub fn kinds_since(&self, seq: u64) -> Vec<String> {
        self.events().into_iter().skip(usize::try_from(seq).unwrap()).map(|(kind, _)| kind).collect()
    }

    pub fn head(&self) -> u64 {
        self.engine.ledger().head().unwrap().seq
    }
}

pub fn spec(task: &str, path: &str) -> Value {
    json!({
        "task_id": task, "title": format!("Work on {path}"), "lock_scope": [path],
        "acceptance_criteria": ["it works"], "timeout_seconds": 600, "heartbeat_interval_seconds": 60,
    })
}

pub fn result(run: &str, task: &str, changes: &[&str]) -> Value {
    let changes: Vec<Value> = changes.iter().map(|path| json!({ "resource": path, "action": "edit" })).collect();
    json!({
        "schema_version": "1.0.0", "run_id": run, "task_id": task, "status": "done", "changes": changes,
        "acceptance_check": [{ "criterion": "it works", "status": "pass", "evidence": "14 tests pass" }],
        "worklog_path": format!("worklogs/{task}.jsonl"), "notes_for_orchestrator": ["ready to merge"],
    })
}
