use crate::rule;

rule! {
    /// A document is at most 16 MiB long (`--max-size` allows more), 64 levels deep, and has at most four million
    /// values.
    ///
    /// ## Why
    /// A payload that takes a reader's memory or time is a fault of the sender, and must be a refusal, never a
    /// crash.
    ///
    /// ## Rejected
    /// ```json rejected raw
    /// [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {}
    /// ```
    pub static LIMIT_EXCEEDED = {
        id: "limit-exceeded",
        code: SchemaInvalid,
        severity: Error,
        summary: "the document is too large, too deep, or has too many values",
    }
}
