use crate::work::payload::{Assignment, SubagentResult};
use crate::work::places::Placed;
use crate::work::scope::ROOT;
use countersign_contract::{Report, Subject, rule, show};
use std::collections::BTreeSet;

rule! {
    /// Every change of the result was really made: the file differs from what it was when the task was claimed. A folder
    /// is changed if anything inside of it is.
    ///
    /// ## Why
    /// A change that is told of and not there was forgotten, undone, or made somewhere else.
    ///
    /// ## Rejected
    /// ```json with assignment
    /// {}
    /// ```
    /// ```json outside
    /// {"changed": ["src/money/round.rs"]}
    /// ```
    /// ```json rejected
    /// {
    ///   "changes": [
    ///     {"resource": "src/money/round.rs", "action": "edit"},
    ///     {"resource": "src/money/parse.rs", "action": "edit"}
    ///   ]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json with assignment
    /// {}
    /// ```
    /// ```json outside
    /// {"changed": ["src/money/round.rs"]}
    /// ```
    /// ```json accepted
    /// {"changes": [{"resource": "src/money", "action": "edit"}]}
    /// ```
    pub static CHANGE_UNMADE: SubagentResult = {
        id: "change-unmade",
        code: IntegrityMismatch,
        severity: Warning,
        summary: "a result lists a change that was not made",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    let changes = &it.record.changes;
    let Some(changed) = it.outside.changed.as_ref().filter(|_| !changes.is_empty()) else { return };
    if it.kin::<Assignment>().is_none() {
        return;
    }
    for (index, change) in changes.iter().enumerate() {
        let place = change.resource.place();
        if !changed.contains(place) && !any_inside(changed, place) {
            let message = format!("`{}` is as it was when the task was claimed", show(change.resource.as_str()));
            report.add(changes.pointer(index), message, "leave it out, or make the change");
        }
    }
}

/// Whether any of the paths lies inside of a folder. They are in order, so the first that could tells.
fn any_inside(paths: &BTreeSet<String>, folder: &str) -> bool {
    let start = format!("{folder}/");
    let first = paths.range(start.clone()..).next();
    if folder == ROOT { !paths.is_empty() } else { first.is_some_and(|path| path.starts_with(&start)) }
}
