use crate::rule;

rule! {
    /// Every required field of a contract must be there.
    ///
    /// ## Why
    /// A reader that fills gaps by guessing does other work than was asked for. `countersign example` prints the
    /// smallest valid document.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"global_objective": null}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {}
    /// ```
    pub static FIELD_MISSING = {
        id: "field-missing",
        code: MissingRequiredInput,
        severity: Error,
        summary: "a required field is missing",
    }
}
