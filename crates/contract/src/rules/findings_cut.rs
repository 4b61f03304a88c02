use crate::rule;

rule! {
    /// At most 200 findings are listed for one document; the rest is counted.
    ///
    /// ## Why
    /// A document with so many faults is usually one fault repeated. Mend what is listed and check again.
    ///
    /// ## Rejected
    /// ```json rejected assignment also:kind-mismatch
    /// {"task": {"acceptance_criteria": [
    /// 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    /// 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    /// 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    /// 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    /// 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    /// 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    /// 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted assignment
    /// {"task": {"acceptance_criteria": ["it is done"]}}
    /// ```
    pub static FINDINGS_CUT = {
        id: "findings-cut",
        code: SchemaInvalid,
        severity: Error,
        summary: "more findings than are listed",
    }
}
