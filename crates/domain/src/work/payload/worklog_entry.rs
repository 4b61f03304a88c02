//! One line of a worker's log.

use crate::ids::{RunId, TaskId};
use crate::work::authorship;
use crate::work::payload::{Assignment, ErrorCode, Resource, SubagentResult};
use crate::work::rules;
use countersign_contract::{
    Contract, Form, Kin, List, Name, Rule, RuleInfo, Text, Timestamp, Untrusted, Version, shape,
};

shape! {
    /// What a worker did at one point, and what comes next. A worklog only ever grows.
    pub struct WorklogEntry {
        /// The version of this contract.
        pub schema_version: Option<Version<1, 0, 3>>,
        /// When.
        pub timestamp: Timestamp,
        /// The run.
        pub run_id: RunId,
        /// When the line was written, if that is not when it happened.
        pub generated_at: Option<Timestamp>,
        /// The task.
        pub task_id: TaskId,
        /// Who.
        pub actor: Name = "coder",
        /// What was done.
        pub action: Text = "edit",
        /// The files that were changed.
        pub files_touched: List<Resource> = ["src/money/round.rs"],
        /// What was decided, and why.
        pub decision: Untrusted<Text> = "use a decimal type",
        /// What came of it.
        pub result: Untrusted<Text> = "tests pass",
        /// What comes next.
        pub next_step: Text = "submit",
        /// Of a blocked or failed step: why, as a code.
        pub code: Option<ErrorCode>,
        /// What shows it.
        pub evidence: Option<String>,
    }
}

impl Contract for WorklogEntry {
    const NAME: &'static str = "worklog_entry";
    const VERSION: &'static str = "1.0.0";
    const DOMAIN: &'static str = "work";
    const SUMMARY: &'static str = "One line of a worker's append-only log";
    const MARKS: &'static [&'static str] = &["files_touched", "next_step"];
    const HAS_PAST: bool = true;
    const FORMS: &'static [Form] = &[Form::Json, Form::JsonLines, Form::Yaml];

    fn emptied() -> Option<&'static RuleInfo> {
        Some(&rules::worklog_entry::WORKLOG_REWRITTEN.info)
    }

    fn rules() -> &'static [&'static Rule<Self>] {
        rules::worklog_entry::RULES
    }

    fn version(&self) -> Option<&str> {
        self.schema_version.as_ref().map(Version::as_str)
    }

    fn names(&self) -> Vec<String> {
        let hand = std::iter::once((self.task_id.as_str(), self.actor.as_str()));
        std::iter::once(Assignment::name(&self.run_id, &self.task_id)).chain(authorship::names(hand)).collect()
    }

    fn kin(&self) -> Vec<Kin> {
        let name = Assignment::name(&self.run_id, &self.task_id);
        vec![Kin::required(Assignment::NAME, name.clone()), Kin::among(SubagentResult::NAME, name)]
    }
}
