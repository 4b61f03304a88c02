//! Letting go of a promise.

use super::{PROMISE_CODES, PROMISE_VIEWS, PromiseAnswer, must_own, promise_answer};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::validation::event::PROMISE_RELEASED;
use crate::validation::payload::PromiseId;
use crate::validation::subject::Subject;
use countersign_contract::shape;
use serde_json::json;

shape! {
    /// Give a promise up for somebody else to adopt
    pub closed struct ReleasePromise {
        /// The promise.
        pub promise_id: PromiseId,
    }
}

impl ReleasePromise {
    fn subject(&self) -> Subject<'_> {
        Subject { run: None, task: None, promise: Some(&self.promise_id) }
    }
}

impl Command for ReleasePromise {
    const INFO: CommandInfo = CommandInfo {
        id: "promise.release",
        summary: "Give a promise up for somebody else to adopt",
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
        desk.record(Happening::new(PROMISE_RELEASED, json!({ "promise": row.promise })));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> PromiseAnswer {
        promise_answer(stored, None)
    }
}
