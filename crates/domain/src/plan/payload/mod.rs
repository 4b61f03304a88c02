//! The contract of a plan.

mod check;
mod delegate;
mod duration;
mod expected;
mod gates;
mod handoff_edge;
mod one_or_many;
mod plan;

pub use check::{Check, FileCheck, HttpCheck, PageCheck, Url};
pub use delegate::{Approval, Instructed, OfKind, PlannedKind, Written};
pub use duration::Span;
pub use expected::Expected;
pub use gates::{Endpoint, Gates, Judge};
pub use handoff_edge::HandoffEdge;
pub use one_or_many::{AnyNumber, OneOrMany};
pub use plan::{Agent, AgentRole, Budgets, Criterion, Plan, PlannedTask, Preset};
