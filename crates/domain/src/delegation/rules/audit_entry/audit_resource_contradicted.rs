use crate::delegation::payload::AuditEntry;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// `OUTCOME` and `PLATFORM_RESPONSE` speak of one resource: where both give its id or its kind, they agree.
    ///
    /// ## Why
    /// An entry about two things is evidence of neither.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"OUTCOME": {"RESOURCE_ID": "PR_kwDOAB43"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"OUTCOME": {"RESOURCE_ID": "PR_kwDOAB43"}, "PLATFORM_RESPONSE": {"RESOURCE_ID": "PR_kwDOAB43"}}
    /// ```
    pub static AUDIT_RESOURCE_CONTRADICTED: AuditEntry = {
        id: "audit-resource-contradicted",
        code: SchemaInvalid,
        severity: Error,
        summary: "the answer and the outcome speak of different resources",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let Some(answer) = &it.record.platform_response else { return };
    let outcome = &it.record.outcome;
    let pairs = [
        (
            "RESOURCE_ID",
            outcome.resource_id.as_ref().map(|it| it.as_str()),
            answer.resource_id.as_ref().map(|it| it.as_str()),
        ),
        ("RESOURCE_TYPE", outcome.resource_type.map(|it| it.as_str()), answer.resource_type.map(|it| it.as_str())),
    ];
    for (field, here, there) in pairs {
        if let (Some(here), Some(there)) = (here, there)
            && here != there
        {
            let message = format!("`{field}` is `{}` here and `{}` in the platform's answer", show(here), show(there));
            report
                .add(Pointer::at("/OUTCOME").key(field), message, "write the resource that the platform gave")
                .label(Pointer::at("/PLATFORM_RESPONSE").key(field), "the platform's answer");
        }
    }
}
