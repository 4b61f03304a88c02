//! What has happened to promises and at their gates. Kinds are added, never changed or removed: ledgers hold them.
//!
//! Every event has `promise`, the name of the promise among entities: its id, or `run/task` for the promise of a task.

/// A promise was made. Facts: `id`, `title`, `criteria` (ids and the evidence that each asks for), `validators`, `judge`; the
/// descriptions of the criteria are its texts.
pub const PROMISE_MADE: &str = "promise.made";
/// Its owner began with it.
pub const PROMISE_STARTED: &str = "promise.started";
/// Its owner says that a criterion is met. Facts: `criterion`, `kind`; what shows it is text 0.
pub const CRITERION_MET: &str = "promise.criterion_met";
/// Nobody owns it from here on.
pub const PROMISE_RELEASED: &str = "promise.released";
/// Somebody owns it from here on.
pub const PROMISE_ADOPTED: &str = "promise.adopted";
/// It was given up. Facts: `reason`.
pub const PROMISE_CANCELLED: &str = "promise.cancelled";
/// It went through every gate. Facts: `assurance`.
pub const PROMISE_VERIFIED: &str = "promise.verified";

/// Evidence was collected. Facts: `criterion`, `kind`, `status`, `bound` and what was measured; a sentence is text 0, the
/// output text 1.
pub const EVIDENCE_COLLECTED: &str = "evidence.collected";
/// Somebody validated. Facts: `validator`, `verdict`, `results` by criterion, `bound`, `evidence` (events); the response is
/// text 0.
pub const VERDICT_GIVEN: &str = "gate.validated";
/// Somebody judged. Facts: `by`, `verdict`, `bound`; the reasoning is text 0.
pub const JUDGED: &str = "gate.judged";
/// A person accepted failures. Facts: `failures`, `bound`; the reason is text 0.
pub const FAILURES_ACCEPTED: &str = "gate.accepted";
/// What was validated is not what is there any more. Facts: `bound`, `found`.
pub const GATES_STALE: &str = "gate.stale";

/// Every kind, by name.
pub const ALL: &[&str] = &[
    PROMISE_MADE,
    PROMISE_STARTED,
    CRITERION_MET,
    PROMISE_RELEASED,
    PROMISE_ADOPTED,
    PROMISE_CANCELLED,
    PROMISE_VERIFIED,
    EVIDENCE_COLLECTED,
    VERDICT_GIVEN,
    JUDGED,
    FAILURES_ACCEPTED,
    GATES_STALE,
];
