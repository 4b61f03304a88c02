//! The files with what was taken out of a handoff, bound to it by what they hold.

use crate::handoff::row::{KeptRow, StepRow};
use countersign_contract::{Int, Text, scan, shape, show};

shape! {
    /// A file with what was taken out of a handoff.
    pub closed struct KeptFile {
        /// Its name in the handoff.
        pub path: Text<1, 1000> = ".countersign/sessions/550e8400/handoffs/session-context.json",
        /// Its SHA-256.
        pub sha256: Text<64, 64> = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        /// How many bytes it has.
        pub bytes: Int<0>,
    }
}

/// The name of such a file as the ledger has it: without secrets.
pub(super) fn name(path: &str) -> String {
    scan::redact(path).unwrap_or_else(|| path.to_owned())
}

/// What is recorded of the files that a handoff names. Others were not taken out of it.
pub(super) fn rows(files: &[KeptFile], named: &[String]) -> Vec<KeptRow> {
    let row = |file: &KeptFile| KeptRow {
        path: name(file.path.as_str()),
        sha256: file.sha256.as_str().to_ascii_lowercase(),
        bytes: file.bytes.get().unsigned_abs(),
    };
    files.iter().map(row).filter(|row| named.contains(&row.path)).collect()
}

/// The file that was there when a handoff was sent, and is not among those that who receives can read.
pub(super) fn gone<'s>(step: &'s StepRow, files: &[KeptFile]) -> Option<&'s str> {
    let found = rows(files, &step.kept);
    let mut sums = step.sums.iter().map(|was| was.path.as_str());
    sums.find(|was| found.iter().all(|is| is.path != *was))
}

/// Why files are not what they were when a handoff was sent; none, if they are. What is not there says nothing.
pub(super) fn difference(step: &StepRow, files: &[KeptFile]) -> Option<String> {
    let found = rows(files, &step.kept);
    let is_changed = |was: &&KeptRow| found.iter().any(|is| is.path == was.path && is != *was);
    let changed = step.sums.iter().find(is_changed)?;
    Some(format!("{} with what was taken out of it was changed after it was sent", show(&changed.path)))
}
