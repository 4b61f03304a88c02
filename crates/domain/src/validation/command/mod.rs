//! What can be asked of promises and gates, one file each.

mod accept;
mod adopt;
mod cancel;
mod hold;
mod judge;
mod land;
mod make;
mod meet;
mod recheck;
mod release;
mod rule;
mod start;
mod testify;
mod validate;

pub use accept::Accept;
pub use adopt::Adopt;
pub use cancel::CancelPromise;
pub use hold::{HoldBack, Obstacle};
pub use judge::{JudgeVerdict, Judged};
pub use land::Land;
pub(crate) use make::{Gated, make};
pub use make::{MakePromise, NewCriterion};
pub use meet::Meet;
pub use recheck::Recheck;
pub use release::ReleasePromise;
pub use rule::Rule;
pub use start::StartPromise;
pub use testify::{Testify, Testimony};
pub use validate::Validate;

use super::event::{PROMISE_CANCELLED, PROMISE_VERIFIED, VERDICT_GIVEN};
use crate::deciding::{Answered, Desk, Refusal};
use crate::validation::row::PromiseRow;
use crate::validation::subject::refusal;
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Map, shape};

/// The views that show how gates stand.
const GATE_VIEWS: &[&str] = &[
    "gate.status",
    "promise.show",
    "promise.list",
    "inbox.list",
    "task.show",
    "task.assignment",
    "task.list",
    "task.graph",
    "task.next",
    "run.show",
    "run.list",
    "lock.who",
    "lock.list",
    "lock.mine",
    "lock.may",
    "lock.strays",
    "bundle.make",
    "reconcile",
];

/// The views that show promises.
const PROMISE_VIEWS: &[&str] = &["gate.status", "promise.show", "promise.list"];

/// The codes that a command about a promise may be refused with.
const PROMISE_CODES: &[Code] = &[
    Code::MissingRequiredInput,
    Code::DependencyNotMet,
    Code::InvalidTransition,
    Code::ConcurrencyConflict,
    Code::AuthorizationMissing,
    Code::AcceptanceFailed,
    Code::UntrustedContextBlock,
    Code::IntegrityMismatch,
];

shape! {
    /// How a promise stands after a command.
    pub struct PromiseAnswer {
        /// Its id, or the run and the task that it belongs to.
        pub promise: Option<String>,
        /// `pending`, `in_progress`, `verified` or `cancelled`, if that changed.
        pub status: Option<String>,
        /// The last event; none, if everything was so already.
        pub seq: Option<Int>,
    }
}

fn promise_answer(stored: &Answered<'_>, status: Option<&str>) -> PromiseAnswer {
    let last = stored.events.last();
    let verified = stored.events.iter().any(|event| event.kind == PROMISE_VERIFIED);
    let cancelled = stored.events.iter().any(|event| event.kind == PROMISE_CANCELLED);
    let status = if verified { Some("verified") } else { status.filter(|_| last.is_some()) };
    let status = if cancelled { Some("cancelled") } else { status };
    PromiseAnswer {
        promise: stored.events.first().and_then(|event| Some(event.facts["promise"].as_str()?.to_owned())),
        status: status.map(str::to_owned),
        seq: last.map(|event| event.seq.into()),
    }
}

shape! {
    /// What followed from what was said at a gate.
    pub struct GateAnswer {
        /// The promise: its id, or the run and the task that it belongs to.
        pub promise: Option<String>,
        /// What was said.
        pub verdict: Option<String>,
        /// The state of the task, if it changed.
        pub status: Option<String>,
        /// Why.
        pub reason: Option<String>,
        /// What counts of what was found, by criterion.
        pub results: Option<Map<String>>,
        /// Why something counts for less than what was said, by criterion.
        pub why: Option<Map<String>>,
        /// The last event; none, if everything was so already.
        pub seq: Option<Int>,
    }
}

fn gate_answer(stored: &Answered<'_>) -> GateAnswer {
    let text = |name: &str| stored.events.iter().rev().find_map(|event| Some(event.facts[name].as_str()?.to_owned()));
    let verdict = stored.events.iter().find(|event| event.kind == VERDICT_GIVEN);
    let by_criterion = |name: &str| {
        let said = verdict?.facts[name].as_object()?.iter();
        Some(said.map(|(id, it)| (id.clone(), it.as_str().unwrap_or_default().to_owned())).collect())
    };
    let (results, why) = (by_criterion("results"), by_criterion("why"));
    let verdict = verdict.and_then(|event| Some(event.facts["verdict"].as_str()?.to_owned()));
    GateAnswer {
        promise: text("promise"),
        verdict: verdict.or_else(|| text("verdict")),
        status: text("to"),
        reason: text("reason"),
        results,
        why,
        seq: stored.events.last().map(|event| event.seq.into()),
    }
}

/// A promise is changed by its owner alone; that of a task through the task.
fn must_own(row: &PromiseRow, desk: &Desk) -> Result<(), Refusal> {
    if let Some((_, task)) = &row.of_task {
        let reason = format!("{} belongs to {task}, and stands and falls with it", row.id);
        return Err(refusal(row, Code::InvalidTransition, reason, "bring the result of the task"));
    }
    let actor = desk.moment().actor.as_str();
    match &row.owned_by {
        Some(owner) if owner == actor => Ok(()),
        Some(owner) => {
            let reason = format!("{} is owned by {owner}, and {actor} is somebody else", row.id);
            Err(refusal(row, Code::AuthorizationMissing, reason, "only its owner changes it; it can be released first"))
        }
        None => {
            let reason = format!("{} is released, and nobody owns it", row.id);
            Err(refusal(row, Code::AuthorizationMissing, reason, "adopt it first: `countersign promise adopt`"))
        }
    }
}

/// Who did the work does not say whether it is done.
fn must_be_another(row: &PromiseRow, name: &str, what: &str) -> Result<(), Refusal> {
    // Capitals make nobody another person.
    if !row.authors.iter().any(|author| author.to_lowercase() == name.to_lowercase()) {
        return Ok(());
    }
    let reason = format!("{name} worked on {}, and cannot {what} it", row.id);
    Err(refusal(row, Code::AuthorizationMissing, reason, "that is for somebody else to do"))
}

/// What is said now must be about what was looked at before.
fn must_be_bound(row: &PromiseRow, bound: Option<&str>) -> Result<(), Refusal> {
    match (&row.bound, bound) {
        (Some(before), Some(now)) if before != now => {
            let reason = format!("this is about {now}, and what was validated is {before}");
            Err(refusal(row, Code::IntegrityMismatch, reason, "validate what is there now"))
        }
        (Some(before), None) => {
            let reason = format!("what was validated is {before}, and this does not say what it is about");
            Err(refusal(row, Code::IntegrityMismatch, reason, "say with `bound` what was looked at"))
        }
        // What lands is compared with it.
        (None, None) if row.of_task.is_some() => {
            let reason = format!("this does not say what of {} was looked at", row.title);
            Err(refusal(row, Code::MissingRequiredInput, reason, "say with `bound` what was looked at"))
        }
        _ => Ok(()),
    }
}
