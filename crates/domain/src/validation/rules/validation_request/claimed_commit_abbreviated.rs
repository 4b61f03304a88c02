use crate::validation::payload::ValidationRequest;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The commit that holds the work is named in full.
    ///
    /// ## Why
    /// Validation is bound to one exact commit. A shortened hash may come to mean another commit as the repository
    /// grows, and cannot be compared with one that is written in full.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"claimed_evidence": {"commit_hash": "9fceb02"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"claimed_evidence": {"commit_hash": "9fceb02d0ae598e95dc970b74767f19372d61af8"}}
    /// ```
    pub static CLAIMED_COMMIT_ABBREVIATED: ValidationRequest = {
        id: "claimed-commit-abbreviated",
        code: SchemaInvalid,
        severity: Warning,
        summary: "the commit of the work is shortened",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationRequest>, report: &mut Report) {
    let Some(hash) = it.record.claimed_evidence.as_ref().and_then(|claimed| claimed.commit_hash.as_ref()) else {
        return;
    };
    // SHA-1 and SHA-256, as git writes them.
    if !matches!(hash.as_str().len(), 40 | 64) {
        report.add(
            Pointer::at("/claimed_evidence/commit_hash"),
            format!("commit `{hash}` is shortened"),
            "write the hash in full, as `git rev-parse` prints it",
        );
    }
}
