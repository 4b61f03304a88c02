use crate::work::payload::WorklogEntry;
use crate::work::run_id;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A run id is a UUID of version 4.
    ///
    /// ## Why
    /// Run ids are made by whoever starts a run, without asking anybody. Only random ones are sure not to meet.
    ///
    /// ## Rejected
    /// ```jsonl rejected
    /// {"run_id": "00000000-0000-0000-0000-000000000001"}
    /// ```
    ///
    /// ## Accepted
    /// ```jsonl accepted
    /// {"run_id": "9b2f6c1e-2d4a-4e0b-8a57-3c1d5e7f9a01"}
    /// ```
    pub static WORKLOG_RUN_ID_NOT_V4: WorklogEntry = {
        id: "worklog-run-id-not-v4",
        code: SchemaInvalid,
        severity: Warning,
        summary: "the run id is not a UUID of version 4",
        check: check,
    }
}

fn check(it: &Subject<'_, WorklogEntry>, report: &mut Report) {
    // All lines are of one run, so one finding says it.
    if it.line == 0 {
        run_id::check(&it.record.run_id, report);
    }
}
