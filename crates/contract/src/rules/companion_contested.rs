use crate::rule;

rule! {
    /// Of the documents given with it, only one may be the one that this document names.
    ///
    /// ## Why
    /// If two different assignments have the same ids, a result would pass or fail by which of them was read first. Copies that say the same are one.
    ///
    /// ## Rejected
    /// ```json with assignment
    /// {"task": {"lock_scope": ["src/money"]}}
    /// ```
    /// ```json with assignment
    /// {"task": {"lock_scope": ["src"]}, "active_locks": []}
    /// ```
    /// ```json rejected subagent_result
    /// {"task_id": "T-12"}
    /// ```
    ///
    /// ## Accepted
    /// ```json with assignment
    /// {"task": {"lock_scope": ["src/money"]}}
    /// ```
    /// ```json with assignment
    /// {"task": {"lock_scope": ["src/money"]}}
    /// ```
    /// ```json accepted subagent_result
    /// {"task_id": "T-12"}
    /// ```
    pub static COMPANION_CONTESTED = {
        id: "companion-contested",
        code: CorrelationMismatch,
        severity: Error,
        summary: "several different documents claim to be the one it belongs to",
    }
}
