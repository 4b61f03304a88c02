//! Two tasks that hold the same thing.

use crate::work::payload::ActiveLock;
use crate::work::places::nested;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, show};

/// Reports each lock in `/active_locks` that lies inside an active lock of another task.
pub(crate) fn check(locks: &[ActiveLock], report: &mut Report) {
    for (inner, outer) in nested(locks, |lock| lock.active && lock.resource.is_usable(), |index| &locks[index].task_id)
    {
        let (one, other) = (&locks[inner], &locks[outer]);
        let resource = show(one.resource.as_str());
        let message = format!("{} and {} both hold `{resource}`", one.task_id, other.task_id);
        let place = report.place(Pointer::at("/active_locks").item(outer).key("resource"));
        let found = report.add(
            Pointer::at("/active_locks").item(inner).key("resource"),
            message,
            "release one of the two; only one task may hold a resource and what is inside it",
        );
        found.label(place, format!("held by {}", other.task_id));
    }
}
