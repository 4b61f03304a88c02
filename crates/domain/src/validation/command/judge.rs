//! What the judge says, when it is a program, an agent or an endpoint.

use super::validate::of_promise;
use super::{GATE_VIEWS, GateAnswer, PROMISE_CODES, gate_answer, must_be_another, must_be_bound};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Observer, Refusal, Role, Seen, Writes,
};
use crate::ids::{RunId, TaskId};
use crate::validation::advance::advance_because;
use crate::validation::event::JUDGED;
use crate::validation::gates::Standing;
use crate::validation::payload::PromiseId;
use crate::validation::row::{ENDPOINT, PERSON, PromiseRow};
use crate::validation::subject::{Subject, must_speak, refusal, under_lease};
use crate::validation::{ground, shown};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Name, Text, Untrusted, choice, shape};
use serde_json::json;

choice! {
    /// What a judge says.
    pub enum JudgeVerdict {
        /// It may pass.
        Pass = "PASS",
        /// It may pass, with something to be said about it.
        Warn = "WARN",
        /// It may not pass.
        Fail = "FAIL",
        /// Nobody answered.
        Unreached = "UNREACHED",
    }
}

shape! {
    /// Say what the judge said about work that was validated.
    pub closed struct Judged {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task; or a promise is named.
        pub task_id: Option<TaskId>,
        /// The promise, if it belongs to no task.
        pub promise_id: Option<PromiseId>,
        /// The lease under which the task is worked on.
        pub lease: Option<Int>,
        /// What was validated.
        pub bound: Option<Text<1, 200>>,
        /// Who judged.
        pub judge: Name = "judge-1",
        /// What was said.
        pub verdict: JudgeVerdict,
        /// Why.
        pub reasoning: Untrusted<Text<1, 20000>> = "the evidence covers every criterion",
    }
}

impl Judged {
    fn subject(&self) -> Subject<'_> {
        Subject { run: self.run_id.as_ref(), task: self.task_id.as_ref(), promise: self.promise_id.as_ref() }
    }
}

impl Command for Judged {
    const INFO: CommandInfo = CommandInfo {
        id: "gate.judge",
        summary: "Say what the judge said about work that was validated",
        may: &[Role::Orchestrator, Role::Reviewer],
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
        must_speak(&row, desk)?;
        if self.judge.as_str() == PERSON || row.judge == PERSON {
            let reason = "the judge is a person, who speaks for themselves".to_owned();
            return Err(refusal(&row, Code::AuthorizationMissing, reason, "they use `countersign gate rule`"));
        }
        // One that could not be reached is asked again.
        let asked = matches!(row.standing(), Standing::Unjudged | Standing::Unreached);
        shown::must_ask(&row, asked, "a judgement")?;
        must_be_another(&row, self.judge.as_str(), "judge")?;
        if row.judge != ENDPOINT && row.judge != self.judge.as_str() {
            let reason = format!("the judge of {} is {}, and not {}", row.id, row.judge, self.judge.as_str());
            return Err(refusal(&row, Code::AuthorizationMissing, reason, "bring what that one says"));
        }
        must_be_another(&row, &desk.moment().actor.clone(), "judge")?;
        ground::must_hold(&row, &observed.facts)?;
        must_be_bound(&row, self.bound.as_ref().map(Text::as_str))?;
        under_lease(&row, self.lease.map(|lease| lease.get().unsigned_abs()), desk)?;
        judged(desk, &row, self.judge.as_str(), self.verdict, &self.reasoning);
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> GateAnswer {
        gate_answer(stored)
    }
}

/// A judgement stands from here on.
pub(super) fn judged(
    desk: &mut Desk,
    row: &PromiseRow,
    by: &str,
    verdict: JudgeVerdict,
    reasoning: &Untrusted<Text<1, 20000>>,
) {
    let mut facts = json!({ "by": by, "promise": row.promise, "round": row.round, "verdict": verdict.as_str() });
    if let Some(bound) = &row.bound {
        facts["bound"] = json!(bound);
    }
    let reasoning = Untrusted::new(reasoning.inspect(str::to_owned));
    let why = reasoning.inspect(str::to_owned);
    desk.record(of_promise(JUDGED, row, facts).with_texts(vec![reasoning]));
    advance_because(desk, row, Some(&why).filter(|_| verdict == JudgeVerdict::Unreached).map(String::as_str));
}
