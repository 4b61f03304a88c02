use crate::delegation::payload::{AuditEntry, DelegationInstruction};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// What was sent went to the repository of the instruction, and the resource lies there. This is looked at where an
    /// address has a form that code platforms use: `/owner/name/kind/…`, and for requests `/repos/owner/name`.
    ///
    /// ## Why
    /// An action in another repository was not asked for.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json rejected
    /// {"PLATFORM_RESPONSE": {"RESOURCE_URL": "https://github.com/acme/bank/pull/42"}}
    /// ```
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json rejected
    /// {"PLATFORM_REQUEST": {"ENDPOINT": "https://api.github.com/repos/acme/bank/pulls/42"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json accepted
    /// {"PLATFORM_REQUEST": {"ENDPOINT": "https://api.github.com/repos/Acme/Shop/pulls/42"}}
    /// ```
    pub static AUDIT_REPOSITORY_FOREIGN: AuditEntry = {
        id: "audit-repository-foreign",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the entry is about another repository than the one asked for",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let sent = entry.platform_request.as_ref().and_then(|sent| repository_of(sent.endpoint.as_str()));
    let resource = entry.platform_response.as_ref().and_then(|answer| answer.resource_url.as_ref()?.repository());
    if sent.is_none() && resource.is_none() {
        return;
    }
    let Some(instruction) = it.other::<DelegationInstruction>(entry.action.instruction_id.as_str()) else { return };
    let asked = &instruction.requester.repository;
    let places = [("/PLATFORM_REQUEST/ENDPOINT", sent), ("/PLATFORM_RESPONSE/RESOURCE_URL", resource)];
    for (pointer, found) in places {
        if let Some((owner, name)) = found.filter(|(owner, name)| !asked.is(owner, name)) {
            let message = format!("this is in `{}/{}`, the instruction is for `{asked}`", show(owner), show(name));
            report.add(Pointer::at(pointer), message, "record what was asked and answered, as it was");
        }
    }
}

/// The owner and the name of the repository that a request is about.
fn repository_of(endpoint: &str) -> Option<(&str, &str)> {
    let (_, path) = endpoint.strip_prefix("https://")?.split_once("/repos/")?;
    let mut steps = path.split(['/', '?', '#']);
    let (owner, name) = (steps.next()?, steps.next()?);
    (!owner.is_empty() && !name.is_empty()).then_some((owner, name))
}
