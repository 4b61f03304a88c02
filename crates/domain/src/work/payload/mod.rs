//! The contracts of the operator workflow, one file each, and the values that they share.

mod assignment;
mod changes;
mod error_code;
mod handoff_bundle;
mod orchestrator_output;
mod resource;
mod subagent_result;
mod target;
mod worklog_entry;

pub use assignment::{
    ActiveLock, Assignment, ContextItem, ContextKind, OutputSchema, PacketType, Priority, Task, TaskKind,
};
pub use changes::{Change, Changes};
pub use error_code::ErrorCode;
pub use handoff_bundle::{Dependency, HandoffBundle, LedgerRow};
pub use orchestrator_output::{Blocker, LedgerDelta, OrchestratorOutput};
pub use resource::Resource;
pub use subagent_result::{AcceptanceAnswer, AcceptanceStatus, ResultStatus, SubagentResult};
pub use target::{Target, TaskTarget};
pub use worklog_entry::WorklogEntry;
