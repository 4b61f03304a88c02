//! Accepting failures: a person takes upon themselves what was not shown to hold.

use super::validate::of_promise;
use super::{GATE_VIEWS, GateAnswer, PROMISE_CODES, gate_answer, must_be_another};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Observer, Refusal, Role, Seen, Writes,
};
use crate::ids::{RunId, TaskId};
use crate::validation::advance::advance;
use crate::validation::event::FAILURES_ACCEPTED;
use crate::validation::gates::Standing;
use crate::validation::payload::{PromiseCriterionId, PromiseId};
use crate::validation::subject::{Subject, refusal};
use crate::validation::{ground, shown};
use countersign_contract::diagnostic::Code;
use countersign_contract::{List, Text, Untrusted, shape};
use serde_json::json;

shape! {
    /// Accept work of which some criteria hold and some do not, naming those that do not.
    pub closed struct Accept {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task; or a promise is named.
        pub task_id: Option<TaskId>,
        /// The promise, if it belongs to no task.
        pub promise_id: Option<PromiseId>,
        /// The mark of what was shown.
        pub shown: Text<1, 100> = "0123456789abcdef.29000000",
        /// Every criterion that does not hold and is accepted all the same.
        pub failures: List<PromiseCriterionId, 1, 100>,
        /// Why.
        pub reason: Untrusted<Text<1, 5000>> = "the slow path is replaced next week",
    }
}

impl Accept {
    fn subject(&self) -> Subject<'_> {
        Subject { run: self.run_id.as_ref(), task: self.task_id.as_ref(), promise: self.promise_id.as_ref() }
    }
}

impl Command for Accept {
    const INFO: CommandInfo = CommandInfo {
        id: "gate.accept",
        summary: "Accept work of which some criteria do not hold, naming them",
        may: &[Role::Reviewer],
        invalidates: GATE_VIEWS,
        refuses: PROMISE_CODES,
        writes: Writes::Events,
    };
    type Answer = GateAnswer;

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        Ok(Observed { facts: ground::observe(observer, &self.subject(), None)?, ..Observed::default() })
    }

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        self.subject().needs(seen)
    }

    fn decide(&self, desk: &mut Desk, observed: &Observed) -> Result<(), Refusal> {
        let row = self.subject().live(desk.seen())?;
        let asked = matches!(row.standing(), Standing::Partial(_));
        let Standing::Partial(mut failures) = shown::must_ask(&row, asked, "an acceptance")? else { return Ok(()) };
        let actor = desk.moment().actor.clone();
        must_be_another(&row, &actor, "accept")?;
        ground::must_hold(&row, &observed.facts)?;
        shown::must_be_current(&row, self.shown.as_str(), desk)?;
        let mut named: Vec<String> = self.failures.iter().map(|id| id.as_str().to_owned()).collect();
        let in_order = failures.clone();
        named.sort();
        named.dedup();
        failures.sort();
        if named != failures {
            let (named, failures) = (named.join(", "), failures.join(", "));
            let reason = format!("{named} were named, and what does not hold is {failures}");
            return Err(refusal(&row, Code::AcceptanceFailed, reason, "name each of them, and no other"));
        }
        let facts = json!({ "bound": row.bound, "failures": in_order, "promise": row.promise, "round": row.round });
        let reason = Untrusted::new(self.reason.inspect(str::to_owned));
        desk.record(of_promise(FAILURES_ACCEPTED, &row, facts).with_texts(vec![reason]));
        advance(desk, &row);
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> GateAnswer {
        gate_answer(stored)
    }
}
