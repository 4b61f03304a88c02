//! Rules.

use crate::work::payload::SubagentResult;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<SubagentResult>] = &[];
