use crate::rule;

rule! {
    /// The keys at the root of a document must be the marks of one contract only.
    ///
    /// ## Why
    /// Trying which contract fits would mean that a fault decides how a document is read. Remove the keys that do
    /// not belong, or name the contract with `--contract`.
    ///
    /// ## Rejected
    /// ```json rejected raw
    /// {"packet_type": "assignment", "ledger_delta": []}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {}
    /// ```
    pub static CONTRACT_AMBIGUOUS = {
        id: "contract-ambiguous",
        code: SchemaInvalid,
        severity: Error,
        summary: "the keys are those of several contracts",
    }
}
