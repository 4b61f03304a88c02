use crate::plan::payload::Plan;
use crate::work::payload::Resource;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// No entry of a task's scopes has a wildcard in it.
    ///
    /// ## Why
    /// A scope is a file or a folder with all that is in it, and `*` and `?` are letters of a name like any other. What was meant as
    /// a pattern allows and forbids nothing but a file of just that name: the work is done, and refused for lying outside.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing/*.py"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ]}
    /// ```
    pub static PLAN_SCOPE_WILDCARD: Plan = {
        id: "plan-scope-wildcard",
        code: SchemaInvalid,
        severity: Warning,
        summary: "an entry of a scope has a wildcard, which is taken as it is written",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (index, task) in it.record.tasks.iter().enumerate() {
        let at = |key: &str| Pointer::at("/tasks").item(index).key(key);
        for (n, entry) in task.lock_scope.iter().enumerate() {
            let place = || task.lock_scope.given().map_or_else(Pointer::root, |it| it.place_of(n, at("lock_scope")));
            check_one(entry, place, report);
        }
        if let Some(scope) = &task.forbidden_scope {
            for (n, entry) in scope.iter().enumerate() {
                check_one(entry, || scope.place_of(n, at("forbidden_scope")), report);
            }
        }
    }
}

/// Names with brackets are as common as patterns, so those are left alone.
fn check_one(entry: &Resource, place: impl Fn() -> Pointer, report: &mut Report) {
    if entry.as_str().contains(['*', '?']) {
        let message = format!("`{}` is the name of one file here, and no pattern", show(entry.as_str()));
        report.add(place(), message, "name the folder that they lie in, or each file");
    }
}
