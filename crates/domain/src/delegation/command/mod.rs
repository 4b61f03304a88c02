//! What can be asked of instructions, one file each.

mod answer;
mod compose;
mod fields;
mod receive;
mod start;

pub use answer::{Acted, Answer};
pub use receive::Receive;
pub use start::Start;

use crate::deciding::{Answered, Refusal};
use crate::delegation::payload::InstructionId;
use crate::delegation::row::DelegationRow;
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, choice, shape};

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

/// The views that show instructions.
const VIEWS: &[&str] = &["delegation.show", "delegation.next", "delegation.alerts"];

/// The codes that a command about an instruction may be refused with.
const CODES: &[Code] = &[
    Code::DependencyNotMet,
    Code::InvalidTransition,
    Code::ConcurrencyConflict,
    Code::CorrelationMismatch,
    Code::IntegrityMismatch,
    Code::LedgerInconsistent,
];

shape! {
    /// How an instruction stands after a command.
    pub struct DelegationAnswer {
        /// The instruction; none, if everything was so already.
        pub instruction_id: Option<String>,
        /// The number of the attempt that was begun.
        pub attempt: Option<Int>,
        /// Whether somebody was acting on it before, so that what became of that is to be found out first.
        pub again: Option<bool>,
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
    let text = |name: &str| last.and_then(|event| Some(event.facts[name].as_str()?.to_owned()));
    DelegationAnswer {
        instruction_id: text("instruction_id"),
        attempt: started.map(|event| event.seq.into()),
        again: started.map(|event| event.facts["again"] == true),
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
