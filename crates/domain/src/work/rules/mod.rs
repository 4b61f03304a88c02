//! The rules of the operator workflow: a folder for each contract, a file for each rule.

pub mod assignment;
mod changes_named_twice;
pub mod handoff_bundle;
pub mod orchestrator_output;
mod resource_not_normal;
pub mod subagent_result;
pub mod worklog_entry;

pub use changes_named_twice::CHANGES_NAMED_TWICE;
pub use resource_not_normal::RESOURCE_NOT_NORMAL;

use countersign_contract::RuleInfo;

/// Rules about values that several contracts hold. Reading such a value applies them.
pub static SHARED: &[&RuleInfo] = &[&RESOURCE_NOT_NORMAL, &CHANGES_NAMED_TWICE];
