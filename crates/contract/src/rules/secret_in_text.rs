use crate::rule;

rule! {
    /// No text of any document may hold a secret: cloud and platform keys, private keys, bearer tokens, passwords.
    /// The comments of YAML and the body of Markdown count as well.
    ///
    /// ## Why
    /// Payloads are stored, shown and passed on, and a ledger does not forget. Remove the secret and change it,
    /// since it has been seen; `countersign fix` writes it out as a redaction and keeps it nowhere.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"global_objective": "log in with password=hunter2secret"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"global_objective": "log in with password=[REDACTED:assignment]"}
    /// ```
    pub static SECRET_IN_TEXT = {
        id: "secret-in-text",
        code: UntrustedContextBlock,
        severity: Error,
        summary: "a text holds a secret",
    }
}
