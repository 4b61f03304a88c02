//! Rules.

use crate::validation::payload::Promise;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<Promise>] = &[];
