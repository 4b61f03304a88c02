use crate::delegation::payload::DelegationResponse;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Evidence of an issue or a pull request gives its number.
    ///
    /// ## Why
    /// The number is what people and later instructions call it by.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"PLATFORM_EVIDENCE": {"RESOURCE_NUMBER": null}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"PLATFORM_EVIDENCE": {"RESOURCE_TYPE": "comment", "RESOURCE_NUMBER": null}}
    /// ```
    pub static RESOURCE_NUMBER_MISSING: DelegationResponse = {
        id: "resource-number-missing",
        code: MissingRequiredInput,
        severity: Error,
        summary: "an issue or pull request without its number",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(evidence) = &it.record.platform_evidence else { return };
    if evidence.resource_type.is_numbered() && evidence.resource_number.is_none() {
        let message = format!("the {} has no number", evidence.resource_type);
        report.add(
            Pointer::at("/PLATFORM_EVIDENCE/RESOURCE_NUMBER"),
            message,
            "add the number that the platform gave it",
        );
    }
}
