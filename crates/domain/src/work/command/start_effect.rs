//! Saying that something is about to be done in the world.

use super::{TASK_CODES, TaskAnswer, task_answer};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Key, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::ids::{RunId, TaskId};
use crate::work::effect::{EffectKind, EffectRow, effect_key, effect_of};
use crate::work::event::EFFECT_STARTED;
use crate::work::{picking, steering};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Json, Name, shape};
use serde_json::json;

shape! {
    /// Say that something is done in the world for a task, before it is known how it ends.
    pub closed struct StartEffect {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// The lease under which it is done.
        pub lease: Int,
        /// What is done.
        pub kind: EffectKind,
        /// Who does it, where several can at once.
        pub who: Option<Name>,
        /// How the process is known again, such as its number and when it began.
        pub mark: Option<Json>,
    }
}

impl StartEffect {
    fn lease(&self) -> u64 {
        self.lease.get().unsigned_abs()
    }

    fn key(&self, run: &str) -> Key {
        let who = self.who.as_ref().map(|who| who.as_str());
        effect_key(run, self.task_id.as_str(), self.lease(), self.kind.as_str(), who)
    }
}

impl Command for StartEffect {
    const INFO: CommandInfo = CommandInfo {
        id: "effect.start",
        summary: "Say that something is done in the world for a task",
        may: &[Role::Orchestrator],
        invalidates: &["effect.list"],
        refuses: TASK_CODES,
        writes: Writes::Events,
    };
    type Answer = TaskAnswer;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = picking::task_needs(self.run_id.as_ref(), &self.task_id, seen);
        let run = picking::run_so_far(self.run_id.as_ref(), seen);
        needs.extend(run.map(|run| Need::Entity(self.key(&run))));
        needs
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let run = picking::open_run(self.run_id.as_ref(), desk.seen())?;
        // What lands is taken for the run's own from here on, so nobody says that of their own work.
        if self.kind == EffectKind::Landing && run.is_gated() {
            steering::must_steer(&run, desk)?;
        }
        steering::must_not_interrupt(&run, desk)?;
        let task = picking::task(&run, &self.task_id, desk.seen())?;
        let number = self.lease();
        let now = desk.moment().now_ms;
        let held = desk.lease(&task.lease_name()).is_some_and(|hold| hold.number == number && hold.deadline > now);
        if !held {
            let reason = format!("lease {number} of {} is gone", task.task);
            return Err(
                Refusal::new(Code::ConcurrencyConflict, reason, "stop; the task is somebody else's").of_run(&run.run)
            );
        }
        let key = self.key(&run.run);
        let mark = self.mark.as_ref().map(Json::to_value);
        // It may be begun once more as something else: HEAD was moved before a commit could land, and another one is to.
        let is_so = |row: EffectRow| row.state == "started" && mark.as_ref().is_none_or(|mark| *mark == row.mark);
        if effect_of(desk.entity(&key)).is_some_and(is_so) {
            return Ok(());
        }
        desk.write_under(task.lease_name(), number);
        let mut facts = json!({
            "kind": self.kind.as_str(), "lease": number, "recovery": self.kind.recovery().as_str(), "run": run.run,
            "task": task.task,
        });
        if let Some(who) = &self.who {
            facts["who"] = json!(who);
        }
        if let Some(mark) = mark {
            facts["mark"] = mark;
        }
        desk.record(Happening::of_run(EFFECT_STARTED, &run.run, facts));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> TaskAnswer {
        task_answer(stored)
    }
}
