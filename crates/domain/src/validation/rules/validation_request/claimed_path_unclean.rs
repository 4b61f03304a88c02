use crate::paths::{self, Reach};
use crate::validation::payload::ValidationRequest;
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// Files that are claimed to be modified are named by plain paths, relative to the worktree.
    ///
    /// ## Why
    /// A path that is absolute or climbs out of the worktree names a file that is not part of the work, and what looks
    /// at the claim would open it. `countersign fix` writes a path that only needs tidying in its shortest form.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"claimed_evidence": {"files_modified": ["src/checkout.rs", "../other/secrets.env"]}}
    /// ```
    /// ```json rejected
    /// {"claimed_evidence": {"files_modified": ["/etc/passwd"]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"worktree_path": "/home/ana/shop", "claimed_evidence": {"files_modified": ["src/cart.rs", ".github/ci.yml"]}}
    /// ```
    pub static CLAIMED_PATH_UNCLEAN: ValidationRequest = {
        id: "claimed-path-unclean",
        code: SchemaInvalid,
        severity: Error,
        summary: "a file that is claimed to be modified is not a plain path below the worktree",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationRequest>, report: &mut Report) {
    let claimed = it.record.claimed_evidence.as_ref().and_then(|claimed| claimed.files_modified.as_deref());
    for (index, path) in claimed.unwrap_or_default().iter().enumerate() {
        let Some(fault) = paths::fault(path.as_str(), Reach::Below) else { continue };
        let place = Pointer::at("/claimed_evidence/files_modified").item(index);
        let found = report.add(
            place.clone(),
            format!("path `{}` {fault}", show(path.as_str())),
            "write the path relative to the worktree, without `.` or `..`",
        );
        let root = it.record.worktree_path.as_ref().map(|root| root.as_str());
        if let Some(tidy) = paths::tidied(path.as_str(), root) {
            found.repair(Repair::replace(place, tidy, "write the path in its shortest form, relative to the worktree"));
        }
    }
}
