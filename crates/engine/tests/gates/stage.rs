//! A run that follows a plan, and short ways to speak at the gates of its tasks.

use crate::desk::Desk;
use countersign_domain::deciding::Role;
use countersign_engine::{Call, Failure};
use serde_json::{Value, json};

/// What everything is bound to, unless a test says otherwise.
pub const COMMIT: &str = "9fceb02d0ae598e95dc970b74767f19372d61af8";
/// Another commit.
pub const OTHER: &str = "1fceb02d0ae598e95dc970b74767f19372d61af8";

/// A code, and why.
pub type No = (String, String);

/// How far a run has come, and how it gets there.
pub type Reached = (&'static str, fn(&Stage));

/// A run that follows a plan, and is carried out by the one process in which everybody speaks who only says who they are.
pub struct Stage {
    pub desk: Desk,
    pub run: String,
}

/// A criterion that a person or an agent decides by their word.
pub fn word(n: usize) -> Value {
    json!({ "text": format!("criterion {n} holds") })
}

/// A criterion that is decided by a check.
pub fn checked(n: usize, check: Value) -> Value {
    json!({ "text": format!("criterion {n} holds"), "check": check })
}

/// A criterion that asks for a kind of evidence.
pub fn asking(n: usize, kind: &str) -> Value {
    let url = "http://127.0.0.1:8000/health";
    match kind {
        "statement" => word(n),
        "file" => checked(n, json!({ "file": { "path": "src/a" } })),
        "diff" => checked(n, json!({ "diff": true })),
        "port" => checked(n, json!({ "port": 8000 })),
        "http" => checked(n, json!({ "http": { "url": url } })),
        "command" => checked(n, json!({ "command": ["make", "check"] })),
        "page" => checked(n, json!({ "page": { "url": url } })),
        "test" => checked(n, json!({ "test": ["pytest", "-q"] })),
        other => panic!("{other}"),
    }
}

/// A task of a plan, in a folder of its own.
pub fn task(id: &str, criteria: &[Value]) -> Value {
    let path = format!("src/{}", id.to_lowercase());
    json!({
        "id": id, "title": format!("Work on {path}"), "agent": "coder", "lock_scope": [path], "acceptance": criteria,
        "timeout": "10m", "heartbeat": "1m",
    })
}

/// A plan with these tasks and gates.
pub fn plan(tasks: &[Value], gates: Value) -> Value {
    json!({
        "plan": "1.0", "objective": "Round money half to even", "gates": gates, "tasks": tasks,
        "agents": {
            "coder": { "command": ["coder"] },
            "critic": { "command": ["critic"], "role": "validator" },
            "editor": { "command": ["editor"], "role": "validator" },
            "arbiter": { "command": ["arbiter"], "role": "judge" },
        },
    })
}

/// A plan with one task that has two criteria, each decided by the word of the critic.
pub fn of_words(retries: u32) -> Value {
    let mut only = task("T-1", &[word(1), word(2)]);
    only["retries"] = json!(retries);
    plan(&[only], json!({ "validate": "critic" }))
}

/// The same with a judge.
pub fn with_judge(judge: Value) -> Value {
    let mut plan = of_words(0);
    plan["gates"]["judge"] = judge;
    plan
}

/// The verdict that the ruling gives, clause by clause.
pub fn follows(statuses: &[&str]) -> &'static str {
    let count = |status: &str| statuses.iter().filter(|it| **it == status).count();
    match (count("PASS"), count("FAIL")) {
        (passed, _) if passed == statuses.len() && passed > 0 => "PASS",
        (0, failed) if failed > 0 => "FAIL",
        (0, _) => "BLOCKED",
        _ => "PARTIAL",
    }
}

/// A response with a status for each criterion in turn.
pub fn response(task: &str, validator: &str, statuses: &[&str]) -> Value {
    let results: Vec<Value> = statuses
        .iter()
        .enumerate()
        .map(|(n, status)| {
            json!({
                "criterion_id": format!("AC-{}", n + 1), "status": status, "remediation": "round to even",
                "evidence": format!("tests/round.py:{} compares 2.5 with 2", n + 40),
            })
        })
        .collect();
    json!({
        "task_id": task, "verdict": follows(statuses), "criteria_results": results, "validator_id": validator,
        "timestamp": "2027-01-15T08:00:00Z",
    })
}

/// A piece of evidence.
pub fn shows(criterion: &str, kind: &str, status: &str) -> Value {
    json!({ "criterion": criterion, "kind": kind, "status": status, "says": "12 tests were run" })
}

/// A request with more fields.
pub fn with(mut request: Value, more: Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}

/// Somebody who says who they are, in a process of their own.
pub fn of_process(actor: &str, pid: u32) -> Call {
    Call { authn: format!("declared uid=1000 pid={pid}"), ..Call::declared(actor) }
}

/// Somebody who answers for what is accepted.
pub fn reviewer(actor: &str) -> Call {
    Call { roles: vec![Role::Reviewer], authn: "terminal".to_owned(), ..Call::declared(actor) }
}

/// Somebody who answers for the project.
pub fn owner(actor: &str) -> Call {
    Call { roles: vec![Role::Owner], authn: "terminal".to_owned(), ..Call::declared(actor) }
}

/// What comes of a command: its answer, or why not.
pub fn say(desk: &Desk, call: &Call, id: &str, request: &Value) -> Result<Value, No> {
    match desk.engine.ask(&desk.around, call, id, &request.to_string()) {
        Ok(reply) => Ok(reply.answer),
        Err(Failure::Refused(refusal)) => Err((refusal.code.as_str().to_owned(), refusal.reason)),
        Err(Failure::Malformed(decision)) => Err((decision.code.unwrap().as_str().to_owned(), decision.reason)),
        Err(other) => panic!("{id} {request}: {other:?}"),
    }
}

/// The code of a refusal.
pub fn code(said: Result<Value, No>) -> String {
    match said {
        Err((code, _)) => code,
        Ok(answer) => panic!("it was not refused: {answer}"),
    }
}

impl Stage {
    /// A run of a plan.
    pub fn of(plan: Value) -> Self {
        Self::on(Desk::new(), plan)
    }

    /// The same in a project that is there already.
    pub fn on(desk: Desk, plan: Value) -> Self {
        let started = desk.ok("ana", "run.start", json!({ "plan": plan }));
        let stage = Self { run: started["run_id"].as_str().unwrap().to_owned(), desk };
        stage.lead(true);
        stage
    }

    /// That process says that it carries the run out, or that it has stopped to.
    pub fn lead(&self, leads: bool) {
        self.desk.ok("ana", "run.lead", json!({ "run_id": self.run, "leads": leads }));
    }

    /// Another process carries the run out from here on, or none does.
    pub fn pass_on(&self, led: bool) {
        self.lead(false);
        if led {
            let request = json!({ "run_id": self.run, "leads": true });
            say(&self.desk, &of_process("lead", 1), "run.lead", &request).unwrap();
        }
    }

    /// A run of a plan whose first task was done, as its worker says.
    pub fn claimed(plan: Value) -> Self {
        let stage = Self::of(plan);
        stage.work("T-1");
        stage
    }

    /// A task is claimed by its worker and brought.
    pub fn work(&self, task: &str) -> u64 {
        let lease = self.claim("coder", task);
        // Who lost it before says under which lease it is brought.
        self.desk.ok("coder", "task.submit", json!({ "result": self.result(task, "done"), "lease": lease }));
        lease
    }

    pub fn claim(&self, worker: &str, task: &str) -> u64 {
        let request = json!({ "run_id": self.run, "task_id": task });
        self.desk.ok(worker, "task.claim", request)["lease"].as_u64().unwrap()
    }

    /// What a worker brings.
    pub fn result(&self, task: &str, status: &str) -> Value {
        let criteria = self.task(task)["acceptance_criteria"].as_array().unwrap().clone();
        let checks = criteria.iter().map(|text| match status {
            "done" => json!({ "criterion": text, "status": "pass", "evidence": "14 tests pass" }),
            _ => json!({ "criterion": text, "status": "fail", "evidence": "2 of 14 tests fail" }),
        });
        json!({
            "schema_version": "1.0.0", "run_id": self.run, "task_id": task, "status": status,
            "changes": [{ "resource": format!("src/{}", task.to_lowercase()), "action": "edit" }],
            "acceptance_check": checks.collect::<Vec<_>>(), "worklog_path": format!("worklogs/{task}.jsonl"),
            "notes_for_orchestrator": ["ACCEPTANCE_FAILED: the tests say no"],
        })
    }

    pub fn task(&self, task: &str) -> Value {
        self.desk.look("ana", "task.show", json!({ "run_id": self.run, "task_id": task }))
    }

    pub fn status(&self, task: &str) -> String {
        self.task(task)["task"]["status"].as_str().unwrap().to_owned()
    }

    pub fn lease(&self, task: &str) -> Value {
        self.task(task)["lease"].clone()
    }

    /// How the gates of a task stand.
    pub fn gate(&self, task: &str) -> Value {
        self.desk.look("ana", "gate.status", json!({ "run_id": self.run, "task_id": task }))
    }

    pub fn inbox(&self) -> Vec<Value> {
        self.desk.look("ana", "inbox.list", json!({}))["items"].as_array().unwrap().clone()
    }

    /// What names a task at a gate, under its lease and bound to the commit.
    pub fn at(&self, task: &str) -> Value {
        let mut request = json!({ "run_id": self.run, "task_id": task, "bound": COMMIT });
        let lease = self.lease(task);
        if !lease.is_null() {
            request["lease"] = lease;
        }
        request
    }

    /// A request to validate.
    pub fn validation(&self, task: &str, validator: &str, statuses: &[&str]) -> Value {
        let more = json!({ "validator": validator, "response": response(task, validator, statuses) });
        with(self.at(task), more)
    }

    pub fn ask(&self, actor: &str, id: &str, request: &Value) -> Result<Value, No> {
        say(&self.desk, &Call::declared(actor), id, request)
    }

    /// A person decides how the run goes on, with the mark of what they are asked now.
    pub fn decide(&self, id: &str, mut request: Value) -> Result<Value, No> {
        let run = request.get("run_id").cloned().unwrap_or_else(|| json!(self.run));
        let task = request.get("task_id").or_else(|| request.get("task")?.get("task_id")).cloned();
        let is_asked = |item: &&Value| Some(&item["task_id"]) == task.as_ref() && item["run_id"] == run;
        if let Some(item) = self.inbox().iter().find(is_asked) {
            request["shown"] = item["shown"].clone();
        }
        say(&self.desk, &owner("olga"), id, &request)
    }

    /// A validator found this about T-1.
    pub fn validate(&self, validator: &str, statuses: &[&str]) -> Value {
        self.ask("ana", "gate.validate", &self.validation("T-1", validator, statuses)).unwrap()
    }

    pub fn judge(&self, judge: &str, verdict: &str) -> Result<Value, No> {
        let more = json!({ "judge": judge, "verdict": verdict, "reasoning": "I read the evidence" });
        self.ask("ana", "gate.judge", &with(self.at("T-1"), more))
    }

    pub fn land(&self, task: &str, bound: &str) -> Result<Value, No> {
        self.ask("ana", "gate.land", &with(self.at(task), json!({ "bound": bound })))
    }

    /// What a person answers to what they are shown of T-1 now.
    pub fn answer(&self, id: &str, more: Value) -> Result<Value, No> {
        let request = json!({ "run_id": self.run, "task_id": "T-1", "shown": self.gate("T-1")["shown"] });
        say(&self.desk, &reviewer("pia"), id, &with(request, more))
    }

    pub fn accept(&self, failures: &[&str]) -> Result<Value, No> {
        self.answer("gate.accept", json!({ "failures": failures, "reason": "it is replaced next week" }))
    }

    /// The facts of the last event of a kind.
    pub fn last(&self, kind: &str) -> Value {
        self.desk.events().into_iter().rfind(|(it, _)| it == kind).unwrap_or_else(|| panic!("no {kind}")).1
    }
}
