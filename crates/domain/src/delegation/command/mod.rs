//! What can be asked of instructions, one file each.

mod answer;
mod approve;
mod ask;
mod bypassing;
pub(crate) mod chain;
mod compose;
mod conclude;
mod fields;
mod header;
mod observe;
mod receive;
mod refuse;
mod resolve;
mod start;
mod written;

pub use answer::{Acted, Answer, Doubt};
pub use approve::Approve;
pub(crate) use ask::APPROVAL;
pub use ask::Ask;
pub use conclude::Conclude;
pub use observe::{About, Observe, Outcome};
pub use receive::Receive;
pub use refuse::Refuse;
pub(crate) use resolve::about;
pub use resolve::{Decision, Resolve};
pub use start::{Begin, Start};
pub use written::Written;

use crate::deciding::{Answered, Desk, Happening, Need, Refusal, Seen};
use crate::delegation::action::ActionType;
use crate::delegation::payload::InstructionId;
use crate::delegation::row::{DelegationRow, delegation_key, delegation_of};
use crate::work::row::{run_key, run_of};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, choice, shape};
use serde_json::Value;

choice! {
    /// Who carries an action out.
    pub enum ExecutorKind {
        /// Nobody: what would be done is said, and nothing is done.
        DryRun = "dry-run",
        /// Git, in the project's own repository: branches and tags.
        Git = "git",
        /// GitHub, or a platform that speaks as it does: every action.
        Github = "github",
    }
}

impl ExecutorKind {
    /// Whether it can carry such an action out at all.
    pub fn can(self, action: ActionType) -> bool {
        use ActionType::{CreateBranch, CreateTag, DeleteBranch, DeleteTag};
        self != Self::Git || matches!(action, CreateBranch | DeleteBranch | CreateTag | DeleteTag)
    }
}

/// The views that show instructions.
const VIEWS: &[&str] =
    &["delegation.show", "delegation.next", "delegation.end", "delegation.alerts", "delegation.task", "inbox.list"];

/// The views that show actions of a plan.
const TASK_VIEWS: &[&str] = &[
    "delegation.task",
    "inbox.list",
    "task.show",
    "task.assignment",
    "task.list",
    "task.graph",
    "task.next",
    "run.show",
    "run.list",
    "gate.status",
    "lock.who",
    "lock.list",
    "lock.mine",
    "lock.may",
    "lock.strays",
    "bundle.make",
    "reconcile",
];

/// The codes that a command about an instruction may be refused with.
const CODES: &[Code] = &[
    Code::DependencyNotMet,
    Code::InvalidTransition,
    Code::ConcurrencyConflict,
    Code::AuthorizationMissing,
    Code::CorrelationMismatch,
    Code::IntegrityMismatch,
    Code::LedgerInconsistent,
];

/// The codes that a command about an action of a plan may be refused with.
const TASK_CODES: &[Code] = &[
    Code::MissingRequiredInput,
    Code::DependencyNotMet,
    Code::InvalidTransition,
    Code::ConcurrencyConflict,
    Code::AuthorizationMissing,
    Code::UntrustedContextBlock,
    Code::IntegrityMismatch,
];

shape! {
    /// How an action of a plan stands after a command.
    pub struct ActionAnswer {
        /// The task.
        pub task_id: Option<String>,
        /// The state of the task, if it changed.
        pub status: Option<String>,
        /// Why.
        pub reason: Option<String>,
        /// The last event; none, if everything was so already.
        pub seq: Option<Int>,
    }
}

fn action_answer(stored: &Answered<'_>) -> ActionAnswer {
    let text = |name: &str| stored.events.iter().rev().find_map(|event| Some(event.facts[name].as_str()?.to_owned()));
    ActionAnswer {
        task_id: text("task"),
        status: text("to"),
        reason: text("reason"),
        seq: stored.events.last().map(|event| event.seq.into()),
    }
}

shape! {
    /// How an instruction stands after a command.
    pub struct DelegationAnswer {
        /// The instruction; none, if everything was so already.
        pub instruction_id: Option<String>,
        /// The number of the attempt that was begun.
        pub attempt: Option<Int>,
        /// Whether somebody was acting on it before, so that what became of that is to be found out first.
        pub again: Option<bool>,
        /// What was there before anybody acted on it, where that tells what became of it.
        pub before: Option<String>,
        /// When the first attempt began, in milliseconds since 1970.
        pub first: Option<Int>,
        /// How it was answered.
        pub status: Option<String>,
        /// The last event; none, if everything was so already.
        pub seq: Option<Int>,
    }
}

fn delegation_answer(stored: &Answered<'_>) -> DelegationAnswer {
    use crate::delegation::event::DELEGATION_STARTED;
    let last = stored.events.last();
    let started = stored.events.iter().find(|event| event.kind == DELEGATION_STARTED);
    let text = |name: &str| stored.events.iter().rev().find_map(|event| Some(event.facts[name].as_str()?.to_owned()));
    DelegationAnswer {
        instruction_id: text("instruction_id"),
        attempt: started.map(|event| event.seq.into()),
        again: started.map(|event| event.facts["again"] == true),
        before: started.and_then(|event| Some(event.facts["before"].as_str()?.to_owned())),
        first: started.and_then(|event| event.facts["first"].as_u64()).map(Into::into),
        status: text("status"),
        seq: last.map(|event| event.seq.into()),
    }
}

/// An instruction must have come before anything is done about it.
fn known(row: Option<DelegationRow>, id: &InstructionId) -> Result<DelegationRow, Refusal> {
    row.ok_or_else(|| {
        let reason = format!("instruction {id} has not been received");
        Refusal::new(Code::DependencyNotMet, reason, "hand it in with `countersign delegate`").of_absent()
    })
}

/// Something that happened to an instruction, in the run that it belongs to.
fn happening(kind: &'static str, run: Option<&str>, facts: Value) -> Happening {
    match run {
        Some(run) => Happening::of_run(kind, run, facts),
        None => Happening::new(kind, facts),
    }
}

/// What must be seen of an instruction that came: it, and the run that it belongs to.
fn received_needs(id: &InstructionId, seen: &Seen) -> Vec<Need> {
    let key = delegation_key(id.as_str());
    let run = delegation_of(seen.so_far(&key)).and_then(|row| row.of_task).map(|(run, _)| Need::Entity(run_key(&run)));
    run.into_iter().chain([Need::Entity(key)]).collect()
}

/// While the run of an action is open, only the process that carries it out acts and answers.
fn must_lead(row: &DelegationRow, desk: &Desk) -> Result<(), Refusal> {
    let Some((run, task)) = &row.of_task else { return Ok(()) };
    let found = run_of(desk.entity(&run_key(run))).filter(|run| run.is_open());
    if found.is_none_or(|run| run.led_by.as_deref() == Some(desk.moment().authn.as_str())) {
        return Ok(());
    }
    let reason =
        format!("{} belongs to {task}, and only the process that carries its run out acts", row.instruction_id);
    let help = "go on with the run: `countersign run --resume`";
    Err(Refusal::new(Code::AuthorizationMissing, reason, help).of_run(run))
}
