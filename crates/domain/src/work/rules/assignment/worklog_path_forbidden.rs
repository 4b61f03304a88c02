use crate::work::payload::{Assignment, Resource};
use crate::work::places::Placed;
use crate::work::scope;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// A worker must be allowed to write its worklog.
    ///
    /// ## Why
    /// A worklog inside the forbidden scope cannot be kept without breaking the scope. One among the settings of git or of a
    /// coding agent would let its worker rewrite them, and the hooks that keep it within its scope with them.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"task": {"worklog_path": "vendor/T-12.jsonl", "forbidden_scope": ["vendor"]}}
    /// ```
    /// ```json rejected
    /// {"task": {"worklog_path": ".claude/settings.json"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"task": {"worklog_path": "worklogs/T-12.jsonl", "forbidden_scope": ["vendor"]}}
    /// ```
    pub static WORKLOG_PATH_FORBIDDEN: Assignment = {
        id: "worklog-path-forbidden",
        code: ScopeViolation,
        severity: Error,
        summary: "the worklog lies where the worker must not write",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    let task = &it.record.task;
    let Ok(worklog) = scope::normal(task.worklog_path.as_str()) else { return };
    if scope::contains(scope::RESERVED, &worklog) {
        let message = format!("the worklog `{}` lies where the record of the work is kept", show(&worklog));
        report.add(Pointer::at("/task/worklog_path"), message, "keep it elsewhere, such as in `worklogs`");
        return;
    }
    if let Some(settings) = scope::SETTINGS.into_iter().find(|settings| scope::contains(settings, &worklog)) {
        let message = format!("the worklog `{}` lies among the settings in `{settings}`", show(&worklog));
        report.add(Pointer::at("/task/worklog_path"), message, "keep it elsewhere, such as in `worklogs`");
        return;
    }
    let holds = |resource: &Resource| resource.is_usable() && scope::contains(resource.place(), &worklog);
    let Some(index) = task.forbidden_scope.iter().position(holds) else { return };
    let place = report.place(Pointer::at("/task/forbidden_scope").item(index));
    let found = report.add(
        Pointer::at("/task/worklog_path"),
        format!("the worklog `{}` lies in the forbidden scope", show(&worklog)),
        "keep it elsewhere, or narrow the forbidden scope",
    );
    found.label(place, "forbidden here");
}
