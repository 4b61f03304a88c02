//! One line of a worker's log.

use crate::ids::{RunId, TaskId};
use crate::work::rules;
use countersign_contract::{Contract, Form, Kin, List, Name, Rule, Text, Timestamp, Untrusted, shape};

shape! {
    /// What a worker did at one point, and what comes next. A worklog only ever grows.
    pub struct WorklogEntry {
        /// When.
        pub timestamp: Timestamp,
        /// The run.
        pub run_id: RunId,
        /// The task.
        pub task_id: TaskId,
        /// Who.
        pub actor: Name = "coder",
        /// What was done.
        pub action: Text = "edit",
        /// The files that were touched.
        pub files_touched: List<String>,
        /// What was decided, and why.
        pub decision: Untrusted<Text> = "assert on status codes",
        /// What came of it.
        pub result: Untrusted<Text> = "tests pass",
        /// What comes next.
        pub next_step: Text = "submit",
        /// Of a blocked or failed step: why, as a code.
        pub code: Option<Text>,
        /// What shows it.
        pub evidence: Option<Text>,
    }
}

impl Contract for WorklogEntry {
    const NAME: &'static str = "worklog_entry";
    const VERSION: &'static str = "1.0.0";
    const DOMAIN: &'static str = "work";
    const SUMMARY: &'static str = "One line of a worker's append-only log";
    const MARKS: &'static [&'static str] = &["files_touched", "next_step"];
    const FORMS: &'static [Form] = &[Form::Json, Form::JsonLines, Form::Yaml];

    fn rules() -> &'static [&'static Rule<Self>] {
        rules::worklog_entry::RULES
    }

    fn names(&self) -> Vec<String> {
        vec![format!("{}/{}", self.run_id, self.task_id)]
    }

    fn kin(&self) -> Vec<Kin> {
        vec![Kin::required("assignment", format!("{}/{}", self.run_id, self.task_id))]
    }
}
