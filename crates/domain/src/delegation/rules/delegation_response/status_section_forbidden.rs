use crate::delegation::payload::DelegationResponse;
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A response holds the part that its status calls for and neither of the other two.
    ///
    /// ## Why
    /// A response that both succeeded and failed says nothing. Which of the two is true is for its author to say; only an
    /// empty list is left out by `fix`.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
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
    /// {"VALIDATION_ERRORS": []}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {}
    /// ```
    pub static STATUS_SECTION_FORBIDDEN: DelegationResponse = {
        id: "status-section-forbidden",
        code: SchemaInvalid,
        severity: Error,
        summary: "a part that belongs to another status",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    for section in it.record.sections() {
        if section.there && !section.wanted {
            let message = format!("the status is {}, and `{}` belongs to another", it.record.status, section.name);
            let help = format!("leave `{}` out, or correct the status", section.name);
            let place = report.place(Pointer::root().key(section.name));
            let found = report.add(Pointer::root().key(section.name), message, help);
            found.label(Pointer::at("/STATUS"), "the status");
            if section.empty {
                found.repair(Repair::remove(place, format!("leave out the empty `{}`", section.name)));
            }
        }
    }
}
