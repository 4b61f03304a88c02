use crate::rule;

rule! {
    /// An optional field that has no value is left out.
    ///
    /// ## Why
    /// Null and absent mean the same to some readers and not to others. Absent is unambiguous.
    ///
    /// ## Rejected
    /// ```json rejected raw
    /// {"timestamp": "2026-02-07T18:30:00Z", "run_id": "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4", "task_id": "T-12",
    ///  "actor": "coder", "action": "edit", "files_touched": [], "decision": "none", "result": "none",
    ///  "next_step": "submit", "evidence": null}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted worklog_entry
    /// {}
    /// ```
    pub static NULL_FOR_ABSENT = {
        id: "null-for-absent",
        code: SchemaInvalid,
        severity: Error,
        summary: "an optional field is null instead of absent",
    }
}
