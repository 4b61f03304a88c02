use crate::delegation::payload::{AuditEntry, YesNo};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A success names what it made or changed: its id and kind, its number if it is an issue or a pull request,
    /// and where it is.
    ///
    /// ## Why
    /// Without them nobody can go and look.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"OUTCOME": {"RESOURCE_NUMBER": null}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {}
    /// ```
    pub static AUDIT_RESOURCE_MISSING: AuditEntry = {
        id: "audit-resource-missing",
        code: MissingRequiredInput,
        severity: Error,
        summary: "a success on record without its resource",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let (outcome, answer) = (&it.record.outcome, &it.record.platform_response);
    if outcome.success == YesNo::No {
        return;
    }
    let numbered = outcome.resource_type.is_some_and(|kind| kind.is_numbered());
    let parts = [
        ("/OUTCOME/RESOURCE_ID", outcome.resource_id.is_some()),
        ("/OUTCOME/RESOURCE_TYPE", outcome.resource_type.is_some()),
        ("/OUTCOME/RESOURCE_NUMBER", outcome.resource_number.is_some() || !numbered),
        ("/PLATFORM_RESPONSE/RESOURCE_URL", answer.as_ref().is_none_or(|answer| answer.resource_url.is_some())),
    ];
    for (pointer, there) in parts {
        if !there {
            let field = pointer.rsplit('/').next().unwrap_or_default();
            let message = format!("the action succeeded, and `{field}` of its resource is missing");
            report.add(Pointer::at(pointer), message, format!("add `{field}` as the platform gave it"));
        }
    }
}
