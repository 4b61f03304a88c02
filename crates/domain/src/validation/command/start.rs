//! Beginning with a promise.

use super::{PROMISE_CODES, PROMISE_VIEWS, PromiseAnswer, must_own, promise_answer};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::validation::event::PROMISE_STARTED;
use crate::validation::payload::PromiseId;
use crate::validation::subject::Subject;
use countersign_contract::shape;
use serde_json::json;

shape! {
    /// Begin with a promise
    pub closed struct StartPromise {
        /// The promise.
        pub promise_id: PromiseId,
    }
}

impl StartPromise {
    fn subject(&self) -> Subject<'_> {
        Subject { run: None, task: None, promise: Some(&self.promise_id) }
    }
}

impl Command for StartPromise {
    const INFO: CommandInfo = CommandInfo {
        id: "promise.start",
        summary: "Begin with a promise",
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
        must_own(&row, desk)?;
        if row.status == "pending" {
            desk.record(Happening::new(PROMISE_STARTED, json!({ "promise": row.promise })));
        }
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> PromiseAnswer {
        promise_answer(stored, Some("in_progress"))
    }
}
