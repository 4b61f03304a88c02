use crate::work::payload::SubagentResult;
use crate::work::places::{Firsts, Placed};
use countersign_contract::diagnostic::Repair;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// Each resource is listed as changed once.
    ///
    /// ## Why
    /// Two entries for one file leave open which one tells what became of it.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "changes": [
    ///     {"resource": "src/money/round.rs", "action": "create"},
    ///     {"resource": "./src/money/round.rs", "action": "edit"}
    ///   ]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "changes": [
    ///     {"resource": "src/money/round.rs", "action": "create"},
    ///     {"resource": "src/money/parse.rs", "action": "edit"}
    ///   ]
    /// }
    /// ```
    pub static CHANGE_REPEATED: SubagentResult = {
        id: "change-repeated",
        code: SchemaInvalid,
        severity: Warning,
        summary: "the same resource is listed as changed twice",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    let changes = &it.record.changes;
    for (later, first) in Firsts::new(changes.len(), |index| changes[index].resource.place()).repeats() {
        let message = format!("`{}` is listed as changed twice", show(changes[later].resource.as_str()));
        let place = report.place(changes.pointer(first));
        let same = changes[later].action == changes[first].action && changes[later].evidence == changes[first].evidence;
        let found = report.add(changes.pointer(later), message, "say once what became of it");
        found.label(place, "first here");
        if same {
            let pointer = found.pointer.clone();
            found.repair(Repair::remove(pointer, "remove the second"));
        }
    }
}
