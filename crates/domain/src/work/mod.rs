//! Work.

pub mod payload;
pub mod places;
pub mod rules;
pub mod scope;
pub mod task_state;

use countersign_contract::ContractInfo;
use payload::{Assignment, HandoffBundle, OrchestratorOutput, SubagentResult, WorklogEntry};

/// The contracts of this domain.
pub const CONTRACTS: &[ContractInfo] = &[
    ContractInfo::of::<Assignment>(),
    ContractInfo::of::<OrchestratorOutput>(),
    ContractInfo::of::<SubagentResult>(),
    ContractInfo::of::<WorklogEntry>(),
    ContractInfo::of::<HandoffBundle>(),
];
