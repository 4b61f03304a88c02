use crate::work::payload::Assignment;
use crate::work::places::Placed;
use crate::work::scope;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// No task is given `.countersign` or anything inside it.
    ///
    /// ## Why
    /// There the record of all work is kept. A worker that may change it can grant itself whatever it wants.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"task": {"lock_scope": [".countersign/config.toml"]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"task": {"lock_scope": ["countersign"]}}
    /// ```
    pub static LOCK_SCOPE_RESERVED: Assignment = {
        id: "lock-scope-reserved",
        code: ScopeViolation,
        severity: Error,
        summary: "the lock scope names files of the program itself",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    for (index, resource) in it.record.task.lock_scope.iter().enumerate() {
        if scope::contains(scope::RESERVED, resource.place()) {
            let message = format!("`{}` belongs to the record of the work", show(resource.as_str()));
            report.add(Pointer::at("/task/lock_scope").item(index), message, "take it out of the scope");
        }
    }
}
