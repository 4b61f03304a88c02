//! An action of a plan as it stands: what is to be done about it next, and with which instruction.

use crate::deciding::{Moment, Need, Refusal, Seen, Tree, View, ViewInfo};
use crate::delegation::command::APPROVAL;
use crate::delegation::row::{PlannedRow, planned_of};
use crate::delegation::standing::{Action, Standing};
use crate::delegation::trying::{id_of_try, instruction_of_try};
use crate::ids::{RunId, TaskId};
use crate::mark;
use crate::work::row::TaskRow;
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Untrusted, canonical, choice, shape};
use serde_json::{Value, json};

choice! {
    /// What is to be done next about an action of a plan.
    pub enum ActionStep {
        /// A person must approve it.
        Ask = "ask",
        /// It is to be carried out.
        Act = "act",
        /// It is tried again later.
        Rest = "rest",
        /// What stands against it is to be looked at.
        Watch = "watch",
        /// It was answered, and what follows from that is to be said.
        Conclude = "conclude",
    }
}

shape! {
    /// An action of a plan as it stands.
    pub closed struct ShowAction {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
    }
}

shape! {
    /// An action of a plan as it stands.
    pub struct ActionShown {
        /// The task.
        pub task_id: String,
        /// What is to be done next.
        pub step: ActionStep,
        /// Why.
        pub reason: Option<String>,
        /// Not before this time, in milliseconds since 1970.
        pub not_before: Option<Int>,
        /// The id of the instruction, as it is to be handed in next or was last.
        pub instruction_id: String,
        /// The instruction, in canonical JSON.
        pub instruction: Untrusted<String>,
        /// The SHA-256 of the instruction as it stands in the plan.
        pub sha256: String,
        /// Who carries it out.
        pub executor: String,
        /// Whether a person must approve it.
        pub asks: bool,
        /// Whether there is a response to it.
        pub answered: bool,
        /// The mark of what is shown, to be given with an answer; while one is asked for.
        pub shown: Option<String>,
    }
}

/// What the answer of a person is about: the exact instruction, and that it is asked for now.
pub(crate) fn shown(planned: &PlannedRow, task: &TaskRow) -> Value {
    let asked = task.blocker.as_ref().map(|it| it.at);
    json!({ "asked": asked, "digest": planned.digest, "executor": planned.executor, "run": task.run, "task": task.task })
}

impl ShowAction {
    fn action(&self) -> Action<'_> {
        Action { run: self.run_id.as_ref(), task: &self.task_id }
    }
}

impl View for ShowAction {
    const INFO: ViewInfo =
        ViewInfo { id: "delegation.task", summary: "An action of a plan, and what is to be done next" };
    type Shown = ActionShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let needs = self.action().needs(seen);
        let rows = needs.iter().filter_map(|need| match need {
            Need::Entity(key) if key.kind == "delegation_planned" => planned_of(seen.so_far(key)),
            _ => None,
        });
        let texts: Vec<Need> = rows.map(|row| Need::Texts(row.planned)).collect();
        needs.into_iter().chain(texts).collect()
    }

    fn render(&self, seen: &Seen, moment: &Moment, _: Option<&Tree>) -> Result<ActionShown, Refusal> {
        let it = self.action().seen(seen)?;
        let planned = &it.planned;
        let first = || planned.instruction_id.clone();
        let standing = it.standing(seen, moment.now_ms);
        let answered = matches!(standing, Standing::Done(_) | Standing::Stuck(..));
        let (step, reason, not_before, id, number) = match standing {
            Standing::Ask => (ActionStep::Ask, Some(it.question()), None, first(), 0),
            Standing::Act(number) => {
                (ActionStep::Act, None, None, id_of_try(&planned.instruction_id, number).unwrap_or_else(first), number)
            }
            Standing::Watch(number) => {
                let id = id_of_try(&planned.instruction_id, number).unwrap_or_else(first);
                (ActionStep::Watch, None, None, id, number)
            }
            Standing::Rest(until, why) => (ActionStep::Rest, Some(why), Some(until), first(), 0),
            Standing::Done(row) => (ActionStep::Conclude, None, None, row.instruction_id, 0),
            Standing::Stuck(id, why) => (ActionStep::Conclude, Some(why), None, id, 0),
            Standing::Taken(why) => (ActionStep::Conclude, Some(why), None, first(), 0),
        };
        let text = seen.text(planned.planned, 0).map(|text| text.inspect(str::to_owned));
        let Some(written) = text.and_then(|text| serde_json::from_str(&text).ok()) else {
            let reason = format!("the instruction of {} was erased", self.task_id);
            let help = "cancel the task, and start a plan with the instruction in it";
            return Err(Refusal::new(Code::DependencyNotMet, reason, help).of_run(&it.run.run));
        };
        let instruction = instruction_of_try(&written, number).unwrap_or_default();
        let asked = it.task.blocker.as_ref().is_some_and(|it| it.asks.as_deref() == Some(APPROVAL));
        Ok(ActionShown {
            task_id: it.task.task.clone(),
            step,
            reason,
            not_before: not_before.map(|at| at.unsigned_abs().into()),
            instruction_id: id,
            instruction: Untrusted::new(canonical(&instruction)),
            sha256: planned.digest.clone(),
            executor: planned.executor.clone(),
            asks: planned.asks,
            answered,
            shown: asked.then(|| mark::mark(&shown(planned, &it.task), moment.now_ms)),
        })
    }
}
