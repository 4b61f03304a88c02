use crate::rule;

rule! {
    /// When documents are given with `--with`, one of them must be the one that this document names.
    ///
    /// ## Why
    /// A result is checked against its own assignment, a response against its own request. Ids that do not meet
    /// mean that one of the two is wrong, or that the wrong file was given.
    ///
    /// ## Rejected
    /// ```json with assignment
    /// {"task": {"task_id": "T-13"}}
    /// ```
    /// ```json rejected subagent_result
    /// {"task_id": "T-12"}
    /// ```
    ///
    /// ## Accepted
    /// ```json with assignment
    /// {"task": {"task_id": "T-12"}}
    /// ```
    /// ```json accepted subagent_result
    /// {"task_id": "T-12"}
    /// ```
    pub static COMPANION_UNMATCHED = {
        id: "companion-unmatched",
        code: CorrelationMismatch,
        severity: Error,
        summary: "no document given with it is the one it belongs to",
    }
}
