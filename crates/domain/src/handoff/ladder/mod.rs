//! How a handoff that is too long, or has what the schema does not, becomes one that fits: three rungs, tried after the repairs of
//! rules.
//!
//! 1. *what the schema does not have*: strange fields, and a confidence that is none; in the attempt of the repairs, so that each of the others has one left;
//! 2. *compression*: a chain and a summary over their length, and then, in this order and each step only while the handoff is still too long: optional fields, the
//!    session, long texts;
//! 3. *simplified payload*: the working payload alone, and while it is still too long without its lists, and then without its objects,
//!    the longest first; a word says how much stood there.
//!
//! What a rung takes out or shortens is kept whole, under the pointer it had, in one file that
//! `payload.references.files` names. A handoff whose session has no usable path has nowhere to keep anything, and is
//! left as it is.
//!
//! **Invariant:** kept and document together are the original, but for what the document says about itself.
//! **Invariant:** climbing a second time changes nothing.

mod chain;
mod compress;
mod keep;
mod shorten;
mod simplify;
mod strange;

pub(super) use chain::CHAIN_MAX;

use super::rules::universal_handoff::HANDOFF_CHAIN_TOO_LONG;
use countersign_contract::diagnostic::{Code, Decision, Diagnostic, Severity};
use countersign_contract::fix::Rung;
use countersign_contract::rules::LENGTH_EXCEEDED;

/// The parts of a payload that its working part can do without.
const SESSION: &str = "/handoff/payload/session";
const REFERENCES: &str = "/handoff/payload/references";

/// The rungs, from the first to the last.
pub static RUNGS: &[Rung] = &[
    Rung { name: "what the schema does not have", mends: true, helps: strange::helps, climb: strange::climb },
    Rung { name: "compression", mends: false, helps: may_be_too_long, climb: compress::climb },
    Rung { name: "simplified payload", mends: false, helps: may_be_too_long, climb: simplify::climb },
];

/// Whether a handoff is too long, or has a fault in what would be taken out if it were. A fault of shape keeps the rule
/// about its length from being asked; a rung counts for itself, and leaves one that fits as it is.
fn may_be_too_long(decision: &Decision) -> bool {
    is_too_long(decision) || has_fault_in_what_may_go(decision)
}

fn has_fault_in_what_may_go(decision: &Decision) -> bool {
    let mut errors = decision.details.diagnostics.iter().filter(|it| it.severity == Severity::Error);
    errors.any(|it| compress::OPTIONAL.iter().chain(&[SESSION, REFERENCES]).any(|part| it.pointer.is_within(part)))
}

fn is_too_long(decision: &Decision) -> bool {
    let mut findings = decision.details.diagnostics.iter();
    let summary = |it: &Diagnostic| it.rule == LENGTH_EXCEEDED.id && it.pointer.as_str() == "/handoff/context/summary";
    let chain = |it: &Diagnostic| it.rule == HANDOFF_CHAIN_TOO_LONG.info.id;
    findings
        .any(|it| it.severity == Severity::Error && (it.code == Code::TokenLimitExceeded || summary(it) || chain(it)))
}
