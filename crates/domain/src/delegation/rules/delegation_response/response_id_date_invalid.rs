use crate::delegation::payload::{DelegationResponse, date_in_id, is_real_date};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The days in `RESPONSE_ID`, `INSTRUCTION_ID` and `AUDIT_ENTRY_ID` are days that the calendar has.
    ///
    /// ## Why
    /// Ids are sorted and filed by their day. One that never was cannot have been given out.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"RESPONSE_ID": "DR-2025-02-30-001"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"RESPONSE_ID": "DR-2025-12-25-001"}
    /// ```
    pub static RESPONSE_ID_DATE_INVALID: DelegationResponse = {
        id: "response-id-date-invalid",
        code: SchemaInvalid,
        severity: Error,
        summary: "the day in an id is not in the calendar",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let ids = [
        ("/RESPONSE_ID", it.record.response_id.as_str()),
        ("/INSTRUCTION_ID", it.record.instruction_id.as_str()),
        ("/AUDIT_ENTRY_ID", it.record.audit_entry_id.as_str()),
    ];
    for (pointer, id) in ids {
        if !is_real_date(date_in_id(id)) {
            let message = format!("`{id}` names a day that the calendar does not have");
            report.add(Pointer::at(pointer), message, "write the id as it was given out");
        }
    }
}
