//! What a person says who validates.

use super::validate::{Given, given};
use super::{GATE_VIEWS, GateAnswer, PROMISE_CODES, gate_answer, must_be_another};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Observer, Refusal, Role, Seen, Writes,
};
use crate::ids::{RunId, TaskId};
use crate::validation::advance::advance;
use crate::validation::evidence::EvidenceKind;
use crate::validation::gates::Standing;
use crate::validation::payload::{PromiseCriterionId, PromiseId};
use crate::validation::row::PERSON;
use crate::validation::subject::{Subject, refusal};
use crate::validation::verdict::CriterionStatus;
use crate::validation::{ground, shown};
use countersign_contract::diagnostic::Code;
use countersign_contract::{List, Text, Untrusted, shape};
use serde_json::json;
use std::collections::BTreeMap;

shape! {
    /// What a person found about a criterion.
    pub closed struct Testimony {
        /// The criterion.
        pub criterion: PromiseCriterionId,
        /// What they found.
        pub status: CriterionStatus,
        /// What they saw.
        pub evidence: Untrusted<Text<1, 5000>> = "I opened the page and the total was right",
    }
}

shape! {
    /// Validate work as a person: say of each criterion that waits for it what was seen.
    pub closed struct Testify {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task; or a promise is named.
        pub task_id: Option<TaskId>,
        /// The promise, if it belongs to no task.
        pub promise_id: Option<PromiseId>,
        /// The mark of what was shown.
        pub shown: Text<1, 100> = "0123456789abcdef.29000000",
        /// What was found. Criteria that are not named were not looked at.
        pub results: List<Testimony, 1, 100>,
    }
}

impl Testify {
    fn subject(&self) -> Subject<'_> {
        Subject { run: self.run_id.as_ref(), task: self.task_id.as_ref(), promise: self.promise_id.as_ref() }
    }
}

impl Command for Testify {
    const INFO: CommandInfo = CommandInfo {
        id: "gate.testify",
        summary: "Validate work as a person, criterion by criterion",
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
        let asked = match row.standing() {
            // Where nobody is named, anybody may look.
            Standing::Unvalidated(who) => who.is_empty() || who.iter().any(|it| it == PERSON),
            _ => false,
        };
        shown::must_ask(&row, asked, "a person's validation")?;
        let actor = desk.moment().actor.clone();
        must_be_another(&row, &actor, "validate")?;
        if row.of_task.is_some() && row.bound.is_none() {
            let reason = format!("nothing says yet what of {} is to be looked at", row.title);
            let help = "wait until another validator has looked, be it without a result";
            return Err(refusal(&row, Code::DependencyNotMet, reason, help));
        }
        ground::must_hold(&row, &observed.facts)?;
        shown::must_be_current(&row, self.shown.as_str(), desk)?;
        let mut results: BTreeMap<String, CriterionStatus> =
            row.criteria.iter().map(|it| (it.id.clone(), CriterionStatus::Skip)).collect();
        let mut why = BTreeMap::new();
        for (n, testimony) in self.results.iter().enumerate() {
            let id = testimony.criterion.as_str();
            if self.results.iter().take(n).any(|it| it.criterion.as_str() == id) {
                let reason = format!("{id} is answered twice");
                return Err(refusal(&row, Code::InvalidTransition, reason, "answer each criterion once"));
            }
            let Some(criterion) = row.criteria.iter().find(|it| it.id == id) else {
                let reason = format!("{} has no criterion {id}", row.id);
                let help = "`countersign gate status` shows the criteria";
                return Err(refusal(&row, Code::MissingRequiredInput, reason, help));
            };
            // Somebody's word is enough only where no more was asked for; what they saw fail counts all the same.
            let enough = criterion.asks == EvidenceKind::Statement || testimony.status != CriterionStatus::Pass;
            results.insert(id.to_owned(), if enough { testimony.status } else { CriterionStatus::Skip });
            if !enough {
                why.insert(id.to_owned(), format!("it asks for `{}`, and somebody's word is less", criterion.asks));
            }
        }
        let document = json!({ "by": actor, "results": self.results }).to_string();
        let bound = row.bound.clone();
        let found = Given {
            validator: PERSON,
            results,
            why,
            evidence: Vec::new(),
            bound: bound.as_deref(),
            ground: ground::now(&observed.facts),
        };
        given(desk, &row, &found, Untrusted::new(document));
        advance(desk, &row);
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> GateAnswer {
        gate_answer(stored)
    }
}
