//! Work: who does what, on which files, until when.

pub mod payload;
pub mod rules;

use countersign_contract::ContractInfo;
use payload::WorklogEntry;

/// The contracts of this domain.
pub const CONTRACTS: &[ContractInfo] = &[ContractInfo::of::<WorklogEntry>()];
