//! Opening a run.

use super::{RunAnswer, TASK_VIEWS, text_of};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::ids::RunId;
use crate::project::project_key;
use crate::work::event::RUN_OPENED;
use crate::work::row::{CLAIM, run_key};
use countersign_contract::diagnostic::Code;
use countersign_contract::{List, Text, shape};
use serde_json::json;

shape! {
    /// Begin a run: one undertaking with its tasks.
    pub closed struct OpenRun {
        /// What it is for.
        pub objective: Text<1, 5000> = "Round money half to even",
        /// What it must keep to.
        pub constraints: Option<List<Text<1, 1000>, 0, 100>> = ["No new dependencies"],
        /// Its id, a UUID of version 4; drawn, if it is not given.
        pub run_id: Option<RunId>,
    }
}

impl Command for OpenRun {
    const INFO: CommandInfo = CommandInfo {
        id: "run.open",
        summary: "Begin a run",
        may: &[Role::Orchestrator],
        invalidates: TASK_VIEWS,
        refuses: &[Code::SchemaInvalid, Code::InvalidTransition, Code::DependencyNotMet],
        writes: Writes::Events,
    };
    type Answer = RunAnswer;

    fn needs(&self, _: &Seen, _: &Moment) -> Vec<Need> {
        let run = self.run_id.as_ref().map(|run| Need::Entity(run_key(run.as_str())));
        run.into_iter().chain([Need::Entity(project_key())]).collect()
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        if desk.entity(&project_key()).is_none() {
            let reason = "the project has not been initialised";
            return Err(Refusal::new(Code::DependencyNotMet, reason, "run `countersign init`"));
        }
        if let Some(run) = &self.run_id {
            if !run.is_v4() {
                let reason = format!("`{run}` is no UUID of version 4");
                return Err(Refusal::new(Code::SchemaInvalid, reason, "leave it out, and one is drawn"));
            }
            if desk.entity(&run_key(run.as_str())).is_some() {
                let reason = format!("there is a run {run} already");
                return Err(Refusal::new(Code::InvalidTransition, reason, "leave the id out, and another is drawn"));
            }
        }
        let run = self.run_id.as_ref().map_or(desk.moment().new_id.clone(), |run| run.as_str().to_owned());
        let constraints: &[Text<1, 1000>] = self.constraints.as_deref().unwrap_or_default();
        let facts = json!({ "constraints": constraints, "objective": self.objective, "policy": CLAIM, "run": run });
        desk.record(Happening::of_run(RUN_OPENED, &run, facts));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> RunAnswer {
        let event = stored.events.first();
        let (status, seq) = (event.map(|_| "open".to_owned()), event.map(|event| event.seq.into()));
        RunAnswer { run_id: text_of(event, "run"), status, seq }
    }
}
