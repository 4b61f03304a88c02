//! What an orchestrator decides in one turn.

use crate::ids::{DeltaId, RunId, TaskId};
use crate::work::authorship;
use crate::work::payload::{ActiveLock, Assignment, ErrorCode, SubagentResult};
use crate::work::rules;
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{
    Contract, Int, JsonObject, Kin, List, Outside, Report, Rule, Subject, Text, Timestamp, Version, shape,
};
use serde_json::{Value, json};

shape! {
    /// One turn of an orchestrator: what changes in the operator ledger, who gets what to do, what is in the way. It is
    /// applied whole or not at all.
    pub struct OrchestratorOutput {
        /// The version of this contract.
        pub schema_version: Version<1, 0, 3>,
        /// The run.
        pub run_id: RunId,
        /// When it was written.
        pub generated_at: Option<Timestamp>,
        /// The version of the operator ledger that it was made from.
        pub base_version as "x_base_version": Option<Int>,
        /// Changes to rows of the operator ledger, applied in this order.
        pub ledger_delta: List<LedgerDelta> = [LedgerDelta::example()],
        /// The tasks that are given out.
        pub assignments: List<Assignment> = [Assignment::example()],
        /// The locks of the run after this turn, released ones included.
        pub active_locks: List<ActiveLock> = [json!({ "task_id": "T-12", "resource": "src/money", "active": true })],
        /// What is in the way of tasks that are blocked.
        pub blockers: List<Blocker>,
        /// What the orchestrator will do next.
        pub next_actions: List<Text> = ["wait for T-12"],
    }
}

shape! {
    /// A change to one row of the operator ledger.
    pub struct LedgerDelta {
        /// The task whose row it is.
        pub task_id: TaskId,
        /// The state of the task from here on.
        pub status: TaskStatus = "in_progress",
        /// Who has the task; may be empty until somebody does.
        pub owner: String = "coder",
        /// Why.
        pub reason: Text = "the task is free and its scope is not locked",
        /// What makes this change this one: a second one with the same id is not applied.
        pub delta_id: DeltaId = "d-1",
        /// The title of a row that is made by this change.
        pub title: Option<Text<1, 500>>,
        /// When the worker last gave a sign of life.
        pub last_heartbeat_at: Option<Timestamp>,
        /// Whether the worker was silent for longer than its timeout.
        pub timed_out: Option<bool>,
        /// How long to wait before the task is tried again.
        pub retry_after_ms: Option<Int>,
    }
}

shape! {
    /// What is in the way of a task.
    pub struct Blocker {
        /// The task.
        pub task_id: TaskId,
        /// Why, as a code.
        pub code: ErrorCode,
        /// Why, in words.
        pub reason: Text = "T-9 is not done",
        /// More about it.
        pub details: Option<JsonObject>,
    }
}

impl OrchestratorOutput {
    /// The name under which other documents mean the turn that holds a delta.
    pub fn name_of_delta(run_id: &RunId, delta_id: &str) -> String {
        format!("{run_id}/delta/{delta_id}")
    }
}

impl Contract for OrchestratorOutput {
    const NAME: &'static str = "orchestrator_output";
    const VERSION: &'static str = "1.0.0";
    const DOMAIN: &'static str = "work";
    const SUMMARY: &'static str = "One turn of an orchestrator: ledger changes, assignments, locks, blockers";
    const MARKS: &'static [&'static str] = &["ledger_delta"];

    fn rules() -> &'static [&'static Rule<Self>] {
        rules::orchestrator_output::RULES
    }

    /// An assignment obeys its own rules wherever it stands.
    fn check_parts(subject: &Subject<'_, Self>, report: &mut Report) {
        let Some(list) = subject.root.get("assignments") else { return };
        for (index, (assignment, at)) in subject.record.assignments.iter().zip(list.items()).enumerate() {
            subject.check_part(assignment, at, &Pointer::at("/assignments").item(index), report);
        }
    }

    fn version(&self) -> Option<&str> {
        Some(self.schema_version.as_str())
    }

    fn names(&self) -> Vec<String> {
        let run = std::iter::once(self.run_id.to_string());
        let deltas = self.ledger_delta.iter().map(|delta| Self::name_of_delta(&self.run_id, delta.delta_id.as_str()));
        let hands = self.ledger_delta.iter().map(|delta| (delta.task_id.as_str(), delta.owner.as_str()));
        run.chain(deltas).chain(authorship::names(hands)).collect()
    }

    fn kin(&self) -> Vec<Kin> {
        let told = self.ledger_delta.iter().map(|delta| Assignment::name(&self.run_id, &delta.task_id));
        let results = told.map(|task| Kin::among(SubagentResult::NAME, task));
        results.chain([Kin::required("handoff_bundle", self.run_id.as_str())]).collect()
    }

    fn default_for(pointer: &str, document: &Value, outside: &Outside) -> Option<Value> {
        if pointer == "/schema_version" {
            return Some(Self::VERSION.into());
        }
        let inside = pointer.strip_prefix("/assignments/")?;
        Assignment::default_for(&inside[inside.find('/')?..], document, outside)
    }
}
