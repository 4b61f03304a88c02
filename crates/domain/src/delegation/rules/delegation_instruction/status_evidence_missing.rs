use crate::delegation::payload::{DelegationInstruction, QaStatus, names_evidence};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A status names the file that shows it: governance always, the tests unless their status is `NOT_APPLICABLE`.
    ///
    /// ## Why
    /// `COMPLIANT` and `GREEN` are what permits the action. Without the file they are only words.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"AUTHORIZATION": {"QA_STATUS": "GREEN", "QA_EVIDENCE": "NOT_APPLICABLE"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"AUTHORIZATION": {"QA_STATUS": "NOT_APPLICABLE", "QA_EVIDENCE": "NOT_APPLICABLE"}}
    /// ```
    pub static STATUS_EVIDENCE_MISSING: DelegationInstruction = {
        id: "status-evidence-missing",
        code: MissingRequiredInput,
        severity: Error,
        summary: "a governance or test status without the file that shows it",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    let authorization = &it.record.authorization;
    let help = "name the file that shows the status, relative to the repository";
    if !names_evidence(Some(&authorization.governance_evidence)) {
        let message = "the governance status has no file that shows it";
        report.add(Pointer::at("/AUTHORIZATION/GOVERNANCE_EVIDENCE"), message, help);
    }
    if authorization.qa_status != QaStatus::NotApplicable && !names_evidence(Some(&authorization.qa_evidence)) {
        let message = format!("the tests are called {}, and no file shows it", authorization.qa_status);
        report.add(Pointer::at("/AUTHORIZATION/QA_EVIDENCE"), message, help);
    }
}
