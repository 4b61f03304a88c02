use countersign_contract::rule;

rule! {
    /// A resource is written in its normal form: `/` between segments, no `.`, `..` or empty segments, no trailing `/`,
    /// letters composed. The root of the project is `.`.
    ///
    /// ## Why
    /// Resources are compared in their normal form, so nothing is missed. But a reader who sees `src/` and `./src`
    /// takes them for two things, and a tool that compares texts does too.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"task": {"forbidden_scope": ["src/api/", "./vendor", "docs//old"]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"task": {"forbidden_scope": ["src/api", "vendor", "docs/old"]}}
    /// ```
    pub static RESOURCE_NOT_NORMAL = {
        id: "resource-not-normal",
        code: SchemaInvalid,
        severity: Warning,
        summary: "a resource is not written in its normal form",
    }
}
