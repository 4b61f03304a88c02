//! Entries of a scope that say nothing new.

use crate::work::payload::Resource;
use crate::work::places::nested;
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{Report, show};

/// Reports each entry of the scope at `list` that lies inside another one.
pub(crate) fn check(scope: &[Resource], list: impl Fn() -> Pointer, report: &mut Report) {
    for (inner, outer) in nested(scope, Resource::is_usable, |index| index) {
        let (one, other) = (show(scope[inner].as_str()), show(scope[outer].as_str()));
        let place = report.place(list().item(outer));
        let message = format!("`{one}` is already inside `{other}`");
        let found = report.add(list().item(inner), message, "remove it, or narrow the other entry");
        let pointer = found.pointer.clone();
        found.label(place, "contains it").repair(Repair::remove(pointer, "remove the entry"));
    }
}
