use crate::delegation::payload::{DelegationResponse, date_in_id, date_of_time};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The ids of a response and of its audit entry are given out when the instruction is received: not before the
    /// day of the instruction's id, and not after the day of the response.
    ///
    /// ## Why
    /// An id of another day is most often one that was copied from another response.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"RESPONSE_ID": "DR-2025-12-26-001"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"TIMESTAMP_UTC": "2025-12-26T00:00:03Z"}
    /// ```
    pub static RESPONSE_ID_DATE_OFF: DelegationResponse = {
        id: "response-id-date-off",
        code: SchemaInvalid,
        severity: Warning,
        summary: "the day in an id does not fit the time of the response",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let ids =
        [("/RESPONSE_ID", it.record.response_id.as_str()), ("/AUDIT_ENTRY_ID", it.record.audit_entry_id.as_str())];
    let first = date_in_id(it.record.instruction_id.as_str());
    let last = date_of_time(&it.record.timestamp);
    for (pointer, id) in ids {
        let date = date_in_id(id);
        if date < first || date > last {
            let message =
                format!("`{id}` is of another day than the instruction (`{first}`) and the response (`{last}`)");
            report.add(Pointer::at(pointer), message, "write the id that was given out for this instruction");
        }
    }
}
