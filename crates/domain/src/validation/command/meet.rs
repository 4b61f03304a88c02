//! Saying that a criterion of a promise is met.

use super::{PROMISE_CODES, PROMISE_VIEWS, PromiseAnswer, must_own, promise_answer};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::validation::event::{CRITERION_MET, PROMISE_STARTED};
use crate::validation::payload::{EvidenceType, PromiseCriterionId, PromiseId};
use crate::validation::subject::{Subject, refusal};
use crate::wording::says_nothing;
use countersign_contract::diagnostic::Code;
use countersign_contract::{Text, Untrusted, shape};
use serde_json::json;

shape! {
    /// Say that a criterion of a promise is met, and what shows it. It is a claim, for others to look at.
    pub closed struct Meet {
        /// The promise.
        pub promise_id: PromiseId,
        /// The criterion.
        pub criterion: PromiseCriterionId,
        /// What shows that it is met.
        pub evidence: Untrusted<Text<1, 20000>> = "tests/cart.rs:41 sends an empty cart and gets 400",
        /// What kind of evidence that is; `manual`, if it is not said.
        pub evidence_type: Option<EvidenceType>,
    }
}

impl Meet {
    fn subject(&self) -> Subject<'_> {
        Subject { run: None, task: None, promise: Some(&self.promise_id) }
    }
}

impl Command for Meet {
    const INFO: CommandInfo = CommandInfo {
        id: "promise.meet",
        summary: "Say that a criterion of a promise is met, and what shows it",
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
        let id = self.criterion.as_str();
        let Some(criterion) = row.criteria.iter().find(|it| it.id == id) else {
            let known: Vec<&str> = row.criteria.iter().map(|it| it.id.as_str()).collect();
            let reason = format!("{} has no criterion {id}; it has {}", row.id, known.join(", "));
            return Err(refusal(&row, Code::MissingRequiredInput, reason, "name one of those"));
        };
        if let Some(met) = &criterion.met {
            let reason = format!("{id} is met already, as {} said in event {}", met.by, met.seq);
            return Err(refusal(&row, Code::InvalidTransition, reason, "what is met stays met"));
        }
        if self.evidence.is_blank() || self.evidence.inspect(says_nothing) {
            let reason = format!("nothing shows that {id} is met");
            return Err(refusal(&row, Code::AcceptanceFailed, reason, "say what shows it"));
        }
        if row.status == "pending" {
            desk.record(Happening::new(PROMISE_STARTED, json!({ "promise": row.promise })));
        }
        let kind = self.evidence_type.unwrap_or(EvidenceType::Manual).as_str();
        let facts = json!({ "criterion": id, "kind": kind, "promise": row.promise });
        let evidence = Untrusted::new(self.evidence.inspect(str::to_owned));
        desk.record(Happening::new(CRITERION_MET, facts).with_texts(vec![evidence]));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> PromiseAnswer {
        promise_answer(stored, Some("in_progress"))
    }
}
