use crate::delegation::payload::{DelegationInstruction, date_in_id, is_real_date};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The day in an instruction id is one that the calendar has.
    ///
    /// ## Why
    /// Ids are sorted and filed by their day. One that never was cannot have been given out.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"INSTRUCTION_ID": "DI-2025-02-30-001"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"INSTRUCTION_ID": "DI-2025-12-25-001"}
    /// ```
    pub static INSTRUCTION_ID_DATE_INVALID: DelegationInstruction = {
        id: "instruction-id-date-invalid",
        code: SchemaInvalid,
        severity: Error,
        summary: "the day in an instruction id is not in the calendar",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    let id = &it.record.instruction_id;
    if !is_real_date(date_in_id(id.as_str())) {
        report.add(
            Pointer::at("/INSTRUCTION_ID"),
            format!("`{id}` names a day that the calendar does not have"),
            "give the id the day on which the instruction was made",
        );
    }
}
