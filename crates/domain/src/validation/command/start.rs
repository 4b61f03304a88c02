//! Beginning with a promise.

use super::{PROMISE_CODES, PROMISE_VIEWS, PromiseAnswer, must_own, promise_answer};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::validation::event::PROMISE_STARTED;
use crate::validation::gates::Standing;
use crate::validation::payload::PromiseId;
use crate::validation::subject::Subject;
use countersign_contract::shape;
use serde_json::json;

shape! {
    /// Begin with a promise; or begin anew with one that did not pass its gates, to have it looked at again
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
        // What did not pass can be mended and looked at again; what was found before was about something else.
        let held_back = matches!(
            row.standing(),
            Standing::Failed(..) | Standing::Partial(_) | Standing::Rejected | Standing::Unreached
        );
        if row.status == "pending" || held_back {
            desk.record(Happening::new(PROMISE_STARTED, json!({ "promise": row.promise })));
        }
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> PromiseAnswer {
        promise_answer(stored, Some("in_progress"))
    }
}
