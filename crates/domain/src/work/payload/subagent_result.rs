//! What a worker answers with.

use crate::ids::{RunId, TaskId};
use crate::work::payload::{Assignment, Changes};
use crate::work::rules;
use countersign_contract::{
    Contract, Form, Kin, List, Outside, Rule, Text, Timestamp, Untrusted, Version, choice, shape,
};
use serde_json::Value;

shape! {
    /// How a task ended for its worker: what changed, which criteria are met, and what shows it.
    pub struct SubagentResult {
        /// The version of this contract.
        pub schema_version: Version<1, 0, 3>,
        /// The run.
        pub run_id: RunId,
        /// When it was written.
        pub generated_at: Option<Timestamp>,
        /// The task.
        pub task_id: TaskId,
        /// How it ended.
        pub status: ResultStatus,
        /// What was changed. In Markdown `files_touched` means the same, and an entry of it may be a path alone.
        pub changes: Changes,
        /// An answer for each criterion of the assignment.
        pub acceptance_check: List<AcceptanceAnswer> = [AcceptanceAnswer::example()],
        /// Where the worker kept its log.
        pub worklog_path: Text<1, 1000> = "worklogs/T-12.jsonl",
        /// What the orchestrator should know, in at most five notes.
        pub notes_for_orchestrator: List<Untrusted<Text>, 0, 5> = ["no conflicts, ready to merge"],
    }
}

shape! {
    /// Whether one criterion is met.
    pub struct AcceptanceAnswer {
        /// The criterion, in the words of the assignment.
        pub criterion: Untrusted<Text> = "Totals that end in a half round to the even cent",
        /// Whether it is met.
        pub status: AcceptanceStatus,
        /// What shows it.
        pub evidence: String = "cargo test money: 14 passed",
    }
}

choice! {
    /// How a task ended for its worker.
    pub enum ResultStatus { Done = "done", Blocked = "blocked", Failed = "failed" }
}

choice! {
    /// Whether a criterion is met.
    pub enum AcceptanceStatus { Pass = "pass", Fail = "fail" }
}

impl Contract for SubagentResult {
    const NAME: &'static str = "subagent_result";
    const VERSION: &'static str = "1.0.0";
    const DOMAIN: &'static str = "work";
    const SUMMARY: &'static str = "What a worker answers to an assignment";
    const MARKS: &'static [&'static str] = &["acceptance_check"];
    const FORMS: &'static [Form] = &[Form::Json, Form::Yaml, Form::Markdown];

    fn rules() -> &'static [&'static Rule<Self>] {
        rules::subagent_result::RULES
    }

    fn version(&self) -> Option<&str> {
        Some(self.schema_version.as_str())
    }

    fn names(&self) -> Vec<String> {
        vec![Assignment::name(&self.run_id, &self.task_id)]
    }

    fn kin(&self) -> Vec<Kin> {
        let task = Assignment::name(&self.run_id, &self.task_id);
        vec![Kin::required(Assignment::NAME, task.clone()), Kin::among("worklog_entry", task)]
    }

    fn default_for(pointer: &str, _: &Value, _: &Outside) -> Option<Value> {
        (pointer == "/schema_version").then(|| Self::VERSION.into())
    }
}
