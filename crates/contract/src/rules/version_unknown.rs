use crate::rule;

rule! {
    /// A document must name a version whose major number this program knows. A universal handoff must be exactly
    /// 3.0.
    ///
    /// ## Why
    /// Another major version may give the same fields another meaning, so it fails closed. Of the universal
    /// handoff, version 2.0 has neither tracing nor the tiers of the payload, and version 1.2 needs an adapter:
    /// neither can be read as 3.0 without loss.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"schema_version": "2.0.0"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"schema_version": "1.0.0"}
    /// ```
    pub static VERSION_UNKNOWN = {
        id: "version-unknown",
        code: UnknownSchemaVersion,
        severity: Error,
        summary: "a version that this program does not know",
    }
}
