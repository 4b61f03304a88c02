use crate::work::payload::{AcceptanceAnswer, AcceptanceStatus, ResultStatus, SubagentResult};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A result that is blocked or failed says why: in a note, or with a criterion that failed.
    ///
    /// ## Why
    /// The orchestrator has to name a blocker with code and reason. A result that gives none leaves it to guess.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"status": "blocked", "acceptance_check": [], "notes_for_orchestrator": []}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"status": "blocked", "acceptance_check": [], "notes_for_orchestrator": ["no decimal type is chosen yet"]}
    /// ```
    pub static STOP_UNEXPLAINED: SubagentResult = {
        id: "stop-unexplained",
        code: MissingRequiredInput,
        severity: Warning,
        summary: "work is blocked or failed and nothing says why",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    let result = it.record;
    let explained = || {
        let failed = |answer: &AcceptanceAnswer| answer.status == AcceptanceStatus::Fail;
        !result.notes_for_orchestrator.is_empty() || result.acceptance_check.iter().any(failed)
    };
    if result.status != ResultStatus::Done && !explained() {
        let message = format!("the work is {}, and nothing says why", result.status);
        report.add(Pointer::at("/notes_for_orchestrator"), message, "add a note with the reason");
    }
}
