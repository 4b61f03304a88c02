//! Validation: work is claimed, someone else looks, and a verdict follows from what they saw.
//!
//! ```text
//! promise    pending ──▶ in_progress ──▶ verified
//!                                  └───▶ cancelled
//!
//! criterion  pending ──▶ met                          (of a promise: claimed, with evidence)
//!
//! request    pending ──response──▶ answered           (past its time: answered BLOCKED)
//!
//! results    PASS · FAIL · SKIP · BLOCKED ──verdict──▶ PASS · FAIL · PARTIAL · BLOCKED
//! ```
//!
//! A promise says what will be done and how that will be seen. A validation request asks someone else to look at each
//! criterion; a validation response answers each one with a status and evidence. The two belong together by `task_id`.
//!
//! **Invariant:** the verdict is a function of the results ([`verdict`]); nobody chooses it.
//! **Invariant:** every criterion of a request is answered once, and nothing else is.
//! **Invariant:** a criterion counts as met or passed only with evidence that says more than the criterion itself.
//! **Invariant:** who did the work does not validate it.
//! **Invariant:** a promise is changed by its owner alone; its criteria neither vanish nor change; what is met stays met.
//!
//! Work may stop when it went through three gates:
//!
//! ```text
//! 1 claimed      every criterion is said to be met: by the owner of a promise, or by the result of a task
//! 2 validated    by somebody else, bound to what was looked at; PARTIAL passes only if a person accepts the failures
//! 3 judged       if the promise names a judge; one that cannot be reached holds it back, unless it is optional
//! ```
//!
//! **Invariant:** a task with gates is done by `gate.land` alone, and only if all three are passed ([`gates`]).
//! **Invariant:** a criterion that asks for more than somebody's word passes only with evidence of that kind ([`evidence`]).
//! **Invariant:** what was found counts for what it was bound to. When that is something else, everything is looked at again.
//! **Invariant:** an answer of a person counts for what they were shown, once, and for a day ([`shown`]).
//! **Absent on purpose:** looking. What was found comes in.

mod advance;
pub mod asking;
pub mod command;
pub mod event;
pub mod evidence;
pub mod gates;
mod ground;
mod matching;
pub mod payload;
pub mod row;
pub mod rules;
pub mod shown;
mod state;
mod subject;
pub mod told;
pub mod tolerant;
pub mod verdict;
pub mod view;

pub use state::{evolve, places as places_of, touched};

use countersign_contract::ContractInfo;
use payload::{Promise, ValidationRequest, ValidationResponse};

/// The contracts of this domain.
pub const CONTRACTS: &[ContractInfo] =
    &[ContractInfo::of::<ValidationRequest>(), ContractInfo::of::<ValidationResponse>(), ContractInfo::of::<Promise>()];
