//! Delegation: an agent that may not act on a platform asks one that may, with the authority for it, and gets an
//! answer with the evidence for it. What was asked, done and answered is kept as an audit entry that nobody can quietly
//! rewrite.
//!
//! ```text
//! requester ──instruction──▶ executor ──request──▶ platform
//!     ▲                      │      ▲                  │
//!     │                      │      └──────answer──────┘
//!     │                      ├──▶ audit entry (sealed, before the response is sent)
//!     └──────response────────┘
//!
//! instruction ─┬─ wrong, or without authority ──▶ INVALID_REQUEST   VALIDATION_ERRORS   nothing was sent
//!              └─ tried ─┬─ confirmed ──────────▶ SUCCESS           PLATFORM_EVIDENCE
//!                        ├─ an error ───────────▶ FAILURE           FAILURE_DETAILS
//!                        └─ the platform forbids ▶ BLOCKED          FAILURE_DETAILS
//! ```
//!
//! [`action`] is the table of what can be asked for, [`policy`] the table of what stands against it; [`payload`] has
//! the three contracts, [`rules`] what is refused.
//!
//! **Invariant:** an action without authority is answered `INVALID_REQUEST` and nothing is sent to the platform.
//! **Invariant:** a response has exactly the part that its status calls for, and belongs to one instruction and one
//! entry.
//! **Invariant:** a verdict (`SUCCESS`) follows from what the platform answered.
//! **Invariant:** an entry is never changed; the checksum covers all of it but itself, `SUPERSEDED_BY` and
//! `VERIFICATION_STATUS`, and a correction is a new entry.
//! **Absent on purpose:** the platform itself. Whether a branch exists or an address answers is not asked here.

pub mod action;
pub mod clock;
pub mod command;
pub mod event;
mod evidence_path;
pub mod parameters;
pub mod parties;
pub mod payload;
mod plain;
pub mod policy;
pub mod ref_name;
pub mod row;
pub mod rules;
mod standing;
mod state;
pub mod trying;
pub mod view;

pub use state::{evolve, places as places_of, touched};

use countersign_contract::ContractInfo;
use payload::{AuditEntry, DelegationInstruction, DelegationResponse};

/// The contracts of this domain.
pub const CONTRACTS: &[ContractInfo] = &[
    ContractInfo::of::<DelegationInstruction>(),
    ContractInfo::of::<DelegationResponse>(),
    ContractInfo::of::<AuditEntry>(),
];
