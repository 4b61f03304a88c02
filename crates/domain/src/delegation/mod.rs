//! Delegation: an agent that may not act on a platform asks one that may.

pub mod action;
pub mod clock;
pub mod evidence_path;
pub mod parameters;
pub mod parties;
pub mod payload;
pub mod policy;
pub mod ref_name;
pub mod rules;

use countersign_contract::ContractInfo;
use payload::{AuditEntry, DelegationInstruction, DelegationResponse};

/// The contracts of this domain.
pub const CONTRACTS: &[ContractInfo] = &[
    ContractInfo::of::<DelegationInstruction>(),
    ContractInfo::of::<DelegationResponse>(),
    ContractInfo::of::<AuditEntry>(),
];
