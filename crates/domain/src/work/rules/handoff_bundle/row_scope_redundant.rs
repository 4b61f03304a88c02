use crate::work::payload::HandoffBundle;
use crate::work::redundant_entry;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// No entry of a lock scope lies inside another one.
    ///
    /// ## Why
    /// The wider entry already allows what the narrower one says. Often the narrow one was meant and the wide one
    /// slipped in.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "in_progress", "owner": "coder",
    ///       "lock_scope": ["src/money", "src/money/round.rs"], "timeout_seconds": 1200,
    ///       "heartbeat_interval_seconds": 120, "priority": "high"
    ///     }
    ///   ],
    ///   "dependencies": []
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "in_progress", "owner": "coder",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high"
    ///     }
    ///   ],
    ///   "dependencies": []
    /// }
    /// ```
    pub static ROW_SCOPE_REDUNDANT: HandoffBundle = {
        id: "row-scope-redundant",
        code: SchemaInvalid,
        severity: Warning,
        summary: "an entry of the lock scope of a row lies inside another",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    for (index, row) in it.record.ledger.iter().enumerate() {
        redundant_entry::check(&row.lock_scope, || Pointer::at("/ledger").item(index).key("lock_scope"), report);
    }
}
