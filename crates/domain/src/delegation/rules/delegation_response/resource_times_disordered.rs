use crate::delegation::clock;
use crate::delegation::payload::DelegationResponse;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A resource is made, then changed, then reported: `CREATED_AT` is not after `UPDATED_AT`, and neither is
    /// after `TIMESTAMP_UTC`. Times within one second are in no order.
    ///
    /// ## Why
    /// Times out of order are not what the platform said.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"PLATFORM_EVIDENCE": {"UPDATED_AT": "2025-12-25T10:30:16Z"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"PLATFORM_EVIDENCE": {"CREATED_AT": "2025-12-20T08:00:00Z", "UPDATED_AT": "2025-12-25T10:30:15.9Z"}}
    /// ```
    pub static RESOURCE_TIMES_DISORDERED: DelegationResponse = {
        id: "resource-times-disordered",
        code: SchemaInvalid,
        severity: Error,
        summary: "the times of a resource are out of order",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(evidence) = &it.record.platform_evidence else { return };
    let times = [
        ("/PLATFORM_EVIDENCE/CREATED_AT", evidence.created_at.as_ref()),
        ("/PLATFORM_EVIDENCE/UPDATED_AT", evidence.updated_at.as_ref()),
        ("/TIMESTAMP_UTC", Some(&it.record.timestamp)),
    ];
    clock::check_order(&times, report);
}
