//! What a task is asked for with, checked like the assignment that will be made from it.

use crate::deciding::{Observer, Refusal};
use crate::ids::TaskId;
use crate::work::holding::places;
use crate::work::payload::{Assignment, ContextItem, Priority, Resource, Task, TaskKind};
use crate::work::row::Spec;
use countersign_contract::diagnostic::{Code, Diagnostic, Source};
use countersign_contract::{Contract, Int, List, Request, Text, Untrusted, check, shape};
use serde_json::{Value, json};

const TIMEOUT_SECONDS: i64 = 20 * 60;
/// How long a worker may be silent at most: a week.
pub(super) const TIMEOUT_SECONDS_MAX: i64 = 7 * 24 * 60 * 60;
const HEARTBEAT_SECONDS: i64 = 2 * 60;

shape! {
    /// A task to be done.
    pub closed struct TaskSpec {
        /// Its id.
        pub task_id: TaskId,
        /// One line.
        pub title: Text<1, 500> = "Round invoice totals",
        /// Whether others may go on beside it; serial, if it is not said.
        pub kind as "type": Option<TaskKind>,
        /// The tasks that must be done before.
        pub dependencies: Option<List<TaskId>>,
        /// What it may change.
        pub lock_scope: List<Resource, 1>,
        /// What it may not change.
        pub forbidden_scope: Option<List<Resource>> = ["vendor"],
        /// When it is done.
        pub acceptance_criteria: List<Untrusted<Text>, 1> = ["Totals that end in a half round to the even cent"],
        /// Where its worker keeps a log; `worklogs/<task>.jsonl`, if it is not said.
        pub worklog_path: Option<Text<1, 1000>>,
        /// How long its worker may be silent; 20 minutes, if it is not said.
        pub timeout_seconds: Option<Int<30, TIMEOUT_SECONDS_MAX>>,
        /// How often its worker gives a sign of life; every 2 minutes, if it is not said.
        pub heartbeat_interval_seconds: Option<Int<5>>,
        /// How soon; normal, if it is not said.
        pub priority: Option<Priority>,
        /// What its worker should know.
        pub context_package: Option<List<ContextItem>>,
    }
}

/// What a task asks for, and the texts that belong to it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition {
    pub(crate) spec: Spec,
    pub(crate) texts: Vec<Untrusted<String>>,
}

impl Definition {
    /// Refuses a deadline that is as good as none. The contract of an assignment allows any; a lease does not.
    pub(super) fn must_end(&self, run: &str, task: &str) -> Result<(), Refusal> {
        let seconds = self.spec.timeout_seconds;
        if seconds <= TIMEOUT_SECONDS_MAX {
            return Ok(());
        }
        let reason =
            format!("the worker of {task} could be silent for {seconds} s, and {TIMEOUT_SECONDS_MAX} are the most");
        let help = "give a shorter `timeout_seconds`; signs of life make a lease last as long as the work does";
        Err(Refusal::new(Code::SchemaInvalid, reason, help).of_run(run))
    }
}

impl TaskSpec {
    /// What is stored of it, with what was not said filled in.
    pub(crate) fn definition(&self) -> Definition {
        let timeout = self.timeout_seconds.map_or(TIMEOUT_SECONDS, Int::get);
        // A sign of life comes at least twice within a timeout that is shorter than usual.
        let heartbeat = self.heartbeat_interval_seconds.map_or(HEARTBEAT_SECONDS.min((timeout / 2).max(5)), Int::get);
        let context: &[ContextItem] = self.context_package.as_deref().unwrap_or_default();
        let log = || format!("worklogs/{}.jsonl", self.task_id);
        let spec = Spec {
            title: self.title.as_str().to_owned(),
            kind: self.kind.unwrap_or(TaskKind::Serial).as_str().to_owned(),
            dependencies: words(self.dependencies.as_deref().unwrap_or_default()),
            lock_scope: places(&self.lock_scope),
            forbidden_scope: places(self.forbidden_scope.as_deref().unwrap_or_default()),
            criteria: self.acceptance_criteria.len(),
            context: context.iter().map(|item| item.kind.as_str().to_owned()).collect(),
            worklog_path: self.worklog_path.as_ref().map_or_else(log, |path| path.as_str().to_owned()),
            timeout_seconds: timeout,
            heartbeat_interval_seconds: heartbeat,
            priority: self.priority.unwrap_or(Priority::Normal).as_str().to_owned(),
            retries: None,
            led: false,
            agent: None,
            peer: false,
        };
        Definition { spec, texts: texts(&self.acceptance_criteria, context) }
    }

    /// Refuses what the rules of an assignment refuse, with the findings. What they only warn of is given back.
    pub(crate) fn check(&self, observer: &dyn Observer) -> Result<Vec<Diagnostic>, Refusal> {
        let Definition { spec, .. } = self.definition();
        let run = "00000000-0000-4000-8000-000000000000";
        // The objective was checked when the run was opened.
        let mut packet = packet(
            run,
            "an objective",
            self.task_id.as_str(),
            &spec,
            &json!(self.acceptance_criteria),
            &json!(self.context_package.as_deref().unwrap_or_default()),
            &json!([]),
        );
        // As they were written: what cannot be used must not pass for the whole tree.
        packet["task"]["lock_scope"] = json!(self.lock_scope);
        packet["task"]["forbidden_scope"] = json!(self.forbidden_scope.as_deref().unwrap_or_default());
        let (text, outside) = (packet.to_string(), observer.outside());
        let name = format!("task {}", self.task_id);
        let source = Source { name: &name, text: &text };
        let request = Request { contract: Some(Assignment::NAME), ..Request::alone(source, &outside) };
        let decision = check(&observer.checker(), &request).decision;
        match decision.code {
            None => Ok(decision.details.diagnostics),
            Some(code) => Err(refused(code, &name, &decision.reason, decision.details.diagnostics)),
        }
    }
}

/// A payload that came with a command may not pass.
pub(crate) fn refused(code: Code, name: &str, reason: &str, findings: Vec<Diagnostic>) -> Refusal {
    let help = "mend what the findings name, and send it again";
    Refusal { findings, ..Refusal::new(code, format!("{name}: {reason}"), help) }
}

/// What is stored of a task that was assigned.
pub(crate) fn of_assignment(task: &Task, context: &[ContextItem]) -> Definition {
    let spec = Spec {
        title: task.title.as_str().to_owned(),
        kind: task.kind.as_str().to_owned(),
        dependencies: words(&task.dependencies),
        lock_scope: places(&task.lock_scope),
        forbidden_scope: places(&task.forbidden_scope),
        criteria: task.acceptance_criteria.len(),
        context: context.iter().map(|item| item.kind.as_str().to_owned()).collect(),
        worklog_path: task.worklog_path.as_str().to_owned(),
        timeout_seconds: task.timeout_seconds.get(),
        heartbeat_interval_seconds: task.heartbeat_interval_seconds.get(),
        priority: task.priority.unwrap_or(Priority::Normal).as_str().to_owned(),
        retries: None,
        led: false,
        agent: None,
        peer: false,
    };
    Definition { spec, texts: texts(&task.acceptance_criteria, context) }
}

fn words(ids: &[TaskId]) -> Vec<String> {
    ids.iter().map(|id| id.as_str().to_owned()).collect()
}

fn texts(criteria: &[Untrusted<Text>], context: &[ContextItem]) -> Vec<Untrusted<String>> {
    let owned = |text: &Untrusted<Text>| Untrusted::new(text.inspect(str::to_owned));
    criteria.iter().map(owned).chain(context.iter().map(|item| owned(&item.value))).collect()
}

/// An assignment as it is written.
pub(crate) fn packet(
    run: &str,
    objective: &str,
    task: &str,
    spec: &Spec,
    criteria: &Value,
    context: &Value,
    locks: &Value,
) -> Value {
    json!({
        "schema_version": Assignment::VERSION,
        "run_id": run,
        "packet_type": "assignment",
        "global_objective": objective,
        "task": {
            "task_id": task,
            "title": spec.title,
            "type": spec.kind,
            "dependencies": spec.dependencies,
            "lock_scope": spec.lock_scope,
            "forbidden_scope": spec.forbidden_scope,
            "acceptance_criteria": criteria,
            "worklog_path": spec.worklog_path,
            "timeout_seconds": spec.timeout_seconds,
            "heartbeat_interval_seconds": spec.heartbeat_interval_seconds,
            "priority": spec.priority,
        },
        "active_locks": locks,
        "context_package": context,
        "required_output_schema": "subagent_result_v1",
    })
}
