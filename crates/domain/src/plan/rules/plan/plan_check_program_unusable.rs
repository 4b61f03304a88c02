use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// The first part of an argument vector is a program.
    ///
    /// ## Why
    /// A program is started as it is named, without a shell; an option in its place is a slip, or worse.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it works", "check": {"command": ["--version"]}}]}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it works", "check": {"command": ["cargo", "--version"]}}]}
    /// ]}
    /// ```
    pub static PLAN_CHECK_PROGRAM_UNUSABLE: Plan = {
        id: "plan-check-program-unusable",
        code: SchemaInvalid,
        severity: Error,
        summary: "the program of a check begins like an option",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (task, planned) in it.record.tasks.iter().enumerate() {
        for (criterion, wanted) in planned.acceptance.iter().enumerate() {
            let checks = wanted.check.iter().flat_map(|checks| checks.iter());
            let programs = checks.filter_map(|check| check.program()?.first());
            for program in programs.filter(|program| program.as_str().starts_with('-')) {
                let message = format!("`{}` is an option, not a program", show(program.as_str()));
                let at = Pointer::at("/tasks").item(task).key("acceptance").item(criterion).key("check");
                report.add(at, message, "put the program first");
            }
        }
    }
}
