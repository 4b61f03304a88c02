//! What a plan comes to for each of its tasks: what is asked of the worker, and what its gates ask.

use super::payload::{Check, Criterion, Gates, Judge, Plan, PlannedTask, Span};
use crate::deciding::Refusal;
use crate::validation::evidence::EvidenceKind;
use crate::validation::row::{BUILTIN, ENDPOINT, NONE, PERSON};
use crate::work::command::TaskSpec;
use countersign_contract::diagnostic::{Code, Decision, Source};
use countersign_contract::{Checker, Settings, Shape, Untrusted, check};
use serde_json::json;
use std::sync::LazyLock;

/// The gates of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The kind of evidence that each criterion asks for.
    pub asks: Vec<EvidenceKind>,
    /// Who validates.
    pub validators: Vec<String>,
    /// Those of them whom nobody starts: peers, who speak for themselves.
    pub peers: Vec<String>,
    /// Who judges.
    pub judge: String,
    /// Whether it passes when the judge cannot be reached.
    pub judge_optional: bool,
}

/// Who judges, and whether the work passes when they cannot be reached.
pub fn judge_of(gates: Option<&Gates>) -> (String, bool) {
    match gates.and_then(|gates| gates.judge.as_ref()) {
        None => (NONE.to_owned(), false),
        Some(Judge::Named(name)) if name.as_str() == "optional" => (ENDPOINT.to_owned(), true),
        Some(Judge::Named(name)) => (name.as_str().to_owned(), false),
        Some(Judge::Endpoint(endpoint)) => (ENDPOINT.to_owned(), endpoint.optional.unwrap_or(false)),
    }
}

/// The checks of a criterion that a machine decides.
pub fn machine_checks(criterion: &Criterion) -> impl Iterator<Item = &Check> {
    criterion.check.iter().flat_map(|checks| checks.iter()).filter(|check| check.human.is_none())
}

/// What the gates of a task ask. Checks are always run by the built-in validator, whoever else looks; what only a person can
/// say is asked of a person.
pub fn gated(plan: &Plan, task: &PlannedTask) -> Part {
    let named = plan.gates.as_ref().and_then(|gates| gates.validate.as_ref());
    let mut validators: Vec<String> =
        named.map_or_else(Vec::new, |names| names.iter().map(|name| name.as_str().to_owned()).collect());
    validators.retain(|name| name != BUILTIN);
    if task.acceptance.iter().any(|criterion| machine_checks(criterion).next().is_some()) {
        validators.insert(0, BUILTIN.to_owned());
    }
    let asks_a_person = |criterion: &Criterion| {
        criterion.check.iter().flat_map(|checks| checks.iter()).any(|check| check.human.is_some())
    };
    if task.acceptance.iter().any(asks_a_person) && !validators.iter().any(|name| name == PERSON) {
        validators.push(PERSON.to_owned());
    }
    let is_peer = |name: &String| plan.agents.iter().any(|(it, agent)| it == name && agent.peer == Some(true));
    let peers = validators.iter().filter(|name| is_peer(name)).cloned().collect();
    let (judge, judge_optional) = judge_of(plan.gates.as_ref());
    Part { asks: task.acceptance.iter().map(Criterion::asked).collect(), validators, peers, judge, judge_optional }
}

/// What a person is asked about the criteria of a task: for each its place among the questions, and the questions.
pub(super) fn questions(task: &PlannedTask) -> (Vec<Option<usize>>, Vec<Untrusted<String>>) {
    let (mut places, mut texts) = (Vec::new(), Vec::new());
    for criterion in task.acceptance.iter() {
        let asked = criterion.check.iter().flat_map(|checks| checks.iter()).filter_map(|check| check.human.as_ref());
        let asked: Vec<&str> = asked.map(|question| question.as_str()).collect();
        places.push((!asked.is_empty()).then_some(texts.len()));
        if !asked.is_empty() {
            texts.push(Untrusted::new(asked.join(" ")));
        }
    }
    (places, texts)
}

/// What is asked of the worker.
pub(super) fn spec(task: &PlannedTask) -> Result<TaskSpec, Refusal> {
    let seconds = |span: &Option<Span>| span.as_ref().map(Span::seconds);
    let mut spec = json!({
        "task_id": task.id, "title": task.title, "type": "parallelizable", "lock_scope": &task.lock_scope[..],
        "acceptance_criteria": task.acceptance.iter().map(|criterion| json!(criterion.text)).collect::<Vec<_>>(),
        "dependencies": task.depends_on.as_deref(), "forbidden_scope": task.forbidden_scope.as_deref(),
        "timeout_seconds": seconds(&task.timeout), "heartbeat_interval_seconds": seconds(&task.heartbeat),
        "priority": task.priority,
    });
    if task.is_delegate() {
        spec = super::delegating::spec(task);
    }
    if let Some(fields) = spec.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    let name = format!("task {}", task.id);
    read(&name, &spec.to_string()).map_err(|decision| {
        let code = decision.code.unwrap_or(Code::SchemaInvalid);
        let refusal = Refusal::new(code, format!("{name}: {}", decision.reason), "mend it in the plan");
        Refusal { findings: decision.details.diagnostics, ..refusal }
    })
}

/// Something from its text, if it is of its shape.
pub(super) fn read<T: Shape>(name: &str, text: &str) -> Result<T, Box<Decision>> {
    static SETTINGS: LazyLock<Settings> = LazyLock::new(Settings::default);
    let checker = Checker { contracts: crate::contracts(), foreign: &[], settings: &SETTINGS, raised: &[] };
    check::read(&checker, Source { name, text })
}
