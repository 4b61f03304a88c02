use crate::delegation::view::RETRIES_MAX;
use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// An action on a platform is tried again at most three times.
    ///
    /// ## Why
    /// After that a person is asked: what failed so often does not get better by itself.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [{"id": "T-1", "title": "Make the branch", "kind": "delegate",
    ///  "instruction": "instructions/branch.yaml", "retries": 4}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [{"id": "T-1", "title": "Make the branch", "kind": "delegate",
    ///  "instruction": "instructions/branch.yaml", "retries": 3}]}
    /// ```
    pub static PLAN_RETRIES_TOO_MANY: Plan = {
        id: "plan-retries-too-many",
        code: SchemaInvalid,
        severity: Error,
        summary: "an action is to be tried too often",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (index, task) in it.record.tasks.iter().enumerate().filter(|(_, task)| task.is_delegate()) {
        let given = task.retries.map_or(0, |retries| retries.get().unsigned_abs());
        if given > RETRIES_MAX {
            let message = format!("{} is to be tried again {given} times, and {RETRIES_MAX} are allowed", task.id);
            report.add(Pointer::at("/tasks").item(index).key("retries"), message, "say 3 or less");
        }
    }
}
