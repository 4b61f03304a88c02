use crate::rule;

rule! {
    /// An object must not have the same key twice.
    ///
    /// ## Why
    /// One reader keeps the first value, another the last. A checker that sees one and a worker that obeys the
    /// other do not see the same document.
    ///
    /// ## Rejected
    /// ```json rejected raw
    /// {"packet_type": "assignment", "packet_type": "assignment"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {}
    /// ```
    pub static KEY_DUPLICATE = {
        id: "key-duplicate",
        code: SchemaInvalid,
        severity: Error,
        summary: "a key appears twice in one object",
    }
}
