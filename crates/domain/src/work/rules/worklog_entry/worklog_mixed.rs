use crate::work::payload::WorklogEntry;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// All entries of a worklog are of one task of one run.
    ///
    /// ## Why
    /// Each task has a worklog of its own, so that two workers never write to one file and its last entry tells how the
    /// task ended.
    ///
    /// ## Rejected
    /// ```jsonl rejected
    /// {"task_id": "T-12"}
    /// {"task_id": "T-13"}
    /// ```
    ///
    /// ## Accepted
    /// ```jsonl accepted
    /// {"task_id": "T-12"}
    /// {"task_id": "T-12"}
    /// ```
    pub static WORKLOG_MIXED: WorklogEntry = {
        id: "worklog-mixed",
        code: CorrelationMismatch,
        severity: Error,
        summary: "a worklog has entries of several tasks",
        check: check,
    }
}

fn check(it: &Subject<'_, WorklogEntry>, report: &mut Report) {
    let Some(first) = it.lines.first() else { return };
    let entry = it.record;
    if entry.run_id != first.run_id {
        let message = format!("this entry is of run {}, the first of {}", entry.run_id, first.run_id);
        report.add(Pointer::at("/run_id"), message, "keep a worklog for each run");
    } else if entry.task_id != first.task_id {
        let message = format!("this entry is of {}, the first of {}", entry.task_id, first.task_id);
        report.add(Pointer::at("/task_id"), message, "keep a worklog for each task");
    }
}
