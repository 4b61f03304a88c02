use crate::rule;

rule! {
    /// A newer minor version of a known major is read, with a warning.
    ///
    /// ## Why
    /// A minor version only adds. What it adds is not checked by this program.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"schema_version": "1.3.0"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"schema_version": "1.0.7"}
    /// ```
    pub static VERSION_NEWER = {
        id: "version-newer",
        code: UnknownSchemaVersion,
        severity: Warning,
        summary: "a newer minor version than this program knows",
    }
}
