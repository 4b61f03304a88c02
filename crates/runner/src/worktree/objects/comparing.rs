//! How two trees differ.

use super::{Entry, Objects, written};
use crate::worktree::change::Change;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many folders deep is looked.
pub(super) const DEPTH_MAX: usize = 200;

impl Objects {
    /// Every file that differs between two trees, or commits, by their full names. None, if that is left to git.
    pub(crate) fn between(&self, old: &str, new: &str) -> Option<Vec<Change>> {
        let (old, new) = (self.tree(old)?, self.tree(new)?);
        let mut changes = Vec::new();
        if old.object != new.object {
            self.compare(&[], &old.entries, &new.entries, 0, &mut changes)?;
        }
        // As git orders them: by the whole of their names.
        changes.sort_by(|one, other| one.name.cmp(&other.name));
        Some(changes)
    }

    fn compare(
        &self,
        above: &[u8],
        old: &[Entry],
        new: &[Entry],
        depth: usize,
        changes: &mut Vec<Change>,
    ) -> Option<()> {
        for (name, sides) in differing(old, new) {
            let path = [above, name].concat();
            let files = sides.map(|side| side.filter(|entry| !entry.is_folder()));
            if files.iter().any(Option::is_some) {
                let [old, new] = files.map(|file| file.map(|entry| (entry.mode, written(&entry.object))));
                let width = sides.iter().flatten().map(|entry| entry.object.len() * 2).max()?;
                changes.push(Change::of(old, new, width, path.clone()));
            }
            let folders = sides.map(|side| side.filter(|entry| entry.is_folder()));
            if folders.iter().any(Option::is_some) {
                let inner = |folder: Option<&Entry>| match folder {
                    Some(folder) => self.tree(&written(&folder.object)).map(|tree| tree.entries),
                    None => Some(Arc::new([]) as Arc<[Entry]>),
                };
                let (old, new) = (inner(folders[0])?, inner(folders[1])?);
                let depth = Some(depth + 1).filter(|depth| *depth < DEPTH_MAX)?;
                self.compare(&[&path, b"/".as_slice()].concat(), &old, &new, depth, changes)?;
            }
        }
        Some(())
    }
}

/// What is not the same on both sides, by its name.
fn differing<'e>(old: &'e [Entry], new: &'e [Entry]) -> BTreeMap<&'e [u8], [Option<&'e Entry>; 2]> {
    // Most of a large folder is the same before and behind what has changed.
    let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[same..], &new[same..]);
    let same = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[..old.len() - same], &new[..new.len() - same]);
    let mut both: BTreeMap<&[u8], [Option<&Entry>; 2]> = BTreeMap::new();
    for entry in old {
        both.entry(&entry.name).or_default()[0] = Some(entry);
    }
    for entry in new {
        both.entry(&entry.name).or_default()[1] = Some(entry);
    }
    both.retain(|_, [old, new]| old != new);
    both
}
