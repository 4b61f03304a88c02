use crate::delegation::payload::{DelegationInstruction, date_in_id, date_of_time, is_real_date};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The day in an instruction id is the day on which the instruction was given, in UTC.
    ///
    /// ## Why
    /// A reader finds an instruction by its day. A different one is most often an id that was copied from another
    /// instruction.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"INSTRUCTION_ID": "DI-2025-12-20-001"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"INSTRUCTION_ID": "DI-2025-12-25-002"}
    /// ```
    pub static INSTRUCTION_ID_DATE_OFF: DelegationInstruction = {
        id: "instruction-id-date-off",
        code: SchemaInvalid,
        severity: Warning,
        summary: "the day in an instruction id is not the day of its time",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    let (id, time) = (&it.record.instruction_id, &it.record.timestamp);
    let date = date_in_id(id.as_str());
    if date != date_of_time(time) && is_real_date(date) {
        let message = format!("`{id}` is of another day than the instruction, which was given at `{}`", time.as_str());
        report
            .add(
                Pointer::at("/INSTRUCTION_ID"),
                message,
                "give it an id of its own day, which no other instruction has",
            )
            .label(Pointer::at("/TIMESTAMP_UTC"), "given then");
    }
}
