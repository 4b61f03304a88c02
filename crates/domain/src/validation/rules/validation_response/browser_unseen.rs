use super::request_of;
use crate::validation::payload::{ValidationResponse, ValidationType};
use crate::validation::verdict::Verdict;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A request for validation in a browser is answered PASS with at least one screenshot.
    ///
    /// ## Why
    /// The request asked someone to use the application. Reading its code is another kind of looking, and only a
    /// picture shows which of the two was done.
    ///
    /// ## Rejected
    /// ```json with validation_request
    /// {"validation_type": "browser", "services": {"app_url": "http://localhost:3000"}}
    /// ```
    /// ```json rejected
    /// {"verdict": "PASS"}
    /// ```
    ///
    /// ## Accepted
    /// ```json with validation_request
    /// {"validation_type": "browser", "services": {"app_url": "http://localhost:3000"}}
    /// ```
    /// ```json accepted
    /// {"evidence_collected": {"screenshots": [{"path": "evidence/checkout.png", "step": "submit an empty cart"}]}}
    /// ```
    pub static BROWSER_UNSEEN: ValidationResponse = {
        id: "browser-unseen",
        code: AcceptanceFailed,
        severity: Warning,
        summary: "browser validation is answered PASS without a screenshot",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    let Some(request) = request_of(it) else { return };
    let looked = request.validation_type == ValidationType::Code || !it.record.screenshots().is_empty();
    if it.record.verdict == Verdict::Pass && !looked {
        report.add(
            Pointer::at("/evidence_collected/screenshots"),
            "the request asks for browser validation, and no screenshot shows it",
            "use the application, and add the pictures to `evidence_collected.screenshots`",
        );
    }
}
