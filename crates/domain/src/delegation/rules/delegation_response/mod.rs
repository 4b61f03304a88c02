//! Rules.

use crate::delegation::payload::DelegationResponse;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<DelegationResponse>] = &[];
