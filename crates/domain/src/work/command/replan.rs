//! Asking for a task anew.

use super::add_tasks::waiting_for;
use super::task_spec::Definition;
use super::{TASK_VIEWS, TaskAnswer, TaskSpec, task_answer};
use crate::deciding::{
    About, Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Observer, Refusal, Role, Seen,
    Writes,
};
use crate::ids::RunId;
use crate::work::event::TASK_REPLANNED;
use crate::work::row::{TaskRow, task_key, task_seen};
use crate::work::task_state::TaskStatus;
use crate::work::{attempt, picking, shown, steering};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Links, Text, shape};
use serde_json::json;
use std::collections::BTreeSet;

shape! {
    /// Ask for a task anew: other scope, criteria or context. It must wait or be blocked.
    pub closed struct Replan {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task as it is wanted now.
        pub task: TaskSpec,
        /// Why.
        pub reason: Text<1, 500> = "the scope was too narrow",
        /// The mark of what was shown, where a person answers.
        pub shown: Option<Text<1, 100>>,
    }
}

impl Command for Replan {
    const INFO: CommandInfo = CommandInfo {
        id: "task.replan",
        summary: "Ask for a task anew, with other scope, criteria or context",
        may: &[Role::Orchestrator],
        invalidates: TASK_VIEWS,
        refuses: Code::ALL,
        writes: Writes::Events,
    };
    type Answer = TaskAnswer;

    fn about(&self) -> Option<About> {
        let run = self.run_id.as_ref().map(|run| run.as_str().to_owned());
        Some(About { run, task: self.task.task_id.as_str().to_owned() })
    }

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        Ok(Observed { findings: self.task.check(observer)?, ..Observed::default() })
    }

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = picking::task_needs(self.run_id.as_ref(), &self.task.task_id, seen);
        if let Some(run) = picking::run_so_far(self.run_id.as_ref(), seen) {
            let dependencies = self.task.dependencies.as_deref().unwrap_or_default().iter();
            needs.extend(way_needs(&run, dependencies.map(|task| task.as_str().to_owned()).collect(), seen));
        }
        needs
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let run = picking::open_run(self.run_id.as_ref(), desk.seen())?;
        steering::must_steer(&run, desk)?;
        let task = picking::task(&run, &self.task.task_id, desk.seen())?;
        shown::must_be_answered(&run, &task, self.shown.as_ref().map(|it| it.as_str()), desk)?;
        let mut definition = self.task.definition();
        keep_gates(&task, &mut definition)?;
        replan(desk, &task, definition, self.reason.as_str())
    }

    fn answer(&self, stored: &Answered<'_>) -> TaskAnswer {
        task_answer(stored)
    }
}

/// A task is asked for anew. It waits or is blocked, and no tasks wait for each other afterwards.
pub(super) fn replan(desk: &mut Desk, task: &TaskRow, definition: Definition, reason: &str) -> Result<(), Refusal> {
    if task.status != TaskStatus::Todo {
        picking::may_become(task, TaskStatus::Todo)?;
    }
    definition.must_end(&task.run, &task.task)?;
    let waiting = waiting_for(desk, &task.run, &task.task, &definition)?;
    no_circle(desk, task, &waiting)?;
    let facts = json!({
        "from": task.status.as_str(), "reason": reason, "run": task.run, "spec": definition.spec, "task": task.task,
        "to": TaskStatus::Todo.as_str(), "waiting_for": waiting,
    });
    let facts = attempt::of_task(facts, task);
    desk.record(Happening::of_run(TASK_REPLANNED, &task.run, facts).with_texts(definition.texts));
    Ok(())
}

/// What must be seen to tell whether tasks would wait for each other, once one waits for these.
pub(super) fn way_needs(run: &str, dependencies: Vec<String>, seen: &Seen) -> Vec<Need> {
    let (ways, _) = ways(run, &dependencies, seen);
    ways.iter().map(|(task, _)| Need::Entity(task_key(run, task))).collect()
}

/// What the gates of a task ask, how often it may be tried and who works on it is part of the plan, and stays.
pub(super) fn keep_gates(task: &TaskRow, definition: &mut Definition) -> Result<(), Refusal> {
    if task.spec.led {
        let reason = format!("{} is an action, and stays as the plan has it", task.task);
        let help = "cancel it, and start a plan with the action as it should be";
        return Err(Refusal::new(Code::InvalidTransition, reason, help).of_run(&task.run));
    }
    if task.gated && definition.spec.criteria != task.spec.criteria {
        let (asked, given) = (task.spec.criteria, definition.spec.criteria);
        let reason = format!("{} has {asked} criteria with gates, and {given} were given", task.task);
        let help = "leave the criteria as they are; other criteria belong into a plan of their own";
        return Err(Refusal::new(Code::InvalidTransition, reason, help).of_run(&task.run));
    }
    definition.spec.retries = task.spec.retries;
    definition.spec.agent = task.spec.agent.clone();
    definition.spec.peer = task.spec.peer;
    Ok(())
}

/// The tasks that lead on from some, as far as they were seen, and whether there are more.
fn ways(run: &str, from: &[String], seen: &Seen) -> (Vec<(String, Vec<String>)>, bool) {
    let (mut ways, mut whole, mut next) = (Vec::new(), true, from.to_vec());
    let mut known: BTreeSet<String> = from.iter().cloned().collect();
    while let Some(task) = next.pop() {
        match task_seen(seen, run, &task) {
            Some(row) => {
                next.extend(row.waiting_for.iter().filter(|it| known.insert((*it).clone())).cloned());
                ways.push((task, row.waiting_for));
            }
            None => {
                whole = false;
                ways.push((task, Vec::new()));
            }
        }
    }
    (ways, whole)
}

/// Refuses tasks that would wait for each other, and chains that are too long to be looked through.
fn no_circle(desk: &Desk, task: &TaskRow, waiting: &[String]) -> Result<(), Refusal> {
    let (ways, whole) = ways(&task.run, waiting, desk.seen());
    let mut links = Links::default();
    waiting.iter().for_each(|dependency| links.add("task", &task.task, dependency));
    for (from, to) in &ways {
        to.iter().for_each(|to| links.add("task", from, to));
    }
    let reason = match links.circle("task", &task.task) {
        Some(circle) => format!("these tasks would wait for each other: {}", circle.join(", ")),
        None if !whole => format!("what {} would wait for is too long a chain to be looked through", task.task),
        None => return Ok(()),
    };
    Err(Refusal::new(Code::DependencyNotMet, reason, "leave one of the dependencies out").of_run(&task.run))
}
