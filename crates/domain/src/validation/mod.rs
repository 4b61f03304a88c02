//! validation

use countersign_contract::ContractInfo;

/// The contracts of this domain.
pub const CONTRACTS: &[ContractInfo] = &[];
