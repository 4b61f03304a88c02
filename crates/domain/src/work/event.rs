//! What has happened to runs and tasks. Kinds are added, never changed or removed: ledgers hold them.
//!
//! Every event of a task has `run` and `task`; one that changes its state has `from`, `to` and `reason`, too.

/// A run began. Facts: `run`, `objective`, `constraints`, `policy`, `person` (whether a person began it, as far as the door could
/// tell).
pub const RUN_OPENED: &str = "run.opened";
/// A run ended with everything in it finished. Facts: `run`, `reason`.
pub const RUN_CLOSED: &str = "run.closed";
/// A run was given up. Facts: `run`, `reason`.
pub const RUN_CANCELED: &str = "run.canceled";
/// An orchestrator went on with a run from a bundle. Facts: `run`, `base` (the version that the bundle was made from).
pub const RUN_RESUMED: &str = "run.resumed";
/// A process carries a run out, or has stopped to. Facts: `run`, `by` (how it is known; nothing, if nobody does), `budgets`, and
/// the first time `base` (what the run starts from).
pub const RUN_LED: &str = "run.led";
/// A person has accepted something that was changed beside a run, exactly as it is. Facts: `run`, `content` (the full name of a
/// commit, or `sha256:` and a hash), `reason`.
pub const RUN_ACCEPTED: &str = "run.accepted";
/// An envelope was applied. Facts: `run`, `deltas`, `known` (deltas that were applied before), `assignments`.
pub const ENVELOPE_APPLIED: &str = "envelope.applied";
/// A change of the operator ledger was taken. Facts: `run`, `delta` and what it says, so that the same id with other content
/// is found out.
pub const DELTA_APPLIED: &str = "delta.applied";

/// A task exists. Facts: `spec`, `waiting_for`; the criteria are its first texts, then the values of the context.
pub const TASK_ADDED: &str = "task.added";
/// A task was asked for anew. Facts and texts as with [`TASK_ADDED`].
pub const TASK_REPLANNED: &str = "task.replanned";
/// Somebody works on a task. Facts: `owner`, `attempt`, `timeout_seconds`, `base` (the working tree as it was). It grants the lease.
pub const TASK_CLAIMED: &str = "task.claimed";
/// A worker has more or less time. Facts: `lease`, `timeout_seconds`.
pub const TASK_EXTENDED: &str = "task.extended";
/// A task waits for something. Facts: `code`, `owner`, `lease`, `failed` (whether an attempt failed with it),
/// `lost` (whether the lease was taken away), `escalated`, `found` (whether it counts as refused, although nothing was),
/// `content` (what exactly a person is asked to accept), `kept` (the hash of what is kept about that beside the ledger).
pub const TASK_BLOCKED: &str = "task.blocked";
/// A worker was silent for too long. Facts as with [`TASK_BLOCKED`], and `last_heartbeat_at`, `timeout_seconds`.
pub const TASK_TIMED_OUT: &str = "task.timed_out";
/// A task that was blocked can be given out again. Facts: `retry` (whether the retry budget gave it).
pub const TASK_REQUEUED: &str = "task.requeued";
/// A task is done. Facts: `assurance`, `result` (the event that brought it), `frees` (tasks that waited for it).
pub const TASK_COMPLETED: &str = "task.completed";
/// A task was given up. Facts: `code`, `lease` if somebody worked on it.
pub const TASK_FAILED: &str = "task.failed";
/// A task is not wanted any more. Facts: `owner`, `lease` and `lost` if somebody worked on it.
pub const TASK_CANCELED: &str = "task.canceled";
/// Somebody said again what a task is already. Facts: `state`, `reason`.
pub const TASK_ASSERTED: &str = "task.asserted";
/// A result was brought. Facts: `lease`, `status`, `changes`, `late` (after the lease was lost), `warnings`; the document is text 0.
pub const RESULT_SUBMITTED: &str = "result.submitted";
/// A worker wrote into its log. Facts: `action`, `files`, `code`; the entry is text 0.
pub const WORKLOG_ADDED: &str = "worklog.added";
/// Something is done in the world for a task. Facts: `kind`, `lease`, `recovery`, `mark`; of a landing, `mark` has `commit` (what
/// lands) and `was` (on top of what).
pub const EFFECT_STARTED: &str = "effect.started";
/// It has ended. Facts: `kind`, `lease`, `outcome`, and what was measured.
pub const EFFECT_FINISHED: &str = "effect.finished";

/// Every kind, by name.
pub const ALL: &[&str] = &[
    RUN_OPENED,
    RUN_CLOSED,
    RUN_CANCELED,
    RUN_RESUMED,
    RUN_LED,
    RUN_ACCEPTED,
    ENVELOPE_APPLIED,
    DELTA_APPLIED,
    TASK_ADDED,
    TASK_REPLANNED,
    TASK_CLAIMED,
    TASK_EXTENDED,
    TASK_BLOCKED,
    TASK_TIMED_OUT,
    TASK_REQUEUED,
    TASK_COMPLETED,
    TASK_FAILED,
    TASK_CANCELED,
    TASK_ASSERTED,
    RESULT_SUBMITTED,
    WORKLOG_ADDED,
    EFFECT_STARTED,
    EFFECT_FINISHED,
];
