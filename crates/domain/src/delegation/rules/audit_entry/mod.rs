//! Rules.

use crate::delegation::payload::AuditEntry;
use countersign_contract::Rule;

/// In the order in which they are checked.
pub static RULES: &[&Rule<AuditEntry>] = &[];
