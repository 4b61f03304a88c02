//! Validating what was claimed: somebody else looked, and says what they found.

use super::{GATE_VIEWS, GateAnswer, gate_answer, must_be_another, must_be_bound};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Observer, Refusal, Role, Seen, Writes,
};
use crate::ids::{RunId, TaskId};
use crate::validation::advance::advance;
use crate::validation::asking;
use crate::validation::event::{EVIDENCE_COLLECTED, VERDICT_GIVEN};
use crate::validation::evidence::EvidenceKind;
use crate::validation::ground;
use crate::validation::payload::{Evidence, PromiseId, ValidationResponse};
use crate::validation::row::{BUILTIN, CriterionRow, Ground, PERSON, PromiseRow};
use crate::validation::subject::{Subject, leads, must_be_builtin, must_speak, refusal, under_lease};
use crate::validation::verdict::{CriterionStatus, Verdict};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Json, List, Name, Text, Untrusted, shape};
use serde_json::{Value, json};
use std::collections::BTreeMap;

shape! {
    /// Say what was found when work was validated. Whoever did the work cannot.
    pub closed struct Validate {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task whose work was validated; or a promise is named.
        pub task_id: Option<TaskId>,
        /// The promise, if it belongs to no task.
        pub promise_id: Option<PromiseId>,
        /// The lease under which the task is worked on.
        pub lease: Option<Int>,
        /// What was looked at: a commit, or the hash of contents.
        pub bound: Option<Text<1, 200>> = "9fceb02d0ae598e95dc970b74767f19372d61af8",
        /// Who validated.
        pub validator: Name = "reviewer",
        /// The validation response: an object, or a text in JSON or YAML.
        pub response: Json = <ValidationResponse as countersign_contract::Shape>::example(),
        /// The evidence. What Countersign has not collected itself counts as a statement, whatever kind it says it is.
        pub evidence: Option<List<Evidence, 0, 1000>>,
    }
}

impl Validate {
    fn subject(&self) -> Subject<'_> {
        Subject { run: self.run_id.as_ref(), task: self.task_id.as_ref(), promise: self.promise_id.as_ref() }
    }

    fn evidence(&self) -> &[Evidence] {
        self.evidence.as_deref().unwrap_or_default()
    }
}

impl Command for Validate {
    const INFO: CommandInfo = CommandInfo {
        id: "gate.validate",
        summary: "Say what was found when work was validated by somebody else",
        may: &[Role::Orchestrator, Role::Reviewer],
        invalidates: GATE_VIEWS,
        refuses: Code::ALL,
        writes: Writes::Events,
    };
    type Answer = GateAnswer;

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        let bound = self.bound.as_ref().map(Text::as_str);
        asking::observe(observer, &self.subject(), &self.response, self.validator.as_str(), bound)
    }

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        self.subject().needs(seen)
    }

    fn decide(&self, desk: &mut Desk, observed: &Observed) -> Result<(), Refusal> {
        let row = self.subject().live(desk.seen())?;
        must_speak(&row, desk)?;
        let validator = self.validator.as_str();
        // A run carries the checks out itself, and so does the verb that is asked for it; whatever else comes as evidence was
        // written by somebody.
        let is_collected = leads(&row, desk) || (row.of_task.is_none() && observed.facts["collected"] == true);
        if validator == BUILTIN && !is_collected {
            must_be_builtin(&row, desk)?;
        }
        if validator == PERSON {
            let reason = "a person speaks for themselves".to_owned();
            return Err(refusal(&row, Code::AuthorizationMissing, reason, "they use `countersign gate testify`"));
        }
        must_be_another(&row, validator, "validate")?;
        must_be_another(&row, &desk.moment().actor.clone(), "validate")?;
        if let Some(by) = observed.facts["by"].as_str().filter(|by| *by != validator) {
            let reason = format!("the response is that of {by}, and {validator} was named");
            let help = "name whoever validated, or leave `validator_id` out";
            return Err(refusal(&row, Code::CorrelationMismatch, reason, help));
        }
        let is_named = row.validators.is_empty() || row.validators.iter().any(|it| it == validator);
        if !is_named && validator != BUILTIN {
            let named = row.validators.join(", ");
            let reason = format!("{} is validated by {named}, and {validator} is none of them", row.id);
            return Err(refusal(&row, Code::AuthorizationMissing, reason, "those who are named must look"));
        }
        if row.claim.is_none() {
            let reason = format!("nothing is claimed yet of {}: {}", row.id, row.standing().says());
            return Err(refusal(&row, Code::DependencyNotMet, reason, "gate 1 comes first"));
        }
        let row = ground::renewed(desk, row, &observed.facts["ground"])?;
        must_be_bound(&row, self.bound.as_ref().map(Text::as_str))?;
        let answered = asking::results(&observed.facts);
        let found: Vec<Found<'_>> = self.evidence().iter().map(|it| Found::of(it, is_collected)).collect();
        let results = counted(&row, validator, &answered, &found);
        if let Some(before) = row.verdicts.get(validator) {
            if before.results == results {
                return Ok(());
            }
            let reason = format!("{validator} has validated this already, in event {}, otherwise", before.seq);
            return Err(refusal(&row, Code::InvalidTransition, reason, "a request is answered once"));
        }
        under_lease(&row, self.lease.map(|lease| lease.get().unsigned_abs()), desk)?;
        let bound = self.bound.as_ref().map(Text::as_str);
        let evidence = found.iter().map(|it| collected(desk, &row, validator, bound, it)).collect();
        let ground = ground::now(&observed.facts["ground"]);
        given(desk, &row, &Given { validator, results, evidence, bound, ground }, {
            Untrusted::new(asking::text(&self.response).1)
        });
        advance(desk, &row);
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> GateAnswer {
        gate_answer(stored)
    }
}

/// What a validator found.
pub(super) struct Given<'a> {
    pub(super) validator: &'a str,
    pub(super) results: BTreeMap<String, CriterionStatus>,
    pub(super) evidence: Vec<u64>,
    pub(super) bound: Option<&'a str>,
    pub(super) ground: Option<Ground>,
}

/// A verdict stands from here on. It follows from the results.
pub(super) fn given(desk: &mut Desk, row: &PromiseRow, given: &Given<'_>, document: Untrusted<String>) {
    let verdict = Verdict::of(given.results.values().copied());
    let results: BTreeMap<&String, &str> = given.results.iter().map(|(id, it)| (id, it.as_str())).collect();
    let mut facts = json!({
        "evidence": given.evidence, "promise": row.promise, "results": results, "round": row.round,
        "validator": given.validator, "verdict": verdict.as_str(),
    });
    if let Some(bound) = given.bound {
        facts["bound"] = json!(bound);
    }
    if let Some(ground) = &given.ground {
        facts["ground"] = json!(ground);
    }
    desk.record(of_promise(VERDICT_GIVEN, row, facts).with_texts(vec![document]));
}

/// An event at a gate, in the run of its task.
pub(super) fn of_promise(kind: &'static str, row: &PromiseRow, mut facts: Value) -> Happening {
    match &row.of_task {
        None => Happening::new(kind, facts),
        Some((run, task)) => {
            facts["run"] = json!(run);
            facts["task"] = json!(task);
            Happening::of_run(kind, run, facts)
        }
    }
}

/// What counts of what a validator says: a criterion that asks for more than somebody's word holds only with evidence that is
/// strong enough, and evidence against it outweighs what was said.
fn counted(
    row: &PromiseRow,
    validator: &str,
    answered: &BTreeMap<String, CriterionStatus>,
    found: &[Found<'_>],
) -> BTreeMap<String, CriterionStatus> {
    let count = |criterion: &CriterionRow| {
        let said = answered.get(&criterion.id).copied().unwrap_or(CriterionStatus::Skip);
        let own = || found.iter().filter(|it| it.evidence.criterion.as_str() == criterion.id);
        let against = [CriterionStatus::Fail, CriterionStatus::Blocked]
            .into_iter()
            .find(|status| own().any(|it| it.evidence.status == *status));
        let shown =
            own().any(|it| it.evidence.status == CriterionStatus::Pass && it.kind.is_enough_for(criterion.asks));
        let word_is_enough = criterion.asks == EvidenceKind::Statement && validator != BUILTIN;
        match (said, against) {
            (CriterionStatus::Pass, Some(against)) => against,
            (CriterionStatus::Pass, None) if shown || word_is_enough => CriterionStatus::Pass,
            (CriterionStatus::Pass, None) => CriterionStatus::Skip,
            (said, _) => said,
        }
    };
    row.criteria.iter().map(|criterion| (criterion.id.clone(), count(criterion))).collect()
}

/// A piece of evidence, and what it counts as.
pub(super) struct Found<'a> {
    evidence: &'a Evidence,
    kind: EvidenceKind,
}

impl<'a> Found<'a> {
    /// What Countersign has not collected itself is somebody's word.
    pub(super) fn of(evidence: &'a Evidence, is_collected: bool) -> Self {
        Self { evidence, kind: if is_collected { evidence.kind } else { EvidenceKind::Statement } }
    }
}

/// Evidence stands from here on, about what it was collected on.
pub(super) fn collected(
    desk: &mut Desk,
    row: &PromiseRow,
    validator: &str,
    bound: Option<&str>,
    found: &Found<'_>,
) -> u64 {
    let Found { evidence, kind } = found;
    let mut facts = serde_json::to_value(evidence).unwrap_or_default();
    if let Some(fields) = facts.as_object_mut() {
        // Texts can be erased; facts cannot.
        fields.remove("says");
        fields.remove("output");
        fields.insert("promise".to_owned(), json!(row.promise));
        fields.insert("round".to_owned(), json!(row.round));
        fields.insert("validator".to_owned(), json!(validator));
        fields.insert("bound".to_owned(), json!(bound));
        if *kind != evidence.kind {
            fields.insert("kind".to_owned(), json!(kind.as_str()));
            fields.insert("said_kind".to_owned(), json!(evidence.kind.as_str()));
        }
    }
    let says = Untrusted::new(evidence.says.inspect(str::to_owned));
    let output = evidence.output.as_ref().map(|output| Untrusted::new(output.inspect(|text| text.to_owned())));
    let texts = std::iter::once(says).chain(output).collect();
    desk.record(of_promise(EVIDENCE_COLLECTED, row, facts).with_texts(texts))
}
