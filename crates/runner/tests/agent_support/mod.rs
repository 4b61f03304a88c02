//! What the tests of agents share.

#![allow(clippy::unwrap_used, clippy::expect_used, dead_code, reason = "tests")]

use countersign_contract::diagnostic::Source;
use countersign_contract::{Checker, Outside, Request, Settings, check};
use countersign_domain::plan::payload::{Agent, Plan};
use countersign_runner::agent::{Ended, Job, Limits, Running, Stop, start};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long an agent may take in a test in which time plays no part.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// An agent as a plan declares it.
pub fn agent(declared: &Value) -> Agent {
    let plan = json!({
        "plan": "1.0",
        "objective": "o",
        "agents": { "coder": declared },
        "tasks": [{
            "id": "T-1", "title": "t", "agent": "coder", "lock_scope": ["a"],
            "acceptance": [{ "text": "it is done", "check": { "file_exists": "a" } }],
        }],
    });
    let (text, settings, outside) = (plan.to_string(), Settings::default(), Outside::default());
    let checker =
        Checker { contracts: countersign_domain::contracts(), foreign: &[], settings: &settings, raised: &[] };
    let request = Request::alone(Source { name: "plan.json", text: &text }, &outside);
    let checked = check(&checker, &request);
    let record = checked.records.first().unwrap_or_else(|| panic!("{:?}", checked.decision));
    record.downcast_ref::<Plan>().unwrap().agents.first().unwrap().1.clone()
}

/// A folder to work in, and what a job is made of.
pub struct Place {
    pub folder: tempfile::TempDir,
    pub agent: Agent,
    pub input: Vec<u8>,
    pub prompt: String,
    pub schema: String,
    pub changes: bool,
    pub variables: Vec<(String, String)>,
    pub limits: Limits,
}

impl Place {
    pub fn new(declared: &Value) -> Self {
        let limits = Limits { grace: Duration::from_millis(300), ..Limits::default() };
        Self {
            folder: tempfile::tempdir().unwrap(),
            agent: agent(declared),
            input: b"{\"task\":\"T-1\"}".to_vec(),
            prompt: "do it".to_owned(),
            schema: "{\"type\":\"object\"}".to_owned(),
            changes: true,
            variables: Vec::new(),
            limits,
        }
    }

    /// A program in the language of the shell.
    pub fn shell(script: &str) -> Self {
        Self::new(&json!({ "command": ["sh", "-c", script] }))
    }

    pub fn python(script: &str) -> Self {
        Self::new(&json!({ "command": ["python3", "-c", script] }))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub fn start(&self) -> Result<Running, String> {
        let spool = self.path("spool");
        let work = self.path("work");
        std::fs::create_dir_all(&work).unwrap();
        start(&Job {
            agent: &self.agent,
            folder: &work,
            input: &self.input,
            prompt: &self.prompt,
            schema: &self.schema,
            changes: self.changes,
            attempt: &spool.to_string_lossy(),
            variables: &self.variables,
            spool: &spool,
            limits: self.limits,
        })
    }

    pub fn run(&self) -> Ended {
        self.run_until(Instant::now() + PATIENCE)
    }

    pub fn run_until(&self, deadline: Instant) -> Ended {
        self.start().unwrap().wait(&Stop::default(), Some(deadline), &mut |_| {})
    }

    /// The number that the agent wrote to a file in its folder, once it is there.
    pub fn pid(&self, name: &str) -> u32 {
        let path = self.path("work").join(name);
        eventually(|| std::fs::read_to_string(&path).ok()?.strip_suffix('\n')?.trim().parse().ok())
    }
}

/// What will be there sooner or later.
pub fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "it never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process runs. One that only waits for its parent to notice its end does not.
pub fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().and_then(|rest| rest.split_ascii_whitespace().next()).is_some_and(|state| state != "Z")
}
