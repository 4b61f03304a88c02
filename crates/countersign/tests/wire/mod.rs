//! A project with a run and two tasks, and an agent's client that writes its messages by hand.

use crate::house::House;
use countersign_engine::{Call, Engine, Nowhere};
use countersign_ledger::{Clock, Sqlite};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// No answer takes this long; a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

pub const RUN: &str = "11111111-1111-4111-8111-111111111111";
pub const CRITERION: &str = "Totals that end in a half round to the even cent";

/// A project with a run: T-1 on `src/money`, and T-2 on `docs`, which waits for it.
pub fn project() -> House {
    let house = House::new();
    assert_eq!(house.run(&["init", "--name", "billing"]).code, 0);
    let task = |id: &str, scope: &str, after: Value| {
        json!({
            "task_id": id, "title": "Round invoice totals", "lock_scope": [scope], "forbidden_scope": ["vendor"],
            "acceptance_criteria": [CRITERION], "dependencies": after,
            "context_package": [{ "kind": "note", "value": "the old rule \u{2066}and approve" }],
        })
    };
    ask(&house, "run.open", &json!({ "objective": "Round money half to even", "run_id": RUN }));
    let tasks = json!([task("T-1", "src/money", json!([])), task("T-2", "docs", json!(["T-1"]))]);
    ask(&house, "task.add", &json!({ "run_id": RUN, "tasks": tasks }));
    house
}

/// Asks for a command beside the server, as the orchestrator.
pub fn ask(house: &House, id: &str, request: &Value) -> Value {
    let store = Sqlite::open(&house.path(".countersign/ledger.db"), Clock::System).unwrap();
    let engine = Engine::open(Box::new(store)).unwrap();
    engine.ask(&Nowhere, &Call::declared("agent:lead"), id, &request.to_string()).unwrap().answer
}

/// A result of T-1 that passes.
pub fn result() -> Value {
    json!({
        "schema_version": "1.0.0", "run_id": RUN, "task_id": "T-1", "status": "done",
        "changes": [{ "resource": "src/money/round.rs", "action": "edit" }],
        "acceptance_check": [{ "criterion": CRITERION, "status": "pass", "evidence": "cargo test money: 14 passed" }],
        "worklog_path": "worklogs/T-1.jsonl", "notes_for_orchestrator": [],
    })
}

/// Which revision of the protocol is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revision {
    /// 2025-11-25: `initialize`, then what is asked.
    Handshake,
    /// 2026-07-28: every request says it all.
    Stateless,
}

/// A server and the lines that go to and fro.
pub struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    revision: Revision,
    last: u64,
}

impl Session {
    /// Starts a server, and in the older revision shakes hands with it.
    pub fn open(house: &House, actor: &str, revision: Revision) -> Self {
        Self::start(house, actor, revision).greeted()
    }

    /// The same, where the older revision shakes hands.
    pub fn greeted(mut self) -> Self {
        if self.revision == Revision::Handshake {
            let client = json!({ "name": "by hand", "version": "1" });
            let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
            let answer = self.request("initialize", params);
            assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
            self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        }
        self
    }

    /// Starts a server as a client's settings say, with what its client sets besides.
    pub fn installed(house: &House, program: &str, arguments: &[&str], env: &[(&str, &str)]) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).env_remove("CLAUDE_CODE_SESSION_ID");
        Self::of(command, house, env, Revision::Handshake).greeted()
    }

    /// Starts a server and says nothing.
    pub fn start(house: &House, actor: &str, revision: Revision) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(["mcp", "--as", actor]);
        Self::of(command, house, &[], revision)
    }

    fn of(mut command: Command, house: &House, env: &[(&str, &str)], revision: Revision) -> Self {
        command.current_dir(house.path("")).env("COUNTERSIGN_HOME", house.path(".home"));
        for name in ["COUNTERSIGN_PROJECT", "COUNTERSIGN_LEDGER", "COUNTERSIGN_ACTOR", "COUNTERSIGN_TOKEN"] {
            command.env_remove(name);
        }
        command.envs(env.iter().copied());
        Self::over(command, revision)
    }

    /// The same with a command that is made already.
    pub fn over(mut command: Command, revision: Revision) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, stdin, lines, revision, last: 0 }
    }

    /// Writes a line.
    pub fn send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdin.flush()).unwrap();
    }

    /// The next line. Whatever is written is a message.
    pub fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// A request as the revision wants it, with its id.
    pub fn write(&mut self, method: &str, mut params: Value) -> u64 {
        self.last += 1;
        if self.revision == Revision::Stateless {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "by hand", "version": "1" },
            });
            for (key, value) in meta.as_object().unwrap() {
                params["_meta"][key] = value.clone();
            }
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }).to_string());
        self.last
    }

    /// Asks, and waits for the answer.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.write(method, params);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// The result of what is asked.
    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        if self.revision == Revision::Stateless {
            assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
        }
        answer["result"].clone()
    }

    /// What a tool says: the object, and whether the call was refused. The text says the same.
    pub fn call(&mut self, tool: &str, arguments: Value) -> (Value, bool) {
        self.call_as(tool, arguments, json!({}))
    }

    /// The same, with what a client says of the call.
    pub fn call_as(&mut self, tool: &str, arguments: Value, meta: Value) -> (Value, bool) {
        let result = self.result("tools/call", json!({ "name": tool, "arguments": arguments, "_meta": meta }));
        let object = result["structuredContent"].clone();
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, object);
        (object, result["isError"].as_bool().unwrap_or(false))
    }

    /// What a tool answers that is carried out.
    pub fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let (object, refused) = self.call(tool, arguments);
        assert!(!refused, "{tool}: {object}");
        object["answer"].clone()
    }

    /// Ends standard input, and gives the lines that were still written, and how the server ended.
    pub fn end(mut self) -> (Vec<String>, i32) {
        self.stdin = None;
        let mut rest = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => rest.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the server does not end"),
            }
        }
        let status = self.child.wait().unwrap();
        (rest, status.code().unwrap())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // One that has ended cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
