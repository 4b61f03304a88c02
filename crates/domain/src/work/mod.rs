//! Work: who does what, on which files, until when, and what shows that it is done.
//!
//! An orchestrator keeps an operator ledger with a row for each task. In each turn it changes rows and gives tasks out;
//! a worker answers each assignment with a result and keeps a worklog on the way; a bundle hands the whole run over to
//! an orchestrator that knows nothing of it.
//!
//! ```text
//! orchestrator_output ──assignments[]──▶ assignment ──▶ worker ──▶ subagent_result
//!      │ ledger_delta[]                                   └──────▶ worklog_entry, line by line
//!      ▼
//! operator ledger ──▶ handoff_bundle
//! ```
//!
//! The states of a task:
//!
//! ```text
//!       ┌────────────────┐
//!       ▼                │
//! ──▶ todo ─────────▶ blocked
//!       │             ▲     │
//!       ▼             │     │
//!     in_progress ────┘     │
//!       │     ▲             │
//!       ▼     └─────────────┘
//!     done
//!
//! todo, in_progress, blocked ──▶ failed, canceled          done, failed, canceled: final
//! ```
//!
//! **Invariant:** two tasks never hold resources that overlap; [`scope`] is the only place that says what overlaps.
//! **Invariant:** a task changes nothing outside its lock scope, nothing inside its forbidden scope, and never
//! `.countersign`; only its own worklog it may always write.
//! **Invariant:** a task starts when everything it waits for is done, with an owner and its locks.
//! **Invariant:** done means that every criterion of the assignment is answered, in its words, with `pass` and
//! evidence.
//! **Invariant:** a task that stopped holds no lock, and one that is blocked has a blocker that says why.
//! **Invariant:** an assignment obeys its own rules wherever it stands, also inside a turn.
//!
//! What nobody else defines is settled in the payloads: a bundle's `dependencies` are entries of a task and what it
//! waits for, its `open_blockers` are blockers as in a turn, its `constraints` are texts, and an acceptance target is a
//! text for the whole run or a criterion with its task.
//!
//! **Absent on purpose:** whether a file is really there or was really changed; that is asked of the world, not of a
//! document.

pub mod attempt;
pub mod authorship;
mod changed;
mod choosing;
mod claim;
pub mod command;
pub(crate) mod completing;
mod criterion;
pub mod effect;
pub mod event;
mod heartbeat;
pub mod holding;
pub mod indexes;
mod lock_collision;
mod mention;
pub mod payload;
pub(crate) mod picking;
pub mod places;
mod reach;
pub(crate) mod redundant_entry;
mod replay;
pub mod row;
pub mod rules;
mod run_id;
pub mod scope;
pub mod shown;
mod state;
pub(crate) mod steering;
pub mod task_state;
pub mod view;

pub use picking::NONE_OPEN;

pub use state::{evolve, places as places_of, touched};

use countersign_contract::ContractInfo;
use payload::{Assignment, HandoffBundle, OrchestratorOutput, SubagentResult, WorklogEntry};

/// The contracts of this domain.
pub const CONTRACTS: &[ContractInfo] = &[
    ContractInfo::of::<Assignment>(),
    ContractInfo::of::<OrchestratorOutput>(),
    ContractInfo::of::<SubagentResult>(),
    ContractInfo::of::<WorklogEntry>(),
    ContractInfo::of::<HandoffBundle>(),
];
