//! A tree with other files in it.

use super::comparing::DEPTH_MAX;
use super::{Entry, FOLDER, Objects, known_mode, unwritten, written};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What becomes of a file: its mode and its object, or none if it goes.
pub(crate) type Edit = Option<(String, String)>;

/// What becomes of the things in one folder: of what has the name itself, and of what is below it.
#[derive(Default)]
struct Edits {
    own: Option<Edit>,
    below: BTreeMap<Vec<u8>, Edit>,
}

impl Objects {
    /// The tree of a commit with other files in it, by their names from the top. None, if that is left to git.
    pub(crate) fn edited(&self, commit: &str, edits: BTreeMap<Vec<u8>, Edit>) -> Option<String> {
        let tree = self.tree(commit)?;
        if edits.is_empty() {
            return Some(tree.object);
        }
        // An agent can leave folders in folders for as long as it likes.
        if edits.keys().any(|name| memchr::memchr_iter(b'/', name).count() >= DEPTH_MAX) {
            return None;
        }
        // A tree without anything is nothing that is written here.
        self.edit(&tree.entries, edits)?
    }

    /// None, if that is left to git; and none, if nothing is in it any more.
    fn edit(&self, entries: &[Entry], edits: BTreeMap<Vec<u8>, Edit>) -> Option<Option<String>> {
        let edits = by_folder(edits);
        let mut after: Vec<Entry> = Vec::with_capacity(entries.len() + edits.len());
        after.extend(entries.iter().filter(|entry| !edits.contains_key(&entry.name)).cloned());
        let before: HashMap<&[u8], &Entry> = entries.iter().map(|entry| (entry.name.as_slice(), entry)).collect();
        for (name, edits) in edits {
            let there = before.get(name.as_slice()).copied();
            let (mode, object) = match (edits.own, there) {
                (Some(Some((mode, object))), _) => {
                    // What was below goes with it, or it cannot be.
                    if edits.below.values().any(Option::is_some) || mode == FOLDER {
                        return None;
                    }
                    (known_mode(mode.as_bytes())?, unwritten(&object)?)
                }
                // A file that nobody takes away, and something below it.
                (None, Some(file)) if !file.is_folder() => return None,
                (_, there) => {
                    let inner = match there.filter(|it| it.is_folder()) {
                        Some(folder) => self.tree(&written(&folder.object))?.entries,
                        None => Arc::new([]) as Arc<[Entry]>,
                    };
                    match self.edit(&inner, edits.below)? {
                        Some(object) => (FOLDER, unwritten(&object)?),
                        None => continue,
                    }
                }
            };
            after.push(Entry { name, mode, object });
        }
        if after.is_empty() { Some(None) } else { self.write_tree(after).map(Some) }
    }
}

fn by_folder(edits: BTreeMap<Vec<u8>, Edit>) -> BTreeMap<Vec<u8>, Edits> {
    let mut all: BTreeMap<Vec<u8>, Edits> = BTreeMap::new();
    for (name, edit) in edits {
        match memchr::memchr(b'/', &name) {
            Some(end) => {
                let edits = all.entry(name[..end].to_vec()).or_default();
                edits.below.insert(name[end + 1..].to_vec(), edit);
            }
            None => all.entry(name).or_default().own = Some(edit),
        }
    }
    all
}
