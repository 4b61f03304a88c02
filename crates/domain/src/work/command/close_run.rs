//! Closing a run.

use super::{RunAnswer, TASK_VIEWS, text_of};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::ids::RunId;
use crate::work::event::RUN_CLOSED;
use crate::work::{picking, steering};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Text, shape};
use serde_json::json;

shape! {
    /// End a run in which every task is finished.
    pub closed struct CloseRun {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// Why now.
        pub reason: Option<Text<1, 500>> = "everything is done",
    }
}

impl Command for CloseRun {
    const INFO: CommandInfo = CommandInfo {
        id: "run.close",
        summary: "End a run in which every task is finished",
        may: &[Role::Orchestrator],
        invalidates: TASK_VIEWS,
        refuses: &[Code::MissingRequiredInput, Code::DependencyNotMet, Code::InvalidTransition],
        writes: Writes::Events,
    };
    type Answer = RunAnswer;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        picking::run_needs(self.run_id.as_ref(), seen)
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let run = picking::run(self.run_id.as_ref(), desk.seen())?;
        if run.status == "closed" {
            return Ok(());
        }
        let run = picking::open_run(self.run_id.as_ref(), desk.seen())?;
        steering::must_not_interrupt(&run, desk)?;
        let open = |status: &str| run.metrics.by_status.get(status).copied().unwrap_or(0);
        let unfinished = open("todo") + open("in_progress") + open("blocked");
        if unfinished > 0 {
            let (tasks, are) = if unfinished == 1 { ("task", "is") } else { ("tasks", "are") };
            let reason = format!("{unfinished} {tasks} of run {} {are} not finished", run.run);
            let help =
                "finish or cancel them (`countersign task list`), or give the run up with `countersign run cancel`";
            return Err(Refusal::new(Code::InvalidTransition, reason, help).of_run(&run.run));
        }
        let reason = self.reason.as_ref().map_or("everything is finished", |reason| reason.as_str());
        let facts = json!({ "reason": reason, "run": run.run });
        desk.record(Happening::of_run(RUN_CLOSED, &run.run, facts));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> RunAnswer {
        let event = stored.events.first();
        let named = || self.run_id.as_ref().map_or_else(String::new, |run| run.as_str().to_owned());
        let run_id = if event.is_some() { text_of(event, "run") } else { named() };
        RunAnswer { run_id, status: event.map(|_| "closed".to_owned()), seq: event.map(|event| event.seq.into()) }
    }
}
