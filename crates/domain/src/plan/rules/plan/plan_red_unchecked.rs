use crate::plan::machine_checks;
use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A criterion with `red_before_green` has a check that a machine can carry out.
    ///
    /// ## Why
    /// Only such a check can be carried out on what was there before the work. Without one nothing would be shown, although
    /// the plan asks for it.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it is elegant", "check": {"human": "Is it elegant?"}, "red_before_green": true}]}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}, "red_before_green": true}]}
    /// ]}
    /// ```
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it is elegant", "check": {"human": "Is it elegant?"}, "red_before_green": false}]}
    /// ]}
    /// ```
    pub static PLAN_RED_UNCHECKED: Plan = {
        id: "plan-red-unchecked",
        code: MissingRequiredInput,
        severity: Error,
        summary: "nothing could be seen to fail before the work",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (task, planned) in it.record.tasks.iter().enumerate() {
        for (criterion, wanted) in planned.acceptance.iter().enumerate() {
            if wanted.red_before_green != Some(true) || machine_checks(wanted).next().is_some() {
                continue;
            }
            let number = criterion + 1;
            let message =
                format!("criterion {number} of {} must fail before the work, and has no check to show it", planned.id);
            let at = Pointer::at("/tasks").item(task).key("acceptance").item(criterion).key("red_before_green");
            report.add(at, message, "give it a check that a machine carries out, or leave `red_before_green` out");
        }
    }
}
