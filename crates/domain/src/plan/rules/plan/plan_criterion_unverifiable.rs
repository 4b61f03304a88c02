use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A criterion has checks, or an agent or a person is among the validators.
    ///
    /// ## Why
    /// The built-in validator decides by checks alone; without any, the work could never be called done.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"gates": {"validate": "builtin"}, "tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it is elegant"}]}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"gates": {"validate": ["builtin", "person"]}, "tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it is elegant"}]}
    /// ]}
    /// ```
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it is elegant", "check": {"human": "Is it elegant?"}}]}
    /// ]}
    /// ```
    pub static PLAN_CRITERION_UNVERIFIABLE: Plan = {
        id: "plan-criterion-unverifiable",
        code: MissingValidator,
        severity: Error,
        summary: "nobody can say whether a criterion holds",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    let validators = it.record.gates.as_ref().and_then(|gates| gates.validate.as_ref());
    if validators.is_some_and(|names| names.iter().any(|name| name.as_str() != "builtin")) {
        return;
    }
    for (task, planned) in it.record.tasks.iter().enumerate() {
        for (criterion, _) in planned.acceptance.iter().enumerate().filter(|(_, wanted)| wanted.check.is_none()) {
            let number = criterion + 1;
            let message = format!(
                "criterion {number} of {} has no check, and only the built-in validator looks at it",
                planned.id
            );
            let help = "give it a check, or let an agent or a person validate";
            report.add(Pointer::at("/tasks").item(task).key("acceptance").item(criterion), message, help);
        }
    }
}
