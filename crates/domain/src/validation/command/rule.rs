//! What a person says who judges.

use super::judge::judged;
use super::{GATE_VIEWS, GateAnswer, JudgeVerdict, PROMISE_CODES, gate_answer, must_be_another};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Observer, Refusal, Role, Seen, Writes,
};
use crate::ids::{RunId, TaskId};
use crate::validation::gates::Standing;
use crate::validation::payload::PromiseId;
use crate::validation::row::PERSON;
use crate::validation::subject::{Subject, refusal};
use crate::validation::{ground, shown};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Text, Untrusted, shape};

shape! {
    /// Judge work that was validated, as a person: because the plan asks for one, or because no other judge answered.
    pub closed struct Rule {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task; or a promise is named.
        pub task_id: Option<TaskId>,
        /// The promise, if it belongs to no task.
        pub promise_id: Option<PromiseId>,
        /// The mark of what was shown.
        pub shown: Text<1, 100> = "0123456789abcdef.29000000",
        /// What is said: PASS, WARN or FAIL.
        pub verdict: JudgeVerdict,
        /// Why.
        pub reasoning: Untrusted<Text<1, 20000>> = "I read the change and its tests",
    }
}

impl Rule {
    fn subject(&self) -> Subject<'_> {
        Subject { run: self.run_id.as_ref(), task: self.task_id.as_ref(), promise: self.promise_id.as_ref() }
    }
}

impl Command for Rule {
    const INFO: CommandInfo = CommandInfo {
        id: "gate.rule",
        summary: "Judge work that was validated, as a person",
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
        let standing = row.standing();
        let asked = standing == Standing::Unreached || (standing == Standing::Unjudged && row.judge == PERSON);
        shown::must_ask(&row, asked, "a person's judgement")?;
        if self.verdict == JudgeVerdict::Unreached {
            let reason = "a person who answers was reached".to_owned();
            return Err(refusal(&row, Code::MissingRequiredInput, reason, "say PASS, WARN or FAIL"));
        }
        let actor = desk.moment().actor.clone();
        must_be_another(&row, &actor, "judge")?;
        ground::must_hold(&row, &observed.facts)?;
        shown::must_be_current(&row, self.shown.as_str(), desk)?;
        judged(desk, &row, &actor, self.verdict, &self.reasoning);
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> GateAnswer {
        gate_answer(stored)
    }
}
