use crate::rule;

rule! {
    /// A contract registered in the configuration as a JSON Schema is checked by that schema.
    ///
    /// ## Why
    /// The message is that of the schema validator; the help names the keyword of the schema that asks for it.
    pub static SCHEMA_VIOLATED = {
        id: "schema-violated",
        code: SchemaInvalid,
        severity: Error,
        summary: "a document breaks the JSON Schema registered for it",
    }
}
