//! Taking a promise on.

use super::{PROMISE_CODES, PROMISE_VIEWS, PromiseAnswer, promise_answer};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::validation::event::PROMISE_ADOPTED;
use crate::validation::payload::PromiseId;
use crate::validation::subject::{Subject, refusal};
use countersign_contract::diagnostic::Code;
use countersign_contract::shape;
use serde_json::json;

shape! {
    /// Take a promise on that nobody owns
    pub closed struct Adopt {
        /// The promise.
        pub promise_id: PromiseId,
    }
}

impl Adopt {
    fn subject(&self) -> Subject<'_> {
        Subject { run: None, task: None, promise: Some(&self.promise_id) }
    }
}

impl Command for Adopt {
    const INFO: CommandInfo = CommandInfo {
        id: "promise.adopt",
        summary: "Take a promise on that nobody owns",
        may: &[Role::Agent, Role::Orchestrator],
        invalidates: PROMISE_VIEWS,
        refuses: PROMISE_CODES,
        writes: Writes::Events,
    };
    type Answer = PromiseAnswer;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        self.subject().needs(seen)
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let row = self.subject().live(desk.seen())?;
        if let Some(owner) = &row.owned_by {
            let reason = format!("{} is owned by {owner}", row.id);
            let help = "its owner must release it first: `countersign promise release`";
            return Err(refusal(&row, Code::AuthorizationMissing, reason, help));
        }
        if row.of_task.is_some() {
            let reason = format!("{} belongs to a task", row.id);
            return Err(refusal(&row, Code::InvalidTransition, reason, "claim the task"));
        }
        desk.record(Happening::new(PROMISE_ADOPTED, json!({ "promise": row.promise })));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> PromiseAnswer {
        promise_answer(stored, None)
    }
}
