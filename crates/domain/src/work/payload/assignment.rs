//! What an orchestrator gives a worker to do.

use crate::ids::{RunId, TaskId};
use crate::work::payload::Resource;
use crate::work::places::Placed;
use crate::work::rules;
use countersign_contract::{
    Contract, Int, Kin, List, Outside, Rule, Text, Timestamp, Untrusted, Version, choice, shape,
};
use serde_json::Value;

shape! {
    /// One task for one worker: what to do, what it may touch, when it counts as done.
    pub struct Assignment {
        /// The version of this contract.
        pub schema_version: Version<1, 0, 3>,
        /// The run.
        pub run_id: RunId,
        /// When it was written.
        pub generated_at: Option<Timestamp>,
        /// What kind of packet this is.
        pub packet_type: PacketType,
        /// What the whole run is for.
        pub global_objective: Text<1, 5000> = "Round money half to even",
        /// The task.
        pub task: Task,
        /// The locks of the run at this time, released ones included.
        pub active_locks: List<ActiveLock> = [ActiveLock::example()],
        /// What the worker should know.
        pub context_package: List<ContextItem> = [ContextItem::example()],
        /// What the worker has to answer with.
        pub required_output_schema: OutputSchema,
    }
}

shape! {
    /// A task, as its worker sees it.
    pub struct Task {
        /// The task.
        pub task_id: TaskId,
        /// What to do, in a line.
        pub title: Text<1, 500> = "Round invoice totals",
        /// Whether others may work at the same time.
        pub kind as "type": TaskKind,
        /// The tasks that must be done before.
        pub dependencies: List<TaskId>,
        /// What the worker may change; everything inside an entry belongs to it.
        pub lock_scope: List<Resource, 1>,
        /// What the worker must not change.
        pub forbidden_scope: List<Resource> = ["vendor"],
        /// When it counts as done, one condition each.
        pub acceptance_criteria: List<Untrusted<Text>, 1> = ["Totals that end in a half round to the even cent"],
        /// Where the worker keeps its log.
        pub worklog_path: Text<1, 1000> = "worklogs/T-12.jsonl",
        /// After how long without a sign of life the task is taken away.
        pub timeout_seconds: Int<30> = 1200,
        /// How often the worker gives a sign of life; less than the timeout.
        pub heartbeat_interval_seconds: Int<5> = 120,
        /// How soon; `normal` if absent.
        pub priority: Option<Priority> = "high",
    }
}

shape! {
    /// A resource that a task holds or has held.
    pub struct ActiveLock {
        /// The task that holds it.
        pub task_id: TaskId = "T-9",
        /// What is held, with everything inside.
        pub resource: Resource = "src/api",
        /// Whether it is still held. A released lock stays in the list.
        pub active: bool,
    }
}

impl Placed for ActiveLock {
    fn place(&self) -> &str {
        self.resource.place()
    }
}

shape! {
    /// Something that the worker should know.
    pub struct ContextItem {
        /// What it is.
        pub kind: ContextKind,
        /// The path, text or command line. It is data, not an instruction.
        pub value: Untrusted<Text> = "docs/rounding.md",
    }
}

choice! {
    /// The only kind of packet.
    pub enum PacketType { Assignment = "assignment" }
}

choice! {
    /// What a worker answers with: the contract `subagent_result`.
    pub enum OutputSchema { SubagentResult = "subagent_result_v1" }
}

choice! {
    /// Whether others may work at the same time.
    pub enum TaskKind { Parallelizable = "parallelizable", Serial = "serial" }
}

choice! {
    /// How soon.
    pub enum Priority { Low = "low", Normal = "normal", High = "high", Critical = "critical" }
}

choice! {
    /// What an item of context is.
    pub enum ContextKind { File = "file", Note = "note", Command = "command", Constraint = "constraint" }
}

impl Assignment {
    /// The name under which other documents mean the assignment of a task.
    pub fn name(run_id: &RunId, task_id: &TaskId) -> String {
        format!("{run_id}/{task_id}")
    }
}

impl Contract for Assignment {
    const NAME: &'static str = "assignment";
    const VERSION: &'static str = "1.0.0";
    const DOMAIN: &'static str = "work";
    const SUMMARY: &'static str = "One task that an orchestrator gives to one worker";
    const MARKS: &'static [&'static str] = &["packet_type"];

    fn rules() -> &'static [&'static Rule<Self>] {
        rules::assignment::RULES
    }

    fn version(&self) -> Option<&str> {
        Some(self.schema_version.as_str())
    }

    fn names(&self) -> Vec<String> {
        vec![Self::name(&self.run_id, &self.task.task_id)]
    }

    fn kin(&self) -> Vec<Kin> {
        let needs = self.task.dependencies.iter();
        let needs = needs.map(|task| Kin::optional(Self::NAME, Self::name(&self.run_id, task)));
        needs.chain([Kin::among("handoff_bundle", self.run_id.as_str())]).collect()
    }

    fn default_for(pointer: &str, _: &Value, _: &Outside) -> Option<Value> {
        match pointer {
            "/schema_version" => Some(Self::VERSION.into()),
            "/packet_type" => Some(PacketType::Assignment.as_str().into()),
            "/required_output_schema" => Some(OutputSchema::SubagentResult.as_str().into()),
            _ => None,
        }
    }
}
