use crate::rule;

rule! {
    /// Numbers have the range that their contract says.
    ///
    /// ## Why
    /// A timeout of zero or a confidence of 7 is a slip, and acting on it does harm.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"task": {"timeout_seconds": 5}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"task": {"timeout_seconds": 1200}}
    /// ```
    pub static RANGE_EXCEEDED = {
        id: "range-exceeded",
        code: SchemaInvalid,
        severity: Error,
        summary: "a number out of its range",
    }
}
