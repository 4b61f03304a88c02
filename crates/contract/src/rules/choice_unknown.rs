use crate::rule;

rule! {
    /// Where a contract lists words, only those are known, in exactly this spelling.
    ///
    /// ## Why
    /// A status that one party knows and the other does not is acted on by one and dropped by the other.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"task": {"type": "paralel"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"task": {"type": "serial"}}
    /// ```
    pub static CHOICE_UNKNOWN = {
        id: "choice-unknown",
        code: SchemaInvalid,
        severity: Error,
        summary: "a word that is none of the known ones",
    }
}
