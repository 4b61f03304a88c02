//! Paths of evidence: relative to the repository, clean, and inside it.

use crate::paths::{self, Reach};
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{Report, show};

/// Says so if a path is not clean, and offers it cleaned where only its writing is at fault.
pub(crate) fn check(path: &str, pointer: &'static str, report: &mut Report) {
    let Some(fault) = paths::fault(path, Reach::Below) else { return };
    let message = format!("`{}` {fault}", show(path));
    let help = "write a path relative to the repository, such as `docs/check.md`";
    let found = report.add(Pointer::at(pointer), message, help);
    if let Some(clean) = paths::tidied(path, None) {
        found.repair(Repair::replace(Pointer::at(pointer), clean, "write the same path cleanly"));
    }
}
