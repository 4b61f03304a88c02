use crate::rule;

rule! {
    /// Each contract names the forms it may be written in.
    ///
    /// ## Why
    /// Worklogs are JSON Lines because they grow by lines; results and audit entries may be Markdown because people
    /// read them. A form that nobody expects is a sign that the wrong file was sent.
    ///
    /// ## Rejected
    /// ```jsonl rejected
    /// {}
    /// {}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {}
    /// ```
    pub static FORM_UNFIT = {
        id: "form-unfit",
        code: SchemaInvalid,
        severity: Error,
        summary: "the contract is not written in this form",
    }
}
