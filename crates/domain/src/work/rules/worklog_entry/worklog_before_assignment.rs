use crate::work::payload::{Assignment, WorklogEntry};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// No entry of a worklog is older than the assignment it belongs to.
    ///
    /// ## Why
    /// Work that was done before it was assigned was done for something else.
    ///
    /// ## Rejected
    /// ```json with assignment
    /// {"generated_at": "2026-02-07T18:30:00Z"}
    /// ```
    /// ```jsonl rejected
    /// {"timestamp": "2026-02-07T18:29:59Z"}
    /// ```
    ///
    /// ## Accepted
    /// ```json with assignment
    /// {"generated_at": "2026-02-07T18:30:00Z"}
    /// ```
    /// ```jsonl accepted
    /// {"timestamp": "2026-02-07T18:30:00Z"}
    /// ```
    pub static WORKLOG_BEFORE_ASSIGNMENT: WorklogEntry = {
        id: "worklog-before-assignment",
        code: CorrelationMismatch,
        severity: Error,
        summary: "an entry is older than its assignment",
        check: check,
    }
}

fn check(it: &Subject<'_, WorklogEntry>, report: &mut Report) {
    if it.others.is_empty() {
        return;
    }
    let Some(assignment) = it.kin::<Assignment>() else { return };
    let entry = &it.record.timestamp;
    if let Some(assigned) = assignment.generated_at.as_ref().filter(|assigned| entry < assigned) {
        let message = format!("this entry is from {}, the assignment from {}", entry.as_str(), assigned.as_str());
        report.add(Pointer::at("/timestamp"), message, "give the assignment that this worklog belongs to");
    }
}
