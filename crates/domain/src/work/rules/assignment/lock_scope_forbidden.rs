use crate::work::payload::{Assignment, Resource};
use crate::work::places::{Placed, Places};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// What a task may change and what it must not change have nothing in common.
    ///
    /// ## Why
    /// A worker whose lock scope is partly forbidden must break one of the two rules, and will choose by itself which.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"task": {"lock_scope": ["src/money"], "forbidden_scope": ["src/money/legacy.rs"]}}
    /// ```
    /// ```json rejected also:worklog-path-forbidden
    /// {"task": {"lock_scope": ["src/money"], "forbidden_scope": ["."]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"task": {"lock_scope": ["src/money"], "forbidden_scope": ["src/money2", "src/api"]}}
    /// ```
    pub static LOCK_SCOPE_FORBIDDEN: Assignment = {
        id: "lock-scope-forbidden",
        code: ScopeViolation,
        severity: Error,
        summary: "the forbidden scope overlaps the lock scope",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    let task = &it.record.task;
    let places = Places::new(&task.lock_scope, Resource::is_usable);
    for (index, forbidden) in task.forbidden_scope.iter().enumerate().filter(|(_, it)| it.is_usable()) {
        let Some(locked) = places.overlapping(forbidden.place()) else { continue };
        let (one, other) = (show(forbidden.as_str()), show(task.lock_scope[locked].as_str()));
        let place = report.place(Pointer::at("/task/lock_scope").item(locked));
        let found = report.add(
            Pointer::at("/task/forbidden_scope").item(index),
            format!("forbidden `{one}` overlaps `{other}` of the lock scope"),
            "narrow one of the two until they have nothing in common",
        );
        found.label(place, "may be changed");
    }
}
