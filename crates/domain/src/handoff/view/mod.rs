//! What is shown of handoffs that went over the ledger.

mod chain;
mod document;
mod summary;

pub use chain::{ChainShown, KeptShown, ShowChain, StepShown};
pub use document::{DocumentShown, ShowHandoff};
pub use summary::summary;

use super::row::{TraceRow, trace_key, trace_of};
use crate::deciding::{Refusal, Seen};
use countersign_contract::diagnostic::Code;

/// The trace that was asked about.
fn trace(seen: &Seen, trace: &str) -> Result<TraceRow, Refusal> {
    trace_of(seen.entity(&trace_key(trace))).ok_or_else(|| {
        let reason = format!("nothing of trace {trace} was sent by this ledger");
        Refusal::new(Code::DependencyNotMet, reason, "`countersign handoff send` sends a handoff").of_absent()
    })
}
