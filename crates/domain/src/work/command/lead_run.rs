//! Saying which process carries a run out.

use super::{RunAnswer, TASK_CODES, text_of};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::ids::RunId;
use crate::work::event::RUN_LED;
use crate::work::picking;
use countersign_contract::shape;
use serde_json::json;

shape! {
    /// Say that this process carries a run out: from here on nobody else speaks at the gates of its tasks. Or that it has
    /// stopped to.
    pub closed struct LeadRun {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// Whether it does.
        pub leads: bool,
    }
}

impl Command for LeadRun {
    const INFO: CommandInfo = CommandInfo {
        id: "run.lead",
        summary: "Say that this process carries a run out, or has stopped to",
        may: &[Role::Orchestrator],
        invalidates: &["run.show"],
        refuses: TASK_CODES,
        writes: Writes::Events,
    };
    type Answer = RunAnswer;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        picking::run_needs(self.run_id.as_ref(), seen)
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let run = picking::run(self.run_id.as_ref(), desk.seen())?;
        let by = self.leads.then(|| desk.moment().authn.clone());
        // Whoever has stopped to lead says nothing about whoever does now.
        let is_so = run.led_by == by || (!self.leads && run.led_by.as_ref() != Some(&desk.moment().authn));
        if !is_so {
            desk.record(Happening::of_run(RUN_LED, &run.run, json!({ "by": by, "run": run.run })));
        }
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> RunAnswer {
        let event = stored.events.first();
        RunAnswer { run_id: text_of(event, "run"), status: None, seq: event.map(|event| event.seq.into()) }
    }
}
