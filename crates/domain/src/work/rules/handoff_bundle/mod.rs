//! Rules.

use crate::work::payload::HandoffBundle;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<HandoffBundle>] = &[];
