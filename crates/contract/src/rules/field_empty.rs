use crate::rule;

rule! {
    /// A required text must say something and a required list must have an item. White space alone is empty.
    ///
    /// ## Why
    /// An empty criterion, title or scope passes every later check by accident.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"global_objective": "  "}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"global_objective": "Round half to even"}
    /// ```
    pub static FIELD_EMPTY = {
        id: "field-empty",
        code: MissingRequiredInput,
        severity: Error,
        summary: "a required text or list is empty",
    }
}
