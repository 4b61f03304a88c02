//! What can be asked of runs and tasks, one file each.

mod accept_content;
mod add_tasks;
mod add_worklog;
mod apply;
mod block;
mod cancel;
mod cancel_run;
mod claim;
mod close_run;
mod extend;
mod fail;
mod fail_attempt;
mod finish_effect;
mod heartbeat;
mod hold_attempt;
mod lead_run;
mod open_run;
mod reassign;
mod release;
mod replan;
mod resume;
mod return_attempt;
mod start_effect;
mod submit;
mod task_spec;
mod unblock;

pub use accept_content::AcceptContent;
pub use add_tasks::AddTasks;
pub(crate) use add_tasks::exists;
pub use add_worklog::{AddWorklog, WorklogAnswer};
pub use apply::{Apply, ApplyAnswer};
pub use block::Block;
pub use cancel::Cancel;
pub use cancel_run::CancelRun;
pub use claim::Claim;
pub use close_run::CloseRun;
pub use extend::Extend;
pub use fail::Fail;
pub use fail_attempt::FailAttempt;
pub use finish_effect::{FinishEffect, Usage};
pub use heartbeat::Heartbeat;
pub use hold_attempt::HoldAttempt;
pub use lead_run::LeadRun;
pub use open_run::OpenRun;
pub use reassign::Reassign;
pub use release::Release;
pub use replan::Replan;
pub use resume::Resume;
pub use return_attempt::ReturnAttempt;
pub use start_effect::StartEffect;
pub use submit::{Submit, SubmitAnswer};
pub use task_spec::TaskSpec;
pub(crate) use task_spec::packet;
pub use unblock::Unblock;

use super::picking::said;
use crate::deciding::{Answered, Happened};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, List, shape};
use jiff::Timestamp;

/// The views that show how runs and their tasks stand.
pub(crate) const TASK_VIEWS: &[&str] = &[
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
    "worklog.show",
    "effect.list",
    "gate.status",
    "inbox.list",
    "delegation.task",
];

/// The codes that any command about a task of a run may be refused with.
pub(crate) const TASK_CODES: &[Code] =
    &[Code::MissingRequiredInput, Code::DependencyNotMet, Code::InvalidTransition, Code::ConcurrencyConflict];

/// The same, where a person may answer what they are asked about it.
pub(crate) const ANSWER_CODES: &[Code] = &[
    Code::MissingRequiredInput,
    Code::DependencyNotMet,
    Code::InvalidTransition,
    Code::ConcurrencyConflict,
    Code::AuthorizationMissing,
    Code::IntegrityMismatch,
];

shape! {
    /// How a task stands after a command.
    pub struct TaskAnswer {
        /// The run.
        pub run_id: Option<String>,
        /// The task.
        pub task_id: Option<String>,
        /// Its state; none, if everything was so already.
        pub status: Option<String>,
        /// Who works on it.
        pub owner: Option<String>,
        /// The number of the lease, to be given with every later write.
        pub lease: Option<Int>,
        /// When the lease lapses without a sign of life.
        pub expires_at: Option<String>,
        /// How sure it is that it is done: `claimed` is the worker's word.
        pub assurance: Option<String>,
        /// Why it stands so.
        pub reason: Option<String>,
        /// The last event.
        pub seq: Option<Int>,
    }
}

/// How the task of some events stands after them.
pub(crate) fn task_answer(stored: &Answered<'_>) -> TaskAnswer {
    let tells = |event: &&Happened<'_>| {
        event.facts["to"].is_string() || event.facts["lease"].is_u64() || event.kind == super::event::TASK_ASSERTED
    };
    let last = stored.events.iter().rev().find(tells);
    let text = |name: &str| last.and_then(|event| Some(event.facts[name].as_str()?.to_owned()));
    let claimed = last.filter(|event| event.kind == super::event::TASK_CLAIMED);
    TaskAnswer {
        run_id: text("run"),
        task_id: text("task"),
        // What was so already is asserted, and goes nowhere.
        status: text("to").or_else(|| text("state")),
        owner: text("owner"),
        lease: claimed.map(|event| event.seq.into()),
        expires_at: claimed.and_then(|event| expiry(event, event.facts["timeout_seconds"].as_i64()?)),
        assurance: text("assurance"),
        reason: text("reason"),
        seq: stored.events.last().map(|event| event.seq.into()),
    }
}

/// When a lease lapses that was granted by an event.
pub(crate) fn expiry(event: &Happened<'_>, seconds: i64) -> Option<String> {
    let granted: Timestamp = event.time.parse().ok()?;
    Some(said(granted.as_millisecond() + seconds * 1000))
}

shape! {
    /// How a run stands after a command.
    pub struct RunAnswer {
        /// The run.
        pub run_id: String,
        /// Its state; none, if everything was so already.
        pub status: Option<String>,
        /// The last event.
        pub seq: Option<Int>,
    }
}

shape! {
    /// Which tasks were made.
    pub struct TasksAnswer {
        /// The run.
        pub run_id: String,
        /// The tasks.
        pub task_ids: List<String>,
        /// The last event.
        pub seq: Option<Int>,
    }
}

fn text_of(event: Option<&Happened<'_>>, name: &str) -> String {
    event.and_then(|event| event.facts[name].as_str()).unwrap_or_default().to_owned()
}
