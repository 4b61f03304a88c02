use crate::work::payload::{Dependency, HandoffBundle};
use crate::work::places::Firsts;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Contract, Links, Report, Subject, rule, show};

rule! {
    /// Tasks do not wait for each other in a circle, nor for themselves.
    ///
    /// ## Why
    /// None of them could ever start.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-9", "title": "Round invoice totals", "status": "todo", "owner": "coder",
    ///       "lock_scope": ["docs"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120, "priority": "high"
    ///     },
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "todo", "owner": "coder",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high"
    ///     }
    ///   ],
    ///   "active_locks": [],
    ///   "dependencies": [
    ///     {"task_id": "T-12", "depends_on": ["T-9"]},
    ///     {"task_id": "T-9", "depends_on": ["T-12"]}
    ///   ]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"dependencies": [{"task_id": "T-12", "depends_on": ["T-9"]}]}
    /// ```
    pub static BUNDLE_DEPENDENCIES_CIRCULAR: HandoffBundle = {
        id: "bundle-dependencies-circular",
        code: DependencyNotMet,
        severity: Error,
        summary: "tasks wait for each other in a circle",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    let entries = &it.record.dependencies;
    let waits = Firsts::new(entries.len(), |index| &entries[index].task_id);
    let chained = |entry: &Dependency| entry.depends_on.iter().any(|task| waits.find(task).is_some());
    // A circle needs a task that waits for one that waits.
    if !entries.iter().any(chained) {
        return;
    }
    let mut links = Links::default();
    for entry in entries.iter() {
        for task in entry.depends_on.iter() {
            links.add(HandoffBundle::NAME, entry.task_id.as_str(), task.as_str());
        }
    }
    for (index, entry) in entries.iter().enumerate() {
        if let Some(circle) = links.circle(HandoffBundle::NAME, entry.task_id.as_str()) {
            let way = show(&circle.join(" for "));
            let message = format!("{way} for {}: these tasks wait for each other", entry.task_id);
            let help = "drop one of these dependencies";
            report.add(Pointer::at("/dependencies").item(index).key("depends_on"), message, help);
        }
    }
}
