//! Taking things out of a handoff without losing them.

use super::REFERENCES;
use crate::handoff::{budget, location, upkeep};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::fix::Climb;
use countersign_contract::serde_json::{Value, json};
use countersign_contract::show;
use countersign_tokens::Encoding;
use std::collections::BTreeSet;

/// By how many tokens hash, size and count of a handoff can differ from what they were before they are renewed.
const SEAL_TOKENS_MAX: usize = 128;

/// A handoff that is being shortened, and where what leaves it is kept.
pub(super) struct Keeper<'k, 'c> {
    pub(super) document: &'k mut Value,
    pub(super) climb: &'k mut Climb<'c>,
    pub(super) encoding: Encoding,
    pub(super) limit: usize,
    kept_at: String,
    /// The places of what is kept, in order, so that what lies inside of something is found at once.
    places: BTreeSet<String>,
    /// The places of what is kept with something around it now.
    gone: BTreeSet<String>,
    changes: Vec<String>,
}

impl<'k, 'c> Keeper<'k, 'c> {
    /// None if there is nowhere to keep anything.
    pub(super) fn new(document: &'k mut Value, climb: &'k mut Climb<'c>) -> Option<Self> {
        let kept_at = match &climb.kept_at {
            Some(path) => path.clone(),
            None => {
                let session = document.pointer("/handoff/source/session_path").and_then(Value::as_str)?;
                let there = |path: &str| climb.outside.files.get(path) == Some(&true);
                location::of_kept(session, |path| there(path) || files(document).any(|it| it == path))?
            }
        };
        let (encoding, limit) = (budget::encoding(climb.settings), climb.settings.tokens_max);
        let places = climb.kept.keys().cloned().collect();
        Some(Self { document, climb, encoding, limit, kept_at, places, gone: BTreeSet::new(), changes: Vec::new() })
    }

    /// Whether the handoff is within its budget, counted as it will be written.
    pub(super) fn fits(&self) -> bool {
        let text = self.document.to_string();
        if self.encoding.count_within(&text, self.limit.saturating_add(SEAL_TOKENS_MAX)).is_none() {
            return false;
        }
        let mut sealed = self.document.clone();
        upkeep::seal(&mut sealed);
        self.encoding.count_within(&sealed.to_string(), self.limit).is_some()
    }

    /// Takes the member at `pointer` out, if it is there.
    pub(super) fn take(&mut self, pointer: &Pointer) {
        let (Some(parent), Some(key)) = (pointer.parent(), pointer.last()) else { return };
        let owner = self.document.pointer_mut(parent.as_str()).and_then(Value::as_object_mut);
        if let Some(value) = owner.and_then(|owner| owner.shift_remove(&key)) {
            self.keep(pointer, value, "moved");
        }
    }

    /// Puts a shorter text or list in the place of the one at `pointer`.
    pub(super) fn shorten(&mut self, pointer: &Pointer, shorter: Value) {
        let Some(place) = self.document.pointer_mut(pointer.as_str()) else { return };
        let value = std::mem::replace(place, shorter);
        self.keep(pointer, value, "shortened, the whole is");
    }

    /// Puts a word of what is missing in the place of a list or an object. What was shortened inside of it goes with it, whole.
    pub(super) fn put_out(&mut self, pointer: &Pointer, word: String) {
        let Some(place) = self.document.pointer_mut(pointer.as_str()) else { return };
        let mut value = std::mem::replace(place, word.into());
        let below = format!("{pointer}/");
        let inside: Vec<String> =
            self.places.range(below.clone()..).take_while(|at| at.starts_with(&below)).cloned().collect();
        for at in inside {
            let part = at.strip_prefix(pointer.as_str()).and_then(|rest| value.pointer_mut(rest));
            if let (Some(part), Some(whole)) = (part, self.climb.kept.get_mut(&at)) {
                *part = std::mem::take(whole);
                self.places.remove(&at);
                self.gone.insert(at);
            }
        }
        self.keep(pointer, value, "moved");
    }

    /// Puts a default in the place of what is at `pointer`.
    pub(super) fn replace(&mut self, pointer: &Pointer, default: Value) {
        let Some(place) = self.document.pointer_mut(pointer.as_str()) else { return };
        let value = std::mem::replace(place, default);
        self.keep(pointer, value, "set to its default, what was there is");
    }

    /// Takes out every reference but those to what is kept, now or by an earlier repair.
    pub(super) fn take_references(&mut self) {
        let pointer = Pointer::at(REFERENCES);
        let Some(Value::Object(mut rest)) = self.document.pointer(pointer.as_str()).cloned() else { return };
        let mut stays = json!({});
        if let Some(Value::Array(files)) = rest.get_mut("files") {
            let is_kept = |path: &str| path == self.kept_at || location::is_kept(path);
            let stay: Vec<Value> =
                files.extract_if(.., |file| file.get("path").and_then(Value::as_str).is_some_and(is_kept)).collect();
            if !stay.is_empty() {
                stays["files"] = stay.into();
            }
        }
        rest.retain(|_, list| list.as_array().is_none_or(|list| !list.is_empty()));
        if rest.is_empty() {
            return;
        }
        if let Some(place) = self.document.pointer_mut(pointer.as_str()) {
            *place = stays;
        }
        self.keep(&pointer, Value::Object(rest), "moved");
    }

    fn keep(&mut self, pointer: &Pointer, value: Value, what: &str) {
        // What was kept first is the original.
        self.climb.kept.entry(pointer.as_str()).or_insert(value);
        self.places.insert(pointer.as_str().to_owned());
        self.climb.kept_at = Some(self.kept_at.clone());
        self.changes.push(format!("{pointer}: {what} in `{}`", show(&self.kept_at)));
        self.refer();
    }

    /// Leaves the one reference to what is kept.
    fn refer(&mut self) {
        if files(self.document).any(|path| path == self.kept_at) {
            return;
        }
        let entry = json!({
            "path": self.kept_at,
            "description": "what was taken out of this handoff",
            "relevance": "important",
        });
        let payload = self.document.pointer_mut("/handoff/payload").and_then(Value::as_object_mut);
        let references = payload.map(|payload| payload.entry("references").or_insert_with(|| json!({})));
        let references = references.and_then(Value::as_object_mut);
        let files = references.map(|references| references.entry("files").or_insert_with(|| json!([])));
        if let Some(files) = files.and_then(Value::as_array_mut) {
            files.push(entry);
        }
    }

    /// What was done, one clause for each change.
    pub(super) fn into_changes(self) -> Vec<String> {
        self.climb.kept.retain(|at, _| !self.gone.contains(at));
        self.changes
    }
}

/// The paths that a handoff refers to.
fn files(document: &Value) -> impl Iterator<Item = &str> {
    let files = document.pointer("/handoff/payload/references/files").and_then(Value::as_array);
    files.into_iter().flatten().filter_map(|file| file.get("path")?.as_str())
}
