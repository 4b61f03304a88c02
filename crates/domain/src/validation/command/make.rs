//! Making a promise.

use super::{PROMISE_CODES, PROMISE_VIEWS, PromiseAnswer, promise_answer};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::validation::event::PROMISE_MADE;
use crate::validation::evidence::EvidenceKind;
use crate::validation::payload::PromiseId;
use crate::validation::row::{NONE, promise_key};
use countersign_contract::diagnostic::Code;
use countersign_contract::{List, Name, Text, Untrusted, shape};
use serde_json::{Value, json};

shape! {
    /// Something that must hold for a promise to be kept.
    pub closed struct NewCriterion {
        /// What must hold, in words.
        pub description: Untrusted<Text<1, 5000>> = "an empty cart is answered with status 400",
        /// The kind of evidence that it asks for; somebody's statement, if it is not said.
        pub evidence: Option<EvidenceKind>,
        /// The checks that decide it, set down before the work: the SHA-256 of each, in canonical form.
        pub checks: Option<List<Text<64, 64>, 0, 100>> = ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
    }
}

shape! {
    /// Promise something, with the criteria by which it will be judged. It belongs to whoever makes it.
    pub closed struct MakePromise {
        /// Its id; drawn, if it is not given.
        pub promise_id: Option<PromiseId>,
        /// In a few words.
        pub title: Text<1, 500> = "Refuse empty carts",
        /// In full.
        pub summary: Option<Text<1, 5000>>,
        /// What must hold; the n-th is `AC-n`.
        pub criteria: List<NewCriterion, 1, 100>,
        /// Who must validate; anybody else, if nobody is named.
        pub validators: Option<List<Name, 0, 16>>,
        /// Who judges; nobody, if it is not said.
        pub judge: Option<Name>,
    }
}

impl NewCriterion {
    fn checks(&self) -> Vec<String> {
        self.checks.as_deref().unwrap_or_default().iter().map(|hash| hash.as_str().to_owned()).collect()
    }
}

impl MakePromise {
    fn id(&self, moment: &Moment) -> String {
        let drawn = || format!("promise-{}", moment.new_id.get(..8).unwrap_or("00000000"));
        self.promise_id.as_ref().map_or_else(drawn, |id| id.as_str().to_owned())
    }
}

impl Command for MakePromise {
    const INFO: CommandInfo = CommandInfo {
        id: "promise.create",
        summary: "Promise something, with the criteria by which it will be judged",
        may: &[Role::Agent, Role::Orchestrator],
        invalidates: PROMISE_VIEWS,
        refuses: PROMISE_CODES,
        writes: Writes::Events,
    };
    type Answer = PromiseAnswer;

    fn needs(&self, _: &Seen, moment: &Moment) -> Vec<Need> {
        // Before there is a moment, nothing is drawn.
        let known = self.promise_id.is_some() || !moment.new_id.is_empty();
        if known { vec![Need::Entity(promise_key(&self.id(moment)))] } else { Vec::new() }
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let id = self.id(desk.moment());
        if desk.entity(&promise_key(&id)).is_some() {
            let reason = format!("there is a promise {id} already");
            return Err(Refusal::new(Code::InvalidTransition, reason, "leave the id out, and another is drawn"));
        }
        let actor = desk.moment().actor.clone();
        let names = self.validators.iter().flat_map(|names| names.iter()).chain(&self.judge);
        if names.into_iter().any(|name| name.as_str() == actor) {
            let reason = format!("{actor} makes this promise, and cannot validate or judge it");
            return Err(Refusal::new(Code::AuthorizationMissing, reason, "name somebody else"));
        }
        let validators: Vec<String> =
            self.validators.as_deref().unwrap_or_default().iter().map(|name| name.as_str().to_owned()).collect();
        let mut texts: Vec<Untrusted<String>> = self.criteria.iter().map(|it| owned(&it.description)).collect();
        texts.extend(self.summary.as_ref().map(|summary| Untrusted::new(summary.as_str().to_owned())));
        let kinds = self.criteria.iter().map(|it| it.evidence.unwrap_or(EvidenceKind::Statement));
        let gated = Gated {
            promise: id.clone(),
            id,
            of_task: None,
            title: self.title.as_str().to_owned(),
            asks: kinds.collect(),
            checks: self.criteria.iter().map(NewCriterion::checks).collect(),
            questions: Vec::new(),
            validators,
            peers: Vec::new(),
            judge: self.judge.as_ref().map_or(NONE.to_owned(), |judge| judge.as_str().to_owned()),
            judge_optional: false,
        };
        make(desk, &gated, texts);
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> PromiseAnswer {
        promise_answer(stored, Some("pending"))
    }
}

fn owned(text: &Untrusted<Text<1, 5000>>) -> Untrusted<String> {
    Untrusted::new(text.inspect(str::to_owned))
}

/// A promise, and who says that it is kept.
pub(crate) struct Gated {
    pub(crate) promise: String,
    pub(crate) id: String,
    pub(crate) of_task: Option<(String, String)>,
    pub(crate) title: String,
    pub(crate) asks: Vec<EvidenceKind>,
    /// The checks that were set down for each criterion, by their hashes. Those of a task are its plan's.
    pub(crate) checks: Vec<Vec<String>>,
    /// Where in the texts a person is asked about a criterion.
    pub(crate) questions: Vec<Option<usize>>,
    pub(crate) validators: Vec<String>,
    /// Those of them whom no run starts.
    pub(crate) peers: Vec<String>,
    pub(crate) judge: String,
    pub(crate) judge_optional: bool,
}

/// A promise exists from here on. The texts of a task's criteria stand with the task.
pub(crate) fn make(desk: &mut Desk, gated: &Gated, texts: Vec<Untrusted<String>>) {
    let criteria = gated.asks.iter().enumerate();
    let criteria: Vec<Value> = criteria
        .map(|(n, asks)| {
            let mut criterion = json!({ "id": format!("AC-{}", n + 1), "asks": asks.as_str() });
            if let Some(question) = gated.questions.get(n).copied().flatten() {
                criterion["question"] = json!(question);
            }
            if let Some(checks) = gated.checks.get(n).filter(|checks| !checks.is_empty()) {
                criterion["checks"] = json!(checks);
            }
            criterion
        })
        .collect();
    let mut facts = json!({
        "criteria": criteria, "id": gated.id, "judge": gated.judge, "judge_optional": gated.judge_optional,
        "promise": gated.promise, "title": gated.title, "validators": gated.validators,
    });
    if !gated.peers.is_empty() {
        facts["peers"] = json!(gated.peers);
    }
    let made = match &gated.of_task {
        None => Happening::new(PROMISE_MADE, facts),
        Some((run, task)) => {
            facts["run"] = json!(run);
            facts["task"] = json!(task);
            Happening::of_run(PROMISE_MADE, run, facts)
        }
    };
    desk.record(made.with_texts(texts));
}
