use crate::work::payload::{ResultStatus, SubagentResult, WorklogEntry};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The worklog of a task that is blocked or failed ends with an entry that has a `code` and a next step. A task is
    /// taken to be blocked or failed when its result says so, when the `action` of the last entry is `blocked` or
    /// `failed`, or when the `result` of that entry begins with one of these words.
    ///
    /// ## Why
    /// The last entry is where somebody else starts. The code tells whether to wait, to retry or to ask a person.
    ///
    /// ## Rejected
    /// ```jsonl rejected
    /// {"action": "blocked", "result": "no decimal type chosen"}
    /// ```
    /// ```json with subagent_result
    /// {"status": "failed"}
    /// ```
    /// ```jsonl rejected
    /// {"action": "test", "result": "2 of 14 tests do not pass"}
    /// ```
    ///
    /// ## Accepted
    /// ```json with subagent_result
    /// {"status": "blocked"}
    /// ```
    /// ```jsonl accepted
    /// {"action": "test", "result": "failed at first, then mended"}
    /// {"action": "wait", "result": "blocked: no decimal type chosen", "code": "DEPENDENCY_NOT_MET"}
    /// ```
    pub static WORKLOG_STOP_UNCODED: WorklogEntry = {
        id: "worklog-stop-uncoded",
        code: MissingRequiredInput,
        severity: Error,
        summary: "the last entry of work that stopped has no code",
        check: check,
    }
}

fn check(it: &Subject<'_, WorklogEntry>, report: &mut Report) {
    let entry = it.record;
    if !it.is_last() || entry.code.is_some() {
        return;
    }
    let stopped = is_stop(entry.action.as_str().trim())
        || entry.result.inspect(|result| is_stop(first_word(result)))
        || !it.others.is_empty()
            && it.kin::<SubagentResult>().is_some_and(|result| result.status != ResultStatus::Done);
    if stopped {
        let message = "the work stopped, but its last entry has no code";
        report.add(Pointer::at("/code"), message, "add an entry with `code` and what has to happen next");
    }
}

fn is_stop(word: &str) -> bool {
    word.eq_ignore_ascii_case("blocked") || word.eq_ignore_ascii_case("failed")
}

fn first_word(text: &str) -> &str {
    text.split(|letter: char| !letter.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default()
}
