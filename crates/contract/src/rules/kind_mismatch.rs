use crate::rule;

rule! {
    /// Every value must be of the kind that its contract says: text, number, boolean, list or object.
    ///
    /// ## Why
    /// `"30"` is not 30, and a reader that takes one for the other hides the mistake until it matters.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"active_locks": {}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"active_locks": []}
    /// ```
    pub static KIND_MISMATCH = {
        id: "kind-mismatch",
        code: SchemaInvalid,
        severity: Error,
        summary: "a value of the wrong kind",
    }
}
