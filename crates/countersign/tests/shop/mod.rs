//! A git repository with a project in it, a run that is open, and workers.

use crate::house::{Answer, House};
use countersign_contract::{Checked, Checker, Outside};
use countersign_domain::deciding::Tree;
use countersign_engine::{Call, Engine, Failure, Nowhere, World};
use countersign_ledger::{Clock, Sqlite};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;

/// The name that the session of the fixtures has, in each client.
pub const CLAUDE: &str = "claude-code:dd0baf0b";

pub struct Shop {
    pub house: House,
}

/// A world whose working tree is a folder's.
struct Looking(PathBuf);

impl World for Looking {
    fn checker(&self) -> Checker<'_> {
        Nowhere.checker()
    }

    fn outside(&self) -> Outside {
        Nowhere.outside()
    }

    fn look_for_files(&self, _: &Checked, _: &str) -> Option<Outside> {
        None
    }

    fn tree(&self, base: Option<&str>) -> Option<Tree> {
        countersign_runner::git::tree(&self.0, base)
    }
}

impl Shop {
    /// A repository that Countersign does not manage.
    pub fn unmanaged() -> Self {
        let shop = Self { house: House::new() };
        shop.git(&["init", "--quiet", "--initial-branch=main"]);
        shop.git(&["config", "user.name", "ann"]);
        shop.git(&["config", "user.email", "ann@example.org"]);
        for name in ["src/a/one.rs", "src/b/two.rs", "docs/c.md"] {
            shop.house.write(name, name);
        }
        shop.house.write(".gitignore", ".home/\nworklogs/\n");
        shop.commit();
        shop
    }

    /// A project without a run.
    pub fn idle() -> Self {
        let shop = Self::unmanaged();
        let answer = shop.house.run(&["init", "--name", "shop"]);
        assert_eq!(answer.code, 0, "{answer:?}");
        shop.commit();
        shop
    }

    /// A project with a run and two tasks: T-1 with `src/a`, T-2 with `src/b`.
    pub fn open() -> Self {
        let shop = Self::idle();
        shop.ask("lead", "run.open", json!({ "objective": "o" }));
        let task = |id: &str, path: &str| {
            json!({ "task_id": id, "title": "t", "lock_scope": [path], "type": "parallelizable",
            "forbidden_scope": ["vendor"], "acceptance_criteria": ["it holds"], "timeout_seconds": 3600 })
        };
        shop.ask("lead", "task.add", json!({ "tasks": [task("T-1", "src/a"), task("T-2", "src/b")] }));
        shop
    }

    pub fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--no-verify", "-m", "a commit"]);
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        let (code, out, err) = self.try_git(arguments, &[]);
        assert_eq!(code, 0, "{arguments:?}: {err}");
        out.trim().to_owned()
    }

    pub fn try_git(&self, arguments: &[&str], env: &[(&str, &str)]) -> (i32, String, String) {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
            command.env_remove(name);
        }
        for name in ["COUNTERSIGN_PROJECT", "COUNTERSIGN_LEDGER", "COUNTERSIGN_ACTOR", "CLAUDE_PROJECT_DIR"] {
            command.env_remove(name);
        }
        command.env("COUNTERSIGN_HOME", self.house.path(".home")).envs(env.iter().copied());
        let output = command.args(arguments).current_dir(self.root()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    pub fn root(&self) -> PathBuf {
        self.house.path("").canonicalize().unwrap()
    }

    pub fn engine(&self, clock: Clock) -> Engine {
        Engine::open(Box::new(Sqlite::open(&self.house.path(".countersign/ledger.db"), clock).unwrap())).unwrap()
    }

    pub fn ask(&self, actor: &str, command: &str, request: Value) -> Value {
        self.ask_at(Clock::System, actor, command, request)
    }

    pub fn ask_at(&self, clock: Clock, actor: &str, command: &str, request: Value) -> Value {
        let world = Looking(self.root());
        let reply = self.engine(clock).ask(&world, &Call::declared(actor), command, &request.to_string());
        reply.unwrap_or_else(|failure| panic!("{command}: {failure:?}")).answer
    }

    /// What is answered, or the code and the reason of a refusal, with its findings.
    pub fn try_ask(&self, actor: &str, command: &str, request: Value) -> Result<Value, (String, String)> {
        let world = Looking(self.root());
        let reply = self.engine(Clock::System).ask(&world, &Call::declared(actor), command, &request.to_string());
        match reply {
            Ok(reply) => Ok(reply.answer),
            Err(Failure::Refused(refusal)) => {
                let findings: Vec<&str> = refusal.findings.iter().map(|finding| finding.message.as_str()).collect();
                Err((refusal.code.as_str().to_owned(), format!("{}: {}", refusal.reason, findings.join("; "))))
            }
            Err(failure) => panic!("{command}: {failure:?}"),
        }
    }

    pub fn look(&self, actor: &str, view: &str, question: Value) -> Value {
        let shown = self.engine(Clock::System).look(&Nowhere, &Call::declared(actor), view, &question.to_string());
        shown.unwrap_or_else(|failure| panic!("{view}: {failure:?}"))
    }

    /// An event as a client tells it, about a path.
    pub fn event(&self, client: &str, name: &str, path: &str) -> String {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hooks").join(client);
        let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
        let root = self.root();
        let whole = if client == "codex" { path.to_owned() } else { root.join(path).display().to_string() };
        text.replace("@ROOT@", root.to_str().unwrap()).replace("@PATH@", &whole)
    }

    pub fn hook(&self, client: &str, stdin: &str, env: &[(&str, &str)]) -> Answer {
        self.house.run_with(&["hook", client], stdin, env)
    }

    /// What a hook answers to an event of the fixtures.
    pub fn answer(&self, client: &str, name: &str, path: &str) -> Value {
        self.answer_as(client, name, path, &[])
    }

    pub fn answer_as(&self, client: &str, name: &str, path: &str, env: &[(&str, &str)]) -> Value {
        let answer = self.hook(client, &self.event(client, name, path), env);
        assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{client} {name}: {answer:?}");
        serde_json::from_str(&answer.out).unwrap()
    }
}

/// The reason of a denial; none, if it is none.
pub fn denied(answer: &Value) -> Option<&str> {
    let output = answer.get("hookSpecificOutput")?;
    assert_eq!(output["hookEventName"], "PreToolUse");
    assert_eq!(output["permissionDecision"], "deny");
    output["permissionDecisionReason"].as_str()
}
