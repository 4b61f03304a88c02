use crate::delegation::payload::AuditEntry;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// An action gives a resource of one kind: a comment gives a comment, an approval a review, a merge the pull
    /// request.
    ///
    /// ## Why
    /// A resource of another kind is that of another action.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"OUTCOME": {"RESOURCE_TYPE": "issue"}, "PLATFORM_RESPONSE": {"RESOURCE_TYPE": "issue"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"ACTION": {"TYPE": "MERGE_PULL_REQUEST"}}
    /// ```
    pub static AUDIT_RESOURCE_TYPE_FOREIGN: AuditEntry = {
        id: "audit-resource-type-foreign",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the resource on record is not of the kind that the action gives",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let Some(info) = it.record.action.kind.known().map(|kind| kind.info()) else { return };
    if let Some(kind) = it.record.outcome.resource_type
        && kind != info.produces
    {
        let message = format!("{} gives a {}, not a {kind}", info.action, info.produces);
        report
            .add(Pointer::at("/OUTCOME/RESOURCE_TYPE"), message, "write the resource that the action gave")
            .label(Pointer::at("/ACTION/TYPE"), "this action");
    }
}
