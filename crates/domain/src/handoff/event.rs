//! What has happened to handoffs. Kinds are added, never changed or removed: ledgers hold them.

/// A handoff was sent. Facts: `trace`, `step` (its number in the trace, from 1), `source`, `target`, `chain` (from the workflow
/// that began to the source, as the ledger knows it), `after` (the step that it goes on from, if there is one), `made` (when the
/// document was), `expires_at` if it expires, `tokens`, `kept` (the files with what was taken out of it), `noted` (whether the
/// document says that it was sent), `sums` (`path`, `sha256` and `bytes` of each of those files that its sender could read), `run`
/// if it belongs to one. The document as it was sent is text 0, the SHA-256 of its payload text 1, and what was
/// taken out of it text 2, one pointer a line.
pub const HANDOFF_SENT: &str = "handoff.sent";
/// A handoff arrived where it was sent to. Facts: `trace`, `step`, `skill`, `run` if it belongs to one.
pub const HANDOFF_RECEIVED: &str = "handoff.received";

/// What became of a handoff after it was sent. Facts: `trace`, `step`, `skill`, `event` (`processed`, or `error`), `code` of an error,
/// `run` if it belongs to one. What was wrong is text 0.
pub const HANDOFF_NOTED: &str = "handoff.noted";

/// Every kind.
pub const ALL: &[&str] = &[HANDOFF_SENT, HANDOFF_RECEIVED, HANDOFF_NOTED];
