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
use crate::validation::row::{BUILTIN, CriterionRow, Ground, PERSON, PromiseRow, VerdictRow};
use crate::validation::subject::{
    Subject, leads, must_be_builtin, must_speak, refusal, speaks_for_itself, task_at, under_lease,
};
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
        let validator = self.validator.as_str();
        let may = must_speak(&row, desk);
        let own = may.is_err() && speaks_for_itself(&row, validator, desk);
        if !own {
            may?;
        }
        // The process that carries the run out says what is looked at, and must find it so.
        if own && row.bound.is_none() && row.claim.is_some() {
            let reason = format!("it is not said yet what of {} is to be looked at", row.title);
            let help = "wait until the run says that it waits for you; `countersign gate status` shows the commit then";
            return Err(refusal(&row, Code::DependencyNotMet, reason, help));
        }
        // A run carries the checks out itself, and so does the verb that is asked for it; whatever else comes as evidence was
        // written by somebody.
        let runs = leads(&row, desk);
        let is_collected = runs || (row.of_task.is_none() && observed.facts["collected"] == true);
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
        // Whose checks they are: those of the plan, or of the promise before the work, or of a person. What anybody else has had
        // looked at is worth their word.
        let person = desk.moment().person;
        let counts = |it: &Evidence| is_collected && (runs || person || is_set_down(&row, it));
        let found: Vec<Found<'_>> = self.evidence().iter().map(|it| Found::of(it, counts(it))).collect();
        let (results, why) = counted(&row, validator, &answered, &found, person);
        if is_collected && !runs && validator == BUILTIN {
            must_have_looked(&row, &results, &why)?;
        }
        if row.verdicts.get(validator).is_some_and(|before| before.results == results) {
            return Ok(());
        }
        if let Some(before) = row.verdicts.get(validator).filter(|it| !is_more(it, &results, is_collected)) {
            let reason = format!("{validator} has validated this already, in event {}, otherwise", before.seq);
            return Err(refusal(&row, Code::InvalidTransition, reason, "a request is answered once"));
        }
        // Who only looks has no lease; what it looked at says which work is meant.
        let lease = self.lease.map(|lease| lease.get().unsigned_abs());
        let lease = lease.or_else(|| task_at(&row, desk)?.1.map(|hold| hold.number).filter(|_| own));
        under_lease(&row, lease, desk)?;
        let bound = self.bound.as_ref().map(Text::as_str);
        let evidence = found.iter().map(|it| collected(desk, &row, validator, bound, it)).collect();
        let ground = ground::now(&observed.facts["ground"]);
        given(desk, &row, &Given { validator, results, why, evidence, bound, ground }, {
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
    /// Why something counts for less than what was said.
    pub(super) why: BTreeMap<String, String>,
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
    if !given.why.is_empty() {
        facts["why"] = json!(given.why);
    }
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
/// strong enough, and evidence against it outweighs what was said. Where less counts than what was said, why.
fn counted(
    row: &PromiseRow,
    validator: &str,
    answered: &BTreeMap<String, CriterionStatus>,
    found: &[Found<'_>],
    person: bool,
) -> (BTreeMap<String, CriterionStatus>, BTreeMap<String, String>) {
    let (mut results, mut why) = (BTreeMap::new(), BTreeMap::new());
    // Whoever else says that they could not tell says why.
    let checks_alone = validator == BUILTIN && row.of_task.is_none();
    for criterion in &row.criteria {
        let said = answered.get(&criterion.id).copied().unwrap_or(CriterionStatus::Skip);
        let own: Vec<&Found<'_>> = found.iter().filter(|it| it.evidence.criterion.as_str() == criterion.id).collect();
        let against = [CriterionStatus::Fail, CriterionStatus::Blocked]
            .into_iter()
            .find(|status| own.iter().any(|it| it.evidence.status == *status));
        let (counts, reason) = match (said, against) {
            (CriterionStatus::Pass, Some(against)) => {
                (against, Some("what was looked at speaks against what was said".to_owned()))
            }
            (CriterionStatus::Pass, None) => match lacks(row, criterion, validator, &own, person) {
                None => (CriterionStatus::Pass, None),
                reason => (CriterionStatus::Skip, reason),
            },
            (CriterionStatus::Skip, _) if checks_alone => (said, Some("no check of it was brought".to_owned())),
            (CriterionStatus::Blocked, _) if checks_alone => {
                (said, Some("a check of it could not be carried out".to_owned()))
            }
            (said, _) => (said, None),
        };
        results.insert(criterion.id.clone(), counts);
        why.extend(reason.map(|reason| (criterion.id.clone(), reason)));
    }
    (results, why)
}

/// Why a criterion is not shown to hold by what a validator brings, although they say that it does. None, if it is shown.
fn lacks(
    row: &PromiseRow,
    criterion: &CriterionRow,
    validator: &str,
    own: &[&Found<'_>],
    person: bool,
) -> Option<String> {
    let asks = criterion.asks;
    let is_left_out = |hash: &&String| !own.iter().any(|it| it.is_of(hash));
    let left_out = criterion.checks.iter().filter(is_left_out).count();
    if validator == BUILTIN && left_out > 0 && !person {
        return Some(format!(
            "{left_out} of the {} checks that were set down with the promise {} not carried out; bring them as they were then, \
             others beside them if you like",
            criterion.checks.len(),
            if left_out == 1 { "was" } else { "were" }
        ));
    }
    let word_is_enough = asks == EvidenceKind::Statement && validator != BUILTIN;
    let passed = || own.iter().filter(|it| it.evidence.status == CriterionStatus::Pass);
    // What Countersign saw itself is more than somebody's word.
    let is_shown =
        |it: &&&Found<'_>| it.kind.is_enough_for(asks) || (asks == EvidenceKind::Statement && row.of_task.is_none());
    if word_is_enough || passed().any(|it| is_shown(&it)) {
        return None;
    }
    Some(match passed().next() {
        None if asks == EvidenceKind::Statement => "nothing was looked at that speaks to it".to_owned(),
        None => format!("it asks for `{asks}`, and somebody's word is less"),
        Some(it) if it.kind != it.evidence.kind => format!(
            "it asks for `{asks}`, and this check was not set down with the promise: it is worth the word of who brought it; a \
             person can bring it, and `countersign promise create --checks` sets checks down before the work"
        ),
        Some(it) => format!("it asks for `{asks}`, and `{}` does not show that", it.kind),
    })
}

/// Whether a check is one of those that were set down for its criterion before the work.
fn is_set_down(row: &PromiseRow, evidence: &Evidence) -> bool {
    let criterion = row.criteria.iter().find(|it| it.id == evidence.criterion.as_str());
    let hash = evidence.check.as_ref().map(Text::as_str);
    criterion.is_some_and(|it| it.checks.iter().any(|check| Some(check.as_str()) == hash))
}

/// Checks that could not be carried out, or that show nothing, are no answer, and would stand in the way of one.
fn must_have_looked(
    row: &PromiseRow,
    results: &BTreeMap<String, CriterionStatus>,
    why: &BTreeMap<String, String>,
) -> Result<(), Refusal> {
    let any = |status: CriterionStatus| results.values().any(|it| *it == status);
    if any(CriterionStatus::Fail) || (any(CriterionStatus::Pass) && !any(CriterionStatus::Blocked)) {
        return Ok(());
    }
    let said = |(id, status): (&String, &CriterionStatus)| Some(format!("{id} {status}: {}", why.get(id)?));
    let said: Vec<String> = results.iter().filter_map(said).collect();
    let reason = format!("{} was not looked at in a way that counts: {}", row.id, said.join("; "));
    let help = "mend that, and have it looked at again; nothing was recorded that stands in the way";
    Err(refusal(row, Code::DependencyNotMet, reason, help))
}

/// Whether Countersign has seen more than the last time, and nothing otherwise: what it had no check for can be looked at later.
fn is_more(before: &VerdictRow, results: &BTreeMap<String, CriterionStatus>, is_collected: bool) -> bool {
    let is_kept =
        |(id, was): (&String, &CriterionStatus)| *was == CriterionStatus::Skip || results.get(id) == Some(was);
    is_collected && before.results.iter().all(is_kept)
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

    fn is_of(&self, check: &str) -> bool {
        self.evidence.check.as_ref().is_some_and(|hash| hash.as_str() == check)
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
