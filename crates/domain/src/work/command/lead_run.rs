//! Saying which process carries a run out.

use super::{ANSWER_CODES, RunAnswer, text_of};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Observer, Refusal, Role, Seen, Writes,
};
use crate::ids::RunId;
use crate::work::event::RUN_LED;
use crate::work::{picking, steering};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Json, Text, shape};
use serde_json::json;

shape! {
    /// Say that this process carries a run out: from here on nobody else speaks at the gates of its tasks. Or that it has
    /// stopped to.
    pub closed struct LeadRun {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// Whether it does.
        pub leads: bool,
        /// What may be spent while it does, where that is limited.
        pub budgets: Option<Json>,
        /// What the run starts from, if nobody has noted that yet.
        pub base: Option<Start>,
    }
}

shape! {
    /// What a run starts from, noted before anybody works in it.
    pub closed struct Start {
        /// The commit that is checked out where people work.
        pub commit: Option<Text<7, 64>> = "9fceb02d0ae598e95dc970b74767f19372d61af8",
        /// The branch that is checked out there, by its full name, or `HEAD`, if none is.
        pub branch: Option<Text<1, 4096>> = "refs/heads/main",
        /// The settings by which git reads and writes files, each as a hash.
        pub settings: Option<Json>,
    }
}

impl Command for LeadRun {
    const INFO: CommandInfo = CommandInfo {
        id: "run.lead",
        summary: "Say that this process carries a run out, or has stopped to",
        may: &[Role::Orchestrator],
        invalidates: &["run.show"],
        refuses: ANSWER_CODES,
        writes: Writes::Events,
    };
    type Answer = RunAnswer;

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        if self.leads && observer.is_afar() {
            let reason =
                "a run is carried out by a process where the ledger and the project are, and by nobody from afar";
            let help = "run it there: `countersign run PLAN`, or `countersign run --resume`";
            return Err(Refusal::new(Code::AuthorizationMissing, reason, help));
        }
        Ok(Observed::default())
    }

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        picking::run_needs(self.run_id.as_ref(), seen)
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let run = picking::run(self.run_id.as_ref(), desk.seen())?;
        if self.leads {
            steering::must_be_leader(&run, desk)?;
        }
        let by = self.leads.then(|| desk.moment().authn.clone());
        // Whoever has stopped to lead says nothing about whoever does now.
        let is_so = run.led_by == by || (!self.leads && run.led_by.as_ref() != Some(&desk.moment().authn));
        if !is_so || self.base.is_some() {
            let mut facts = json!({ "by": by, "run": run.run });
            if let Some(budgets) = self.budgets.as_ref().filter(|_| self.leads) {
                facts["budgets"] = budgets.to_value();
            }
            if let Some(base) = self.base.as_ref().filter(|_| self.leads) {
                facts["base"] = json!(base);
            }
            desk.record(Happening::of_run(RUN_LED, &run.run, facts));
        }
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> RunAnswer {
        let event = stored.events.first();
        RunAnswer { run_id: text_of(event, "run"), status: None, seq: event.map(|event| event.seq.into()) }
    }
}
