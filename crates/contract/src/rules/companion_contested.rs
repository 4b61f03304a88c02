use crate::rule;

rule! {
    /// Of the documents given with it, only one may be the one that this document names.
    ///
    /// ## Why
    /// If two different assignments have the same ids, a result would pass or fail by which of them was read first. Copies that say the same are one.
    pub static COMPANION_CONTESTED = {
        id: "companion-contested",
        code: CorrelationMismatch,
        severity: Error,
        summary: "several different documents claim to be the one it belongs to",
    }
}
