use crate::rule;

rule! {
    /// Ids, times, hashes, paths and names have a form; the message says which.
    ///
    /// ## Why
    /// Documents are joined by these texts. One that is almost right joins nothing.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"run_id": "run-1"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"run_id": "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4"}
    /// ```
    pub static FORMAT_INVALID = {
        id: "format-invalid",
        code: SchemaInvalid,
        severity: Error,
        summary: "a text that is not of its form",
    }
}
