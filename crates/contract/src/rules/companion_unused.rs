use crate::rule;

rule! {
    /// A document given with `--with` or `--against` must be of a contract that this one is compared with.
    ///
    /// ## Why
    /// A comparison that never took place looks like one that went well.
    ///
    /// ## Rejected
    /// ```json with promise
    /// {}
    /// ```
    /// ```json rejected assignment
    /// {}
    /// ```
    ///
    /// ## Accepted
    /// ```json with assignment
    /// {}
    /// ```
    /// ```json accepted subagent_result
    /// {}
    /// ```
    pub static COMPANION_UNUSED = {
        id: "companion-unused",
        code: CorrelationMismatch,
        severity: Warning,
        summary: "a document was given to compare with, and nothing compares it",
    }
}
