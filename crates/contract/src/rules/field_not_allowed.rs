use crate::rule;

rule! {
    /// Some objects are closed: nothing may be added to them, not even under `x_`. The root of a universal handoff
    /// and its `handoff` object are.
    ///
    /// ## Why
    /// A closed object is one that other programs check with the same strictness; what is added to it would be
    /// refused there.
    ///
    /// ## Rejected
    /// ```json rejected universal_handoff
    /// {"x_note": "hello"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted universal_handoff
    /// {}
    /// ```
    pub static FIELD_NOT_ALLOWED = {
        id: "field-not-allowed",
        code: SchemaInvalid,
        severity: Error,
        summary: "a field in a closed object",
    }
}
