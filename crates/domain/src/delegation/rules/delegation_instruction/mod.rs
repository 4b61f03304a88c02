//! Rules.

use crate::delegation::payload::DelegationInstruction;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<DelegationInstruction>] = &[];
