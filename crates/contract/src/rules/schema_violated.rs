use crate::rule;

rule! {
    /// A contract registered in the configuration as a JSON Schema is checked by that schema.
    ///
    /// ## Why
    /// The message is that of the schema validator; the help names the keyword of the schema that asks for it.
    ///
    /// ## Rejected
    /// ```json schema
    /// {"type": "object", "properties": {"amount": {"type": "number", "minimum": 0}}}
    /// ```
    /// ```json rejected raw
    /// {"amount": -3}
    /// ```
    ///
    /// ## Accepted
    /// ```json schema
    /// {"type": "object", "properties": {"amount": {"type": "number", "minimum": 0}}}
    /// ```
    /// ```json accepted raw
    /// {"amount": 3}
    /// ```
    pub static SCHEMA_VIOLATED = {
        id: "schema-violated",
        code: SchemaInvalid,
        severity: Error,
        summary: "a document breaks the JSON Schema registered for it",
    }
}
