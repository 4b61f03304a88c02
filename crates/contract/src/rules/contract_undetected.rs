use crate::rule;

rule! {
    /// The contract of a document is told from the keys at its root.
    ///
    /// ## Why
    /// A document that nobody can place cannot be checked, and passing it unchecked would be a lie. Name the
    /// contract with `--contract`, or add the key that marks it.
    ///
    /// ## Rejected
    /// ```json rejected raw
    /// {"hello": "world"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {}
    /// ```
    pub static CONTRACT_UNDETECTED = {
        id: "contract-undetected",
        code: SchemaInvalid,
        severity: Error,
        summary: "no contract has these keys",
    }
}
