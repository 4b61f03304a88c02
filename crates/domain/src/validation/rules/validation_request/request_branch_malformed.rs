use crate::delegation::ref_name::{self, RefKind};
use crate::validation::payload::ValidationRequest;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// The branch has a name that git allows.
    ///
    /// ## Why
    /// The validator checks the branch out. A name that git refuses stops it there, and one that begins with a hyphen
    /// is read as an option.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"branch": "--upload-pack=evil"}
    /// ```
    /// ```json rejected
    /// {"branch": "empty carts"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"branch": "feature/empty-carts"}
    /// ```
    pub static REQUEST_BRANCH_MALFORMED: ValidationRequest = {
        id: "request-branch-malformed",
        code: SchemaInvalid,
        severity: Error,
        summary: "the branch is not a name that git allows",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationRequest>, report: &mut Report) {
    let Some(branch) = &it.record.branch else { return };
    if let Some(fault) = ref_name::fault(RefKind::Branch, branch.as_str()) {
        let message = format!("`{}` is not a name that git allows for a branch: it {fault}", show(branch.as_str()));
        report.add(Pointer::at("/branch"), message, "write the branch as `git branch` lists it");
    }
}
