use crate::delegation::payload::DelegationResponse;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Only issues and pull requests have numbers.
    ///
    /// ## Why
    /// The number on a comment or a branch is that of something else, and may be taken for its own.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"PLATFORM_EVIDENCE": {"RESOURCE_TYPE": "branch", "RESOURCE_NUMBER": 42}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"PLATFORM_EVIDENCE": {"RESOURCE_TYPE": "branch", "RESOURCE_NUMBER": null}}
    /// ```
    pub static RESOURCE_NUMBER_UNFIT: DelegationResponse = {
        id: "resource-number-unfit",
        code: SchemaInvalid,
        severity: Warning,
        summary: "a number on a resource that has none",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(evidence) = &it.record.platform_evidence else { return };
    if !evidence.resource_type.is_numbered() && evidence.resource_number.is_some() {
        let message = format!("a {} has no number", evidence.resource_type);
        report.add(Pointer::at("/PLATFORM_EVIDENCE/RESOURCE_NUMBER"), message, "leave the number out");
    }
}
