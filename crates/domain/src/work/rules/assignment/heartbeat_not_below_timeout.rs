use crate::work::heartbeat;
use crate::work::payload::Assignment;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A worker must give a sign of life before its timeout is over.
    ///
    /// ## Why
    /// A task whose worker is silent for longer than the timeout is taken away. A worker that reports only when the
    /// timeout is over loses its task although it works.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"task": {"timeout_seconds": 60, "heartbeat_interval_seconds": 60}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"task": {"timeout_seconds": 60, "heartbeat_interval_seconds": 30}}
    /// ```
    pub static HEARTBEAT_NOT_BELOW_TIMEOUT: Assignment = {
        id: "heartbeat-not-below-timeout",
        code: SchemaInvalid,
        severity: Error,
        summary: "the heartbeat interval is not below the timeout",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    let task = &it.record.task;
    let (timeout, interval) = (task.timeout_seconds.get(), task.heartbeat_interval_seconds.get());
    heartbeat::check_interval(timeout, interval, || Pointer::at("/task"), report);
}
