use crate::rewriting::differs_from_older;
use crate::work::payload::WorklogEntry;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A worklog only grows: every line of an earlier copy must still be there, unchanged and in its place. Members of
    /// your own are part of the line.
    ///
    /// ## Why
    /// The worklog is what is left to read when a worker is gone. If lines can be changed afterwards, it shows what
    /// someone wished had happened.
    ///
    /// ## Rejected
    /// ```jsonl against
    /// {"decision": "use a decimal type"}
    /// ```
    /// ```jsonl rejected
    /// {"decision": "use a float"}
    /// ```
    /// ```jsonl against
    /// {"x_tool": {"exit_code": 1}}
    /// ```
    /// ```jsonl rejected
    /// {"x_tool": {"exit_code": 0}}
    /// ```
    ///
    /// ## Accepted
    /// ```jsonl against
    /// {"decision": "use a decimal type"}
    /// ```
    /// ```jsonl accepted
    /// {"decision": "use a decimal type"}
    /// {"decision": "round half to even"}
    /// ```
    pub static WORKLOG_REWRITTEN: WorklogEntry = {
        id: "worklog-rewritten",
        code: LedgerInconsistent,
        severity: Error,
        summary: "a line of an earlier copy of the worklog was changed or removed",
        check: check,
    }
}

fn check(it: &Subject<'_, WorklogEntry>, report: &mut Report) {
    let Some(older) = it.older else { return };
    if differs_from_older(it) {
        report.add(
            Pointer::root(),
            format!("line {} differs from the earlier copy", it.line + 1),
            "put the line back as it was, and add what is new below",
        );
    }
    if it.is_last() && older.len() > it.lines.len() {
        report.add(
            Pointer::root(),
            format!("the earlier copy has {} lines, this one {}", older.len(), it.lines.len()),
            "put the missing lines back",
        );
    }
}
