//! Rules.

use crate::validation::payload::ValidationResponse;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<ValidationResponse>] = &[];
