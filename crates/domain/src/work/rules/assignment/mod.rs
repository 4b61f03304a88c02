//! Rules.

use crate::work::payload::Assignment;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<Assignment>] = &[];
