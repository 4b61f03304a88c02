//! What two sides come to that have nothing to do with each other.
//!
//! Where each file is changed by one side at most, and none is taken away, no file can have been renamed, and nothing is left
//! to decide: there is no content to merge, by whatever driver, and no setting that plays a part. Everything else git merges.

use super::{Edit, Objects};
use crate::worktree::change::Change;
use std::collections::{BTreeMap, BTreeSet};

impl Objects {
    /// The tree of one commit with what another one has changed since a base. None, if that is left to git.
    pub(crate) fn merged(&self, base: &str, ours: &str, theirs: &str) -> Option<String> {
        let (ours_changed, theirs_changed) = (self.between(base, ours)?, self.between(base, theirs)?);
        if ours_changed.iter().chain(&theirs_changed).any(|change| change.after().is_none()) {
            return None;
        }
        if meet(&ours_changed, &theirs_changed) {
            return None;
        }
        let edit = |change: Change| -> (Vec<u8>, Edit) {
            let after = change.after().map(|(mode, object)| (mode.to_owned(), object.to_owned()));
            (change.name, after)
        };
        let edits: BTreeMap<Vec<u8>, Edit> = theirs_changed.into_iter().map(edit).collect();
        self.edited(ours, edits)
    }
}

/// Whether both sides have changed the same file, or one a file where the other has a folder.
fn meet(ours: &[Change], theirs: &[Change]) -> bool {
    let with_folders = |changes: &[Change]| -> (BTreeSet<Vec<u8>>, BTreeSet<Vec<u8>>) {
        let files: BTreeSet<Vec<u8>> = changes.iter().map(|change| change.name.clone()).collect();
        let folders = files.iter().flat_map(|name| memchr::memchr_iter(b'/', name).map(|end| name[..end].to_vec()));
        let folders = folders.collect();
        (files, folders)
    };
    let ((our_files, our_folders), (their_files, their_folders)) = (with_folders(ours), with_folders(theirs));
    !our_files.is_disjoint(&their_files)
        || !our_files.is_disjoint(&their_folders)
        || !our_folders.is_disjoint(&their_files)
}
