use crate::work::payload::SubagentResult;

use countersign_contract::{Report, Subject, rule};

rule! {
    /// Every change is to a resource in the project, once its `.` and `..` are resolved.
    ///
    /// ## Why
    /// Resources are compared below the root of the project. One that leads out of it, or that hides a drive or white
    /// space behind a `.`, names a place that nobody has locked; until it is mended it counts as the whole tree.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"changes": [{"resource": "src/../../money.rs", "action": "edit"}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"changes": [{"resource": "src/../money.rs", "action": "edit"}]}
    /// ```
    pub static RESULT_RESOURCE_UNUSABLE: SubagentResult = {
        id: "result-resource-unusable",
        code: SchemaInvalid,
        severity: Error,
        summary: "a resource leads out of the project",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    for (index, change) in it.record.changes.iter().enumerate() {
        // An entry of `files_touched` may be the path alone.
        change.resource.check(|| it.record.changes.pointer(index), report);
    }
}
