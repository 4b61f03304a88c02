//! The plan: what a run is given to do, by whom, and what shows that it is done.
//!
//! ```text
//! plan ──order──▶ stages of tasks that may go on beside each other
//!   │ tasks[]  each with an agent, a scope and criteria; a criterion may have checks that a machine decides
//!   │          or an instruction: an action on a platform, which somebody may have to approve
//!   │ handoffs[]  from one task to another, which waits for it and is told what came of it
//!   └ gates    who validates, and who judges
//! ```
//!
//! **Invariant:** a plan that passes can be carried out: nobody waits in a circle, every task has an agent and a scope that it
//! may change, or a valid instruction, every criterion has somebody who can say whether it holds, and nobody validates their own work.
//! **Invariant:** weaker evidence never stands in for stronger: [`evidence`] is the only place that says what is weaker.
//! **Invariant:** a run follows the plan that it was started with; the plan stands in the ledger, word for word.
//! **Absent on purpose:** carrying it out.

pub use crate::validation::evidence;
pub mod command;
mod delegating;
pub mod event;
pub mod handing;
pub mod hosts;
pub mod order;
mod parts;
pub mod payload;
pub mod rules;
mod state;
pub mod view;

pub use crate::validation::row::ENDPOINT;
pub use parts::{Part, gated, judge_of, machine_checks};
pub use state::{evolve, touched};

use countersign_contract::ContractInfo;
use payload::Plan;

/// The contracts of this domain.
pub const CONTRACTS: &[ContractInfo] = &[ContractInfo::of::<Plan>()];
