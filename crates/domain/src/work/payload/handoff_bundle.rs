//! What an orchestrator with a fresh context needs to go on.

use crate::ids::{RunId, TaskId};
use crate::work::authorship;
use crate::work::payload::{ActiveLock, Blocker, Priority, Resource, Target};
use crate::work::rules;
use crate::work::task_state::TaskStatus;
use countersign_contract::{Contract, Int, List, Outside, Rule, Text, Timestamp, Version, shape};
use serde_json::{Value, json};

shape! {
    /// A run as it stands, for somebody who knows nothing of it.
    pub struct HandoffBundle {
        /// The version of this contract.
        pub schema_version: Version<1, 0, 3>,
        /// The run.
        pub run_id: RunId,
        /// When it was written.
        pub generated_at: Option<Timestamp>,
        /// The version of the operator ledger that it shows.
        pub base_version as "x_base_version": Option<Int>,
        /// What the run is for.
        pub objective: Text<1, 5000> = "Round money half to even",
        /// What must be kept to, one sentence each.
        pub constraints: List<Text> = ["No new dependencies"],
        /// The operator ledger: one row for each task.
        pub ledger: List<LedgerRow> = [
            json!({
                "task_id": "T-9", "title": "Choose a decimal type", "status": "done", "owner": "planner",
                "lock_scope": ["docs/rounding.md"], "timeout_seconds": 600, "heartbeat_interval_seconds": 60,
                "priority": "normal",
            }),
            LedgerRow::example(),
        ],
        /// The locks of the run, released ones included.
        pub active_locks: List<ActiveLock> = [json!({ "task_id": "T-12", "resource": "src/money", "active": true })],
        /// Which task waits for which. A task that waits for none may be left out.
        pub dependencies: List<Dependency> = [Dependency::example()],
        /// What is in the way of tasks that are blocked.
        pub open_blockers: List<Blocker>,
        /// When the run counts as done.
        pub acceptance_targets: List<Target, 1>,
    }
}

shape! {
    /// A row of the operator ledger.
    pub struct LedgerRow {
        /// The task.
        pub task_id: TaskId,
        /// What to do, in a line.
        pub title: Text<1, 500> = "Round invoice totals",
        /// The state of the task.
        pub status: TaskStatus = "in_progress",
        /// Who has the task; may be empty until somebody does.
        pub owner: String = "coder",
        /// What the worker may change.
        pub lock_scope: List<Resource, 1>,
        /// After how long without a sign of life the task is taken away.
        pub timeout_seconds: Int<30> = 1200,
        /// How often the worker gives a sign of life; less than the timeout.
        pub heartbeat_interval_seconds: Int<5> = 120,
        /// How soon.
        pub priority: Priority = "high",
        /// When the worker last gave a sign of life.
        pub last_heartbeat_at: Option<Timestamp>,
    }
}

shape! {
    /// What a task waits for.
    pub struct Dependency {
        /// The task that waits.
        pub task_id: TaskId,
        /// The tasks that must be done before.
        pub depends_on: List<TaskId, 1> = ["T-9"],
    }
}

impl Contract for HandoffBundle {
    const NAME: &'static str = "handoff_bundle";
    const VERSION: &'static str = "1.0.0";
    const DOMAIN: &'static str = "work";
    const SUMMARY: &'static str = "A run as it stands, for an orchestrator with a fresh context";
    const MARKS: &'static [&'static str] = &["acceptance_targets"];
    const HAS_PAST: bool = true;

    fn rules() -> &'static [&'static Rule<Self>] {
        rules::handoff_bundle::RULES
    }

    fn version(&self) -> Option<&str> {
        Some(self.schema_version.as_str())
    }

    fn names(&self) -> Vec<String> {
        let hands = self.ledger.iter().map(|row| (row.task_id.as_str(), row.owner.as_str()));
        std::iter::once(self.run_id.to_string()).chain(authorship::names(hands)).collect()
    }

    fn default_for(pointer: &str, _: &Value, _: &Outside) -> Option<Value> {
        (pointer == "/schema_version").then(|| Self::VERSION.into())
    }
}
