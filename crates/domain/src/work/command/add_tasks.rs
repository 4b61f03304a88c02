//! Adding tasks to a run: one, or a graph of them.

use super::task_spec::{Definition, TaskSpec};
use super::{TASK_VIEWS, TasksAnswer, text_of};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Observer, Refusal, Role, Seen, Writes,
};
use crate::ids::RunId;
use crate::work::event::TASK_ADDED;
use crate::work::picking;
use crate::work::row::{RunRow, task_key, task_seen};
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Code;
use countersign_contract::{Links, List, shape};
use serde_json::json;
use std::collections::BTreeSet;

/// How many tasks come at once.
const TASKS_MAX: usize = 1000;

shape! {
    /// Add tasks to a run, all of them or none. They may depend on each other.
    pub closed struct AddTasks {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The tasks.
        pub tasks: List<TaskSpec, 1, TASKS_MAX>,
    }
}

impl Command for AddTasks {
    const INFO: CommandInfo = CommandInfo {
        id: "task.add",
        summary: "Add tasks to a run: one, or a graph",
        may: &[Role::Orchestrator],
        invalidates: TASK_VIEWS,
        refuses: Code::ALL,
        writes: Writes::Events,
    };
    type Answer = TasksAnswer;

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        let mut findings = Vec::new();
        for task in self.tasks.iter() {
            findings.extend(task.check(observer)?);
        }
        circles(&self.tasks)?;
        Ok(Observed { findings, ..Observed::default() })
    }

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = picking::run_needs(self.run_id.as_ref(), seen);
        let Some(run) = picking::run_so_far(self.run_id.as_ref(), seen) else { return needs };
        for task in self.tasks.iter() {
            let dependencies = task.dependencies.as_deref().unwrap_or_default().iter();
            let all = std::iter::once(&task.task_id).chain(dependencies);
            needs.extend(all.map(|task| Need::Entity(task_key(&run, task.as_str()))));
        }
        needs
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let run = picking::open_run(self.run_id.as_ref(), desk.seen())?;
        for task in self.tasks.iter() {
            if task_seen(desk.seen(), &run.run, task.task_id.as_str()).is_some() {
                let reason = format!("there is a task {} in run {} already", task.task_id, run.run);
                let help = "give it another id; `countersign task replan` changes one that waits";
                return Err(Refusal::new(Code::InvalidTransition, reason, help).of_run(&run.run));
            }
        }
        // What others wait for comes first, so that each finds what it depends on.
        let mut left: Vec<&TaskSpec> = self.tasks.iter().collect();
        while !left.is_empty() {
            let ids: BTreeSet<&str> = left.iter().map(|task| task.task_id.as_str()).collect();
            let waits = |task: &TaskSpec| {
                task.dependencies.as_deref().unwrap_or_default().iter().any(|it| ids.contains(it.as_str()))
            };
            let (later, now): (Vec<&TaskSpec>, Vec<&TaskSpec>) = left.iter().partition(|task| waits(task));
            if now.is_empty() {
                break;
            }
            for task in now {
                add(desk, &run, task.task_id.as_str(), task.definition())?;
            }
            left = later;
        }
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> TasksAnswer {
        let ids: Vec<String> = stored.events.iter().map(|event| text_of(Some(event), "task")).collect();
        let last = stored.events.last();
        TasksAnswer { run_id: text_of(last, "run"), task_ids: ids.into(), seq: last.map(|event| event.seq.into()) }
    }
}

/// A task exists from here on. Where tasks are done through gates, the plan says what each of them must pass, so that none
/// is added beside it.
pub(super) fn add(desk: &mut Desk, run: &RunRow, task: &str, definition: Definition) -> Result<(), Refusal> {
    if run.is_gated() {
        let reason = format!("run {} follows a plan, and {task} is not in it", run.run);
        let help = "put it into a plan of its own: `countersign run PLAN`";
        return Err(Refusal::new(Code::InvalidTransition, reason, help).of_run(&run.run));
    }
    exists(desk, &run.run, task, definition, false)
}

/// The same without asking what the run is like.
pub(crate) fn exists(
    desk: &mut Desk,
    run: &str,
    task: &str,
    definition: Definition,
    gated: bool,
) -> Result<(), Refusal> {
    definition.must_end(run, task)?;
    let waiting = waiting_for(desk, run, task, &definition)?;
    let mut facts = json!({
        "run": run, "spec": definition.spec, "task": task, "to": TaskStatus::Todo.as_str(), "waiting_for": waiting,
    });
    if gated {
        facts["gated"] = json!(true);
    }
    desk.record(Happening::of_run(TASK_ADDED, run, facts).with_texts(definition.texts));
    Ok(())
}

/// The dependencies that are not done yet. All of them exist.
pub(super) fn waiting_for(desk: &Desk, run: &str, task: &str, definition: &Definition) -> Result<Vec<String>, Refusal> {
    let mut waiting = Vec::new();
    for dependency in &definition.spec.dependencies {
        let Some(row) = task_seen(desk.seen(), run, dependency) else {
            let reason = format!("{task} depends on {dependency}, which run {run} does not have");
            let help = "add that one first, or both together";
            return Err(Refusal::new(Code::DependencyNotMet, reason, help).of_run(run));
        };
        match row.status {
            TaskStatus::Done => {}
            TaskStatus::Failed | TaskStatus::Canceled => {
                let reason = format!("{task} depends on {dependency}, which is {} and will never be done", row.status);
                return Err(Refusal::new(Code::DependencyNotMet, reason, "leave that dependency out").of_run(run));
            }
            _ => waiting.push(dependency.clone()),
        }
    }
    Ok(waiting)
}

/// Refuses tasks that wait for each other, and an id that is given twice.
fn circles(tasks: &[TaskSpec]) -> Result<(), Refusal> {
    let mut links = Links::default();
    let mut ids = BTreeSet::new();
    for task in tasks {
        if !ids.insert(task.task_id.as_str()) {
            let reason = format!("two tasks are called {}", task.task_id);
            return Err(Refusal::new(Code::SchemaInvalid, reason, "give one of them another id"));
        }
        for dependency in task.dependencies.as_deref().unwrap_or_default() {
            links.add("task", task.task_id.as_str(), dependency.as_str());
        }
    }
    match tasks.iter().find_map(|task| links.circle("task", task.task_id.as_str())) {
        None => Ok(()),
        Some(circle) => {
            let reason = format!("these tasks wait for each other: {}", circle.join(", "));
            Err(Refusal::new(Code::DependencyNotMet, reason, "leave one of the dependencies out"))
        }
    }
}
