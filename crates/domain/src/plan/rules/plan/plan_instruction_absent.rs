use crate::plan::payload::{Instructed, Plan};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// The file of an instruction is there, beneath the project.
    ///
    /// ## Why
    /// The run would not begin.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [{"id": "T-1", "title": "Make the branch", "kind": "delegate", "instruction": "/etc/branch.yaml"}]}
    /// ```
    /// ```json rejected
    /// {"tasks": [{"id": "T-1", "title": "Make the branch", "kind": "delegate", "instruction": "../branch.yaml"}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [{"id": "T-1", "title": "Make the branch", "kind": "delegate",
    ///  "instruction": "instructions/branch.yaml"}]}
    /// ```
    pub static PLAN_INSTRUCTION_ABSENT: Plan = {
        id: "plan-instruction-absent",
        code: MissingRequiredInput,
        severity: Error,
        summary: "the file of an instruction is not there",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (index, task) in it.record.tasks.iter().enumerate() {
        let Some(Instructed::File(path)) = &task.instruction else { continue };
        let path = path.as_str();
        let leaves = path.starts_with('/') || path.split('/').any(|step| step == "..");
        let message = match it.outside.files.get(path) {
            _ if leaves => format!("`{}` leads out of the project", show(path)),
            Some(false) => format!("`{}` is not there", show(path)),
            _ => continue,
        };
        let help = "name a file beneath the project, or write the instruction into the plan";
        report.add(Pointer::at("/tasks").item(index).key("instruction"), message, help);
    }
}
