use crate::work::payload::{ResultStatus, SubagentResult, WorklogEntry};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Work that is blocked or failed says why at the end of its worklog: the last entry carries a code.
    ///
    /// ## Why
    /// Whoever picks the work up reads the worklog, not the note of someone who is gone.
    ///
    /// ## Rejected
    /// ```jsonl with worklog_entry
    /// {"result": "the build server does not answer"}
    /// ```
    /// ```json rejected
    /// {"status": "blocked", "notes_for_orchestrator": ["TASK_TIMEOUT: the build server does not answer"]}
    /// ```
    ///
    /// ## Accepted
    /// ```jsonl with worklog_entry
    /// {"result": "the build server does not answer"}
    /// {"timestamp": "2026-02-07T18:40:00Z", "action": "blocked", "code": "TASK_TIMEOUT", "next_step": "ask for a runner"}
    /// ```
    /// ```json accepted
    /// {"status": "blocked", "notes_for_orchestrator": ["TASK_TIMEOUT: the build server does not answer"]}
    /// ```
    pub static STOP_UNCODED: SubagentResult = {
        id: "stop-uncoded",
        code: MissingRequiredInput,
        severity: Error,
        summary: "the worklog of work that stopped does not end with a code",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    if it.record.status == ResultStatus::Done || it.others.is_empty() {
        return;
    }
    if it.kin::<WorklogEntry>().is_some_and(|last| last.code.is_none()) {
        let message = "the work stopped, but the last entry of its worklog has no code";
        let help = "add an entry to the worklog with `code` and what has to happen next";
        report.add(Pointer::at("/worklog_path"), message, help);
    }
}
