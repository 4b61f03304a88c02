//! Saying how something ended that was done in the world.

use super::{TaskAnswer, task_answer};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Key, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::ids::{RunId, TaskId};
use crate::work::effect::{EffectKind, effect_key, effect_of};
use crate::work::event::EFFECT_FINISHED;
use crate::work::{picking, steering};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Name, Text, shape};
use serde_json::json;

/// The most that an agent can have cost, in US dollars. What is beyond is a slip.
const COST_MAX: f64 = 1e9;

shape! {
    /// What an agent used up, as far as it said so.
    pub closed struct Usage {
        /// Tokens that it read.
        pub input_tokens: Option<Int>,
        /// Tokens that it wrote.
        pub output_tokens: Option<Int>,
        /// What that cost, in US dollars.
        pub cost_usd: Option<f64>,
        /// How often it used a tool.
        pub tool_uses: Option<Int>,
        /// How many of these uses were commands.
        pub commands: Option<Int>,
        /// How many of them changed files.
        pub file_changes: Option<Int>,
        /// How many turns it took.
        pub turns: Option<Int>,
        /// The model.
        pub model: Option<Text<1, 200>>,
    }
}

shape! {
    /// Say how something ended that was done in the world. It counts whatever has become of the lease since.
    pub closed struct FinishEffect {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// The lease under which it was done.
        pub lease: Int,
        /// What was done.
        pub kind: EffectKind,
        /// Who does it, where several can at once.
        pub who: Option<Name>,
        /// How it ended, in a few words.
        pub outcome: Text<1, 500> = "exited with 0",
        /// Its exit code.
        pub exit_code: Option<Int<-2147483648, 2147483647>>,
        /// How long it took, in milliseconds.
        pub took_ms: Option<Int>,
        /// How much it wrote to standard output, in bytes.
        pub out_bytes: Option<Int>,
        /// How much it wrote to standard error.
        pub err_bytes: Option<Int>,
        /// What it used up.
        pub usage: Option<Usage>,
    }
}

const CODES: &[Code] = &[
    Code::MissingRequiredInput,
    Code::SchemaInvalid,
    Code::DependencyNotMet,
    Code::InvalidTransition,
    Code::ConcurrencyConflict,
];

impl FinishEffect {
    fn lease(&self) -> u64 {
        self.lease.get().unsigned_abs()
    }

    fn key(&self, run: &str) -> Key {
        let who = self.who.as_ref().map(|who| who.as_str());
        effect_key(run, self.task_id.as_str(), self.lease(), self.kind.as_str(), who)
    }
}

impl Command for FinishEffect {
    const INFO: CommandInfo = CommandInfo {
        id: "effect.finish",
        summary: "Say how something ended that was done in the world",
        may: &[Role::Orchestrator],
        invalidates: &["effect.list", "run.show"],
        refuses: CODES,
        writes: Writes::Events,
    };
    type Answer = TaskAnswer;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = picking::run_needs(self.run_id.as_ref(), seen);
        let run = picking::run_so_far(self.run_id.as_ref(), seen);
        needs.extend(run.map(|run| Need::Entity(self.key(&run))));
        needs
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let run = picking::run(self.run_id.as_ref(), desk.seen())?;
        steering::must_not_interrupt(&run, desk)?;
        let key = self.key(&run.run);
        let Some(row) = effect_of(desk.entity(&key)) else {
            let reason = format!("nothing of that kind was begun for {} under lease {}", self.task_id, self.lease());
            let help = "`effect.list` shows what was begun and has not ended";
            return Err(Refusal::new(Code::DependencyNotMet, reason, help).of_run(&run.run).of_absent());
        };
        if row.state == "finished" {
            return Ok(());
        }
        let cost = self.usage.as_ref().and_then(|usage| usage.cost_usd);
        if cost.is_some_and(|cost| !(0.0..=COST_MAX).contains(&cost)) {
            let reason = format!("a cost lies between 0 and {COST_MAX} dollars");
            return Err(Refusal::new(Code::SchemaInvalid, reason, "give what it really cost").of_run(&run.run));
        }
        let mut facts = serde_json::to_value(self).unwrap_or_default();
        if let Some(fields) = facts.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
            fields.remove("run_id");
            fields.remove("task_id");
        }
        facts["run"] = json!(run.run);
        facts["task"] = json!(self.task_id);
        desk.record(Happening::of_run(EFFECT_FINISHED, &run.run, facts));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> TaskAnswer {
        task_answer(stored)
    }
}
