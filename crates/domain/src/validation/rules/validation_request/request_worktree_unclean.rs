use crate::paths::{self, Reach};
use crate::validation::payload::ValidationRequest;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// The path of the worktree is plain: it may be absolute, but does not climb, hide characters, or pass for an
    /// option.
    ///
    /// ## Why
    /// The validator goes there and runs things. A path that reads otherwise than it leads takes it somewhere else.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"worktree_path": "/home/ana/shop/../payroll"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"worktree_path": "/home/ana/shop/trees/empty-carts"}
    /// ```
    pub static REQUEST_WORKTREE_UNCLEAN: ValidationRequest = {
        id: "request-worktree-unclean",
        code: SchemaInvalid,
        severity: Error,
        summary: "the path of the worktree is not plain",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationRequest>, report: &mut Report) {
    let Some(path) = &it.record.worktree_path else { return };
    if let Some(fault) = paths::fault(path.as_str(), Reach::Anywhere) {
        report.add(
            Pointer::at("/worktree_path"),
            format!("path `{}` {fault}", show(path.as_str())),
            "write the path as the worktree lies, without `..`",
        );
    }
}
