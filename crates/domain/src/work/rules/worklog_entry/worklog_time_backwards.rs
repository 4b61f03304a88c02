use crate::work::payload::WorklogEntry;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The entries of a worklog stand in the order of their times. Several may have the same time.
    ///
    /// ## Why
    /// A worklog only grows at its end. An entry that is older than the one before it was put in afterwards, or its
    /// clock was wrong.
    ///
    /// ## Rejected
    /// ```jsonl rejected
    /// {"timestamp": "2026-02-07T18:30:00Z"}
    /// {"timestamp": "2026-02-07T18:29:00Z"}
    /// ```
    ///
    /// ## Accepted
    /// ```jsonl accepted
    /// {"timestamp": "2026-02-07T18:30:00Z"}
    /// {"timestamp": "2026-02-07T18:30:00Z"}
    /// {"timestamp": "2026-02-07T18:31:00Z"}
    /// ```
    pub static WORKLOG_TIME_BACKWARDS: WorklogEntry = {
        id: "worklog-time-backwards",
        code: SchemaInvalid,
        severity: Error,
        summary: "an entry is older than the one before it",
        check: check,
    }
}

fn check(it: &Subject<'_, WorklogEntry>, report: &mut Report) {
    let Some(before) = it.line.checked_sub(1).and_then(|line| it.lines.get(line)) else { return };
    let (then, now) = (&before.timestamp, &it.record.timestamp);
    if now < then {
        let message = format!("this entry is from {}, the one before it from {}", now.as_str(), then.as_str());
        report.add(
            Pointer::at("/timestamp"),
            message,
            "add entries at the end, with the time at which they are written",
        );
    }
}
