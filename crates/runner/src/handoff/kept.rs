//! The files with what was taken out of a handoff: which names are free, which file grows, and what it holds.

use super::{keeping, reach};
use crate::files;
use countersign_contract::{Outside, SIZE_MAX, sha256_hex};
use countersign_domain::handoff::location;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// The world with those of the names for what is taken out that are taken: which names there are, and which is
/// chosen, only the handoff's own rules say. A name where there is no file is not listed, since it is not missed.
pub fn with_names_taken(outside: &Outside, handoff: &Value, document: &Path, root: Option<&Path>) -> Outside {
    let mut outside = outside.clone();
    let session = handoff.pointer("/handoff/source/session_path").and_then(Value::as_str);
    let Some(session) = session else { return outside };
    let taken = RefCell::new(Vec::new());
    location::of_kept(session, |name| {
        let there = reach::place(name, document, root).is_some_and(|path| path.exists());
        if there {
            taken.borrow_mut().push(name.to_owned());
        }
        there
    });
    outside.files.extend(taken.into_inner().into_iter().map(|name| (name, true)));
    outside
}

/// The file that a handoff refers to for what was taken out of it before, if more can be added to it.
pub fn before(handoff: &Value, document: &Path, root: Option<&Path>, size_max: usize) -> Option<(String, PathBuf)> {
    let mut places = names(handoff).filter_map(|name| Some((name, reach::place(name, document, root)?)));
    let (name, place) = places.find(|(_, place)| keeping::may_grow(place, size_max))?;
    Some((name.to_owned(), place))
}

/// What was taken out of a handoff, as the files say that it refers to.
pub fn taken(handoff: &Value, document: &Path, root: Option<&Path>) -> Vec<String> {
    let places = names(handoff).filter_map(|name| {
        let bytes = files::read_regular(&reach::place(name, document, root)?, SIZE_MAX).ok()?;
        serde_json::from_slice::<Value>(&bytes).ok()
    });
    let mut taken = Vec::new();
    for kept in places.filter(|kept| kept["kept_by"].is_string()) {
        let later = kept["later"].as_array().into_iter().flatten();
        let values = [&kept["values"]].into_iter().chain(later).filter_map(Value::as_object);
        taken.extend(values.flat_map(|values| values.keys().cloned()));
    }
    taken.sort_unstable();
    taken.dedup();
    taken
}

/// The same files with the SHA-256 and the size of each, as commands about handoffs take them. One that is gone, or cannot be
/// read whole, is left out.
pub fn sums(handoff: &Value, document: &Path, root: Option<&Path>) -> Vec<Value> {
    let sum = |name: &str| {
        let bytes = files::read_regular(&reach::place(name, document, root)?, SIZE_MAX).ok()?;
        Some(json!({ "path": name, "sha256": sha256_hex(&bytes), "bytes": bytes.len() }))
    };
    names(handoff).filter_map(sum).collect()
}

/// The files that a handoff names for what was taken out of it.
pub fn names(handoff: &Value) -> impl Iterator<Item = &str> {
    let files = handoff.pointer("/handoff/payload/references/files").and_then(Value::as_array);
    let paths = files.into_iter().flatten().filter_map(|file| file["path"].as_str());
    paths.filter(|path| location::is_kept(path))
}
