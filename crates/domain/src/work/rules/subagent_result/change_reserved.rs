use crate::work::payload::SubagentResult;
use crate::work::places::Placed;
use crate::work::scope;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// No worker changes `.countersign` or anything inside it.
    ///
    /// ## Why
    /// There the record of all work is kept. Whoever can change it can make anything look done.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"changes": [{"resource": ".countersign/ledger.db", "action": "edit"}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"changes": [{"resource": "countersign/ledger.md", "action": "edit"}]}
    /// ```
    pub static CHANGE_RESERVED: SubagentResult = {
        id: "change-reserved",
        code: ScopeViolation,
        severity: Error,
        summary: "a worker changed files of the program itself",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    let changes = &it.record.changes;
    for (index, change) in changes.iter().enumerate() {
        if scope::contains(scope::RESERVED, change.resource.place()) {
            let message = format!("`{}` belongs to the record of the work", show(change.resource.as_str()));
            report.add(changes.pointer(index), message, "undo the change; no task may touch it");
        }
    }
}
