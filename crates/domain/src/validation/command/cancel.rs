//! Giving a promise up.

use super::{PROMISE_CODES, PROMISE_VIEWS, PromiseAnswer, must_own, promise_answer};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::validation::event::{PROMISE_CANCELLED, PROMISE_STARTED};
use crate::validation::payload::PromiseId;
use crate::validation::subject::Subject;
use countersign_contract::{Text, shape};
use serde_json::json;

shape! {
    /// Give a promise up for good
    pub closed struct CancelPromise {
        /// The promise.
        pub promise_id: PromiseId,
        /// Why.
        pub reason: Text<1, 500> = "the feature is not wanted any more",
    }
}

impl CancelPromise {
    fn subject(&self) -> Subject<'_> {
        Subject { run: None, task: None, promise: Some(&self.promise_id) }
    }
}

impl Command for CancelPromise {
    const INFO: CommandInfo = CommandInfo {
        id: "promise.cancel",
        summary: "Give a promise up for good",
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
        // Its life knows no way out but through having been begun.
        if row.status == "pending" {
            desk.record(Happening::new(PROMISE_STARTED, json!({ "promise": row.promise })));
        }
        let facts = json!({ "promise": row.promise, "reason": self.reason });
        desk.record(Happening::new(PROMISE_CANCELLED, facts));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> PromiseAnswer {
        promise_answer(stored, Some("cancelled"))
    }
}
