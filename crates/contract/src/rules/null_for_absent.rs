use crate::rule;

rule! {
    /// An optional field that has no value is left out.
    ///
    /// ## Why
    /// Null and absent mean the same to some readers and not to others. Absent is unambiguous.
    pub static NULL_FOR_ABSENT = {
        id: "null-for-absent",
        code: SchemaInvalid,
        severity: Error,
        summary: "an optional field is null instead of absent",
    }
}
