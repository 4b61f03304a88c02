use crate::plan::payload::Plan;
use crate::work::places::Placed;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// Every path of a plan lies in the project, once its `.` and `..` are resolved: what tasks may and may not change, the
    /// files that checks look at, and those that are pinned. What a task is to change does not lie in a folder of git's own.
    ///
    /// ## Why
    /// One that leads out of the project names a place that nobody can hold, keep free or look at, and must not be taken for
    /// the whole tree. What is in `.git` is in no commit, so that the work could never land.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": "../billing",
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}], "forbidden_scope": ["vendor", "../vendor"]}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it is there", "check": {"file": {"path": "../round.py"}}}]}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}, "pin": "billing/../../tests"}]}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing", ".git/hooks"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}], "forbidden_scope": "billing/../vendor"}
    /// ]}
    /// ```
    pub static PLAN_RESOURCE_UNUSABLE: Plan = {
        id: "plan-resource-unusable",
        code: SchemaInvalid,
        severity: Error,
        summary: "a path of a plan leads where no work can be",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (index, task) in it.record.tasks.iter().enumerate() {
        let at = |key: &str| Pointer::at("/tasks").item(index).key(key);
        for (n, resource) in task.lock_scope.iter().enumerate() {
            let place = || task.lock_scope.given().map_or_else(Pointer::root, |it| it.place_of(n, at("lock_scope")));
            resource.check(place, report);
            if resource.place().split('/').any(|part| part == ".git") {
                let message =
                    format!("`{}` lies in a folder of git's own, which no commit holds", show(resource.place()));
                report.add(place(), message, "name what is to be changed in the project");
            }
        }
        if let Some(scope) = &task.forbidden_scope {
            for (n, resource) in scope.iter().enumerate() {
                resource.check(|| scope.place_of(n, at("forbidden_scope")), report);
            }
        }
        for (criterion, wanted) in task.acceptance.iter().enumerate() {
            let at = |key: &str| at("acceptance").item(criterion).key(key);
            if let Some(pins) = &wanted.pin {
                for (n, resource) in pins.iter().enumerate() {
                    resource.check(|| pins.place_of(n, at("pin")), report);
                }
            }
            let Some(checks) = &wanted.check else { continue };
            for (n, check) in checks.iter().enumerate() {
                let Some(file) = &check.file else { continue };
                file.path.check(|| checks.place_of(n, at("check")).key("file").key("path"), report);
            }
        }
    }
}
