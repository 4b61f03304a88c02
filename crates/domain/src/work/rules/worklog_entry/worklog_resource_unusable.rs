use crate::work::payload::WorklogEntry;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Every file that was touched lies in the project, once its `.` and `..` are resolved.
    ///
    /// ## Why
    /// Resources are compared below the root of the project. One that leads out of it, or that hides a drive or white
    /// space behind a `.`, names a place that nobody has locked; until it is mended it counts as the whole tree.
    ///
    /// ## Rejected
    /// ```jsonl rejected
    /// {"files_touched": ["src/../../money.rs"]}
    /// ```
    ///
    /// ## Accepted
    /// ```jsonl accepted
    /// {"files_touched": ["src/../money.rs"]}
    /// ```
    pub static WORKLOG_RESOURCE_UNUSABLE: WorklogEntry = {
        id: "worklog-resource-unusable",
        code: SchemaInvalid,
        severity: Error,
        summary: "a resource leads out of the project",
        check: check,
    }
}

fn check(it: &Subject<'_, WorklogEntry>, report: &mut Report) {
    for (index, file) in it.record.files_touched.iter().enumerate() {
        file.check(|| Pointer::at("/files_touched").item(index), report);
    }
}
