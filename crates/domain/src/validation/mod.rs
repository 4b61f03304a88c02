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
//! **Absent on purpose:** whether work may stop, which is for the gates, and asks more than documents can say.

mod matching;
pub mod payload;
pub mod rules;
pub mod tolerant;
pub mod verdict;
mod wording;

use countersign_contract::ContractInfo;
use payload::{Promise, ValidationRequest, ValidationResponse};

/// The contracts of this domain.
pub const CONTRACTS: &[ContractInfo] =
    &[ContractInfo::of::<ValidationRequest>(), ContractInfo::of::<ValidationResponse>(), ContractInfo::of::<Promise>()];
