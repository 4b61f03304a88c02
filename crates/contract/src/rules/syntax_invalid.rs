use crate::rule;

rule! {
    /// A document must be JSON, YAML, JSON Lines, or Markdown with YAML front matter.
    ///
    /// ## Why
    /// What cannot be read cannot be checked, and a reader that guesses what was meant would let two parties see
    /// two documents. Reading stops at the first fault, because nothing after it has a certain meaning. Files must
    /// be UTF-8.
    ///
    /// ## Rejected
    /// ```json rejected raw
    /// {"packet_type": "assignment",}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {}
    /// ```
    pub static SYNTAX_INVALID = {
        id: "syntax-invalid",
        code: SchemaInvalid,
        severity: Error,
        summary: "the text is not JSON or YAML",
    }
}
