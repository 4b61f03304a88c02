use crate::delegation::payload::{AuditEntry, YesNo};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// An entry may say of a field of the instruction that it could not be read: `NOT_GIVEN`, `NOT_TEXT`, or `AS_GIVEN: `
    /// and the text. Then the instruction was declined, and nothing was sent to the platform.
    ///
    /// ## Why
    /// What cannot be read permits nothing.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"AUTHORIZATION_EVIDENCE": {"QA_STATUS": "AS_GIVEN: PURPLE"}}
    /// ```
    /// ```json rejected
    /// {"ACTION": {"TYPE": "NOT_GIVEN"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "AUTHORIZATION_EVIDENCE": {"QA_STATUS": "AS_GIVEN: PURPLE"},
    ///   "REQUESTER": {"REPOSITORY": "NOT_GIVEN"},
    ///   "PLATFORM_REQUEST": null,
    ///   "PLATFORM_RESPONSE": null,
    ///   "OUTCOME": {
    ///     "RESULTING_STATE": "nothing was done",
    ///     "SUCCESS": "NO",
    ///     "RESOURCE_ID": null,
    ///     "RESOURCE_TYPE": null,
    ///     "RESOURCE_NUMBER": null
    ///   }
    /// }
    /// ```
    pub static AUDIT_UNREAD_ACTED_ON: AuditEntry = {
        id: "audit-unread-acted-on",
        code: SchemaInvalid,
        severity: Error,
        summary: "something was done for an instruction that could not be read",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let declined = entry.platform_request.is_none() && entry.platform_response.is_none();
    if declined && entry.outcome.success == YesNo::No {
        return;
    }
    for (pointer, said) in entry.unread() {
        let message = format!("`{}` could not be read, and something was done all the same", show(said));
        report.add(Pointer::at(pointer), message, "write what the instruction has; what cannot be read is declined");
    }
}
