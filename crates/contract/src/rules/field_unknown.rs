use crate::rule;

rule! {
    /// A field that the contract does not know is a warning, and an error with `--strict`. Names that begin with
    /// `x_` are the author's own and always allowed.
    ///
    /// ## Why
    /// An unknown field is most often a known one with a slip in it, and then the value that was meant is not
    /// there.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"globl_objective": "x"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"x_ticket": "A-17"}
    /// ```
    pub static FIELD_UNKNOWN = {
        id: "field-unknown",
        code: SchemaInvalid,
        severity: Warning,
        summary: "a field that the contract does not know",
    }
}
