//! Rules.

use crate::work::payload::OrchestratorOutput;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<OrchestratorOutput>] = &[];
