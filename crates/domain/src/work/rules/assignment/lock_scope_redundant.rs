use crate::work::payload::Assignment;
use crate::work::redundant_entry;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// No entry of a lock scope lies inside another one.
    ///
    /// ## Why
    /// The wider entry already allows what the narrower one says. Often the narrow one was meant and the wide one
    /// slipped in.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"task": {"lock_scope": ["src/money/round.rs", "src/money"]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"task": {"lock_scope": ["src/money/round.rs", "src/money/parse.rs"]}}
    /// ```
    pub static LOCK_SCOPE_REDUNDANT: Assignment = {
        id: "lock-scope-redundant",
        code: SchemaInvalid,
        severity: Warning,
        summary: "an entry of the lock scope lies inside another",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    redundant_entry::check(&it.record.task.lock_scope, || Pointer::at("/task/lock_scope"), report);
}
