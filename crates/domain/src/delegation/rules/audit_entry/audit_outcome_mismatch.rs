use super::mismatch;
use crate::delegation::payload::{AuditEntry, DelegationResponse, PlatformEvidence, Status, YesNo};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Entry and response tell of one outcome: `SUCCESS` is `YES` when, and only when, the response's `STATUS` is
    /// `SUCCESS`, and the resource is the same.
    ///
    /// ## Why
    /// The requester acts on the response, the auditor on the entry. If they differ, one of the two was misled.
    ///
    /// ## Rejected
    /// ```json with delegation_response
    /// {
    ///   "STATUS": "FAILURE",
    ///   "PLATFORM_EVIDENCE": null,
    ///   "FAILURE_DETAILS": {
    ///     "ERROR_TYPE": "API_ERROR",
    ///     "ERROR_CODE": "503",
    ///     "ERROR_MESSAGE": "the service is not available",
    ///     "REMEDIATION_GUIDANCE": "try again in a minute",
    ///     "RETRY_ALLOWED": "YES"
    ///   }
    /// }
    /// ```
    /// ```json rejected
    /// {}
    /// ```
    /// ```json with delegation_response
    /// {"PLATFORM_EVIDENCE": {"RESOURCE_ID": "PR_kwDOAB43"}}
    /// ```
    /// ```json rejected
    /// {}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_response
    /// {
    ///   "STATUS": "FAILURE",
    ///   "PLATFORM_EVIDENCE": null,
    ///   "FAILURE_DETAILS": {
    ///     "ERROR_TYPE": "API_ERROR",
    ///     "ERROR_CODE": "503",
    ///     "ERROR_MESSAGE": "the service is not available",
    ///     "REMEDIATION_GUIDANCE": "try again in a minute",
    ///     "RETRY_ALLOWED": "YES"
    ///   }
    /// }
    /// ```
    /// ```json accepted
    /// {
    ///   "PLATFORM_RESPONSE": {
    ///     "STATUS_CODE": 503, "STATUS": "FAILURE", "RESOURCE_URL": null, "RESOURCE_ID": null, "RESOURCE_TYPE": null,
    ///     "ERROR_MESSAGE": "the service is not available"
    ///   },
    ///   "OUTCOME": {
    ///     "RESULTING_STATE": "pull request 42 is open", "RESOURCE_ID": null, "RESOURCE_NUMBER": null, "SUCCESS": "NO"
    ///   }
    /// }
    /// ```
    pub static AUDIT_OUTCOME_MISMATCH: AuditEntry = {
        id: "audit-outcome-mismatch",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the entry tells of another outcome than the response",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let Some(response) = it.other::<DelegationResponse>(entry.action.response_id.as_str()) else { return };
    let succeeded = response.status == Status::Success;
    if succeeded != (entry.outcome.success == YesNo::Yes) {
        let message = format!("`SUCCESS` is {}, and the response is {}", entry.outcome.success, response.status);
        report.add(Pointer::at("/OUTCOME/SUCCESS"), message, "record what the response reports");
        return;
    }
    // An answer to what was never sent is found elsewhere.
    if response.status != Status::InvalidRequest
        && let Some(answer) = &entry.platform_response
        && let Some(status) = Status::parse(answer.status.as_str())
    {
        mismatch("/PLATFORM_RESPONSE/STATUS", status.as_str(), response.status.as_str(), "the response", report);
    }
    if let Some(evidence) = &response.platform_evidence {
        compare_resources(entry, evidence, report);
    }
}

/// Says where entry and response speak of different resources. What the entry leaves out is found elsewhere.
fn compare_resources(entry: &AuditEntry, evidence: &PlatformEvidence, report: &mut Report) {
    let outcome = &entry.outcome;
    if let Some(id) = &outcome.resource_id {
        mismatch("/OUTCOME/RESOURCE_ID", id.as_str(), evidence.resource_id.as_str(), "the response", report);
    }
    if let Some(kind) = outcome.resource_type {
        let (here, there) = (kind.as_str(), evidence.resource_type.as_str());
        mismatch("/OUTCOME/RESOURCE_TYPE", here, there, "the response", report);
    }
    if let (Some(here), Some(there)) = (outcome.resource_number, evidence.resource_number)
        && here != there
    {
        let (here, there) = (here.get().to_string(), there.get().to_string());
        mismatch("/OUTCOME/RESOURCE_NUMBER", &here, &there, "the response", report);
    }
    let Some(answer) = &entry.platform_response else { return };
    if let Some(url) = &answer.resource_url {
        let (here, there) = (url.as_str(), evidence.resource_url.as_str());
        mismatch("/PLATFORM_RESPONSE/RESOURCE_URL", here, there, "the response", report);
    }
    if answer.status_code != evidence.api_response_status {
        let (here, there) = (answer.status_code.get().to_string(), evidence.api_response_status.get().to_string());
        mismatch("/PLATFORM_RESPONSE/STATUS_CODE", &here, &there, "the response", report);
    }
}
