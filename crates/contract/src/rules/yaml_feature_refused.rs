use crate::rule;

rule! {
    /// Anchors, aliases, tags, merge keys, directives, several documents, keys that are not texts, and numbers that
    /// YAML 1.1 and 1.2 read differently are refused.
    ///
    /// ## Why
    /// Each of them makes the same text mean different things to different readers, or makes a small text stand for
    /// a huge one. `no`, `on` and `y` are read as texts, as YAML 1.2 says.
    ///
    /// ## Rejected
    /// ```yaml rejected raw
    /// packet_type: &anchor assignment
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {}
    /// ```
    pub static YAML_FEATURE_REFUSED = {
        id: "yaml-feature-refused",
        code: SchemaInvalid,
        severity: Error,
        summary: "a feature of YAML that hides meaning",
    }
}
