use crate::rule;

rule! {
    /// A document given with `--with` or `--against` must itself be readable and valid.
    ///
    /// ## Why
    /// A comparison with something broken would say nothing. It refuses, so that a damaged original cannot make a
    /// bad document pass.
    ///
    /// ## Rejected
    /// ```json against raw
    /// {"schema_version": "1.0.0", "task_id":
    /// ```
    /// ```json rejected subagent_result
    /// {}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted subagent_result
    /// {}
    /// ```
    pub static COMPANION_UNREADABLE = {
        id: "companion-unreadable",
        code: SchemaInvalid,
        severity: Error,
        summary: "a document given to compare with cannot be read",
    }
}
