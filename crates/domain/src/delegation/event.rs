//! What has happened to instructions. Kinds are added, never changed or removed: ledgers hold them.
//!
//! Every event has `instruction_id`.

/// An instruction came. Facts: `digest` (of its canonical form), `action`, `repository`, `executor`, `response_id` and
/// `audit_entry_id` (reserved together), `end` (what it is for, as a hash), `concern` (the same but for what is done in
/// particular: what a correction has in common with what it corrects), `valid`, `lacks` (whether authority was
/// lacking), and if it belongs to a plan `run` and `task`. Its texts are the instruction without secrets, what of it goes into the audit entry, and what is wrong
/// with it.
pub const DELEGATION_RECEIVED: &str = "delegation.received";
/// Its executor is about to act. Facts: `place`, `at` and `first` (when this attempt began, and the first one did) and `until` (when
/// nobody is acting on it any more), all in milliseconds since 1970, `again` (whether somebody was before), `recovery`, and `before` (what was there before anybody acted), if that tells
/// what became of it.
pub const DELEGATION_STARTED: &str = "delegation.started";
/// An entry of the audit trail was written. Facts: `audit_entry_id`, `checksum`, `path`, `success`; the entry is text 0.
pub const DELEGATION_AUDITED: &str = "delegation.audited";
/// It was answered. Facts: `response_id`, `end`, `concern`, `status`, `duration_ms`, `audit_lag_ms`, `lacks` (authority was lacking,
/// and its requester has to ask a person), and of a failure
/// `error_type`, `retry_allowed`, `retry_after` and `doubt` (`unknown`: nobody knows whether it was done; `part`: a part of it
/// was); the response is text 0.
pub const DELEGATION_ANSWERED: &str = "delegation.answered";
/// Somebody looked at the platform, and changed nothing. Facts: `end`, `about` (`outcome`: whether what was answered with success
/// is there; `constraint`: whether what stood against it still does), `holds`; what was seen is text 0.
pub const DELEGATION_OBSERVED: &str = "delegation.observed";
/// An action stands in a plan. Facts: `run`, `task`, `digest`, `digests` (of each try), `action`, `repository`, `executor`,
/// `asks` (whether a person must approve it), `retries`, `agents` (of the plan), `deed` (what is done where, as a hash) and of
/// what git does `deed_here`; the instruction is text 0.
pub const DELEGATION_PLANNED: &str = "delegation.planned";
/// A person approved an action of a plan. Facts: `run`, `task`, `digest`; why is text 0.
pub const DELEGATION_APPROVED: &str = "delegation.approved";
/// A person refused an action of a plan. Facts: `run`, `task`, `digest`; why is text 0.
pub const DELEGATION_REFUSED: &str = "delegation.refused";
/// What came of an action of a plan is for a person to decide. Facts: `run`, `task`.
pub const DELEGATION_ESCALATED: &str = "delegation.escalated";
/// A person decided how it goes on with an instruction. Facts: `end`, `concern`, `decision`; why is text 0.
pub const DELEGATION_RESOLVED: &str = "delegation.resolved";

/// Every kind, by name.
pub const ALL: &[&str] = &[
    DELEGATION_RECEIVED,
    DELEGATION_STARTED,
    DELEGATION_AUDITED,
    DELEGATION_ANSWERED,
    DELEGATION_OBSERVED,
    DELEGATION_PLANNED,
    DELEGATION_APPROVED,
    DELEGATION_REFUSED,
    DELEGATION_ESCALATED,
    DELEGATION_RESOLVED,
];
