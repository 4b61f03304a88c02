//! A line in a worker's log.

use super::task_spec::refused;
use super::text_of;
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Observer, Refusal, Role, Seen, Writes,
};
use crate::ids::{RunId, TaskId};
use crate::work::event::WORKLOG_ADDED;
use crate::work::payload::{ErrorCode, Resource, WorklogEntry};
use crate::work::row::{RunRow, TaskRow};
use crate::work::{holding, picking, steering};
use countersign_contract::diagnostic::{Code, Source};
use countersign_contract::{Contract, Int, List, Request, Text, Untrusted, check, shape};
use serde_json::{Value, json};

shape! {
    /// Add a line to the worklog of a task.
    pub closed struct AddWorklog {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// The number of the lease.
        pub lease: Option<Int>,
        /// What was done.
        pub action: Text<1, 200> = "edit",
        /// The files.
        pub files_touched: Option<List<Resource>> = ["src/money/round.rs"],
        /// What was decided.
        pub decision: Untrusted<Text> = "use a decimal type",
        /// What came of it.
        pub result: Untrusted<Text> = "tests pass",
        /// What comes next.
        pub next_step: Text<1, 1000> = "submit",
        /// Why it stopped, if it did.
        pub code: Option<ErrorCode>,
        /// What shows it.
        pub evidence: Option<String>,
    }
}

shape! {
    /// What was written.
    pub struct WorklogAnswer {
        /// The event.
        pub seq: Int,
        /// The task.
        pub task_id: String,
    }
}

impl AddWorklog {
    fn entry(&self, run: &str, actor: &str, now: &str) -> Value {
        let mut entry = json!({
            "schema_version": WorklogEntry::VERSION, "timestamp": now, "run_id": run, "task_id": self.task_id,
            "actor": actor, "action": self.action, "files_touched": self.files_touched.as_deref().unwrap_or_default(),
            "decision": self.decision, "result": self.result, "next_step": self.next_step,
        });
        if let Some(code) = &self.code {
            entry["code"] = json!(code);
        }
        if let Some(evidence) = &self.evidence {
            entry["evidence"] = json!(evidence);
        }
        entry
    }
}

impl Command for AddWorklog {
    const INFO: CommandInfo = CommandInfo {
        id: "worklog.add",
        summary: "Add a line to the worklog of a task",
        may: &[Role::Agent, Role::Orchestrator],
        invalidates: &["worklog.show", "task.show", "task.list", "reconcile"],
        refuses: Code::ALL,
        writes: Writes::Events,
    };
    type Answer = WorklogAnswer;

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        let outside = observer.outside();
        let now = outside.now.map(|now| now.to_string()).unwrap_or_default();
        let run = self.run_id.as_ref().map_or("00000000-0000-4000-8000-000000000000", |run| run.as_str());
        let text = self.entry(run, "worker", &now).to_string();
        let source = Source { name: "the worklog entry", text: &text };
        let request = Request { contract: Some(WorklogEntry::NAME), ..Request::alone(source, &outside) };
        let decision = check(&observer.checker(), &request).decision;
        match decision.code {
            Some(code) => Err(refused(code, "the worklog entry", &decision.reason, decision.details.diagnostics)),
            None => Ok(Observed::default()),
        }
    }

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        picking::task_needs(self.run_id.as_ref(), &self.task_id, seen)
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let run = picking::run(self.run_id.as_ref(), desk.seen())?;
        let task = picking::task(&run, &self.task_id, desk.seen())?;
        let actor = desk.moment().actor.clone();
        let given = self.lease.map(|lease| lease.get().unsigned_abs());
        // Whoever works on a task writes its log; when nobody does, whoever did so last may still say what happened, or, since
        // they may be gone, who leads the run or a person.
        let may = task.owner.as_ref() == Some(&actor) || steering::directs(&run, desk);
        match picking::own_lease(&task, given, desk) {
            Ok(hold) => desk.write_under(task.lease_name(), hold.number),
            Err(_) if task.lease.is_none() && may => {}
            Err(refusal) => return Err(of_another(&run, &task, refusal)),
        }
        let files = holding::places(self.files_touched.as_deref().unwrap_or_default());
        let mut facts = json!({ "action": self.action, "files": files, "run": run.run, "task": task.task });
        if let Some(code) = &self.code {
            facts["code"] = json!(code);
        }
        let entry = Untrusted::new(self.entry(&run.run, &actor, &desk.moment().now).to_string());
        desk.record(Happening::of_run(WORKLOG_ADDED, &run.run, facts).with_texts(vec![entry]));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> WorklogAnswer {
        let event = stored.events.first();
        WorklogAnswer { seq: event.map_or(0, |event| event.seq).into(), task_id: text_of(event, "task") }
    }
}

/// Where nobody works on a task, it is said who may still write its log.
fn of_another(run: &RunRow, task: &TaskRow, refusal: Refusal) -> Refusal {
    match task.owner.as_deref().filter(|_| task.lease.is_none()) {
        Some(owner) => Refusal { help: steering::who_writes(run, owner).into(), ..refusal },
        None => refusal,
    }
}
