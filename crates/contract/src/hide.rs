//! What is said about a document must not repeat its secrets.

use crate::{scan, show};
use aho_corasick::{AhoCorasick, MatchKind};
use countersign_diagnostic::{Diagnostic, Edit, Pointer};
use serde_json::Value;

/// What stands where a secret stood that only its key gave away.
pub(crate) const HIDDEN: &str = "[REDACTED:field]";

/// How many such secrets are looked for in what is said; beyond, nothing that quotes the document is said at all.
const SECRETS_MAX: usize = 1_000;

/// The secrets of a document that cannot be told by themselves, such as the value of a member called `password`.
#[derive(Debug, Default)]
pub(crate) struct Hidden(Vec<String>);

impl Hidden {
    pub(crate) fn add(&mut self, secret: &str) {
        if self.0.len() <= SECRETS_MAX {
            // As it is, and as a message would quote it.
            self.0.push(secret.to_owned());
            self.0.push(show(secret).trim_end_matches('…').to_owned());
            self.0.push(Value::from(secret).to_string().trim_matches('"').to_owned());
        }
    }

    /// Takes every secret out of what was found.
    pub(crate) fn cover(&self, findings: &mut [Diagnostic]) {
        let mut secrets: Vec<&str> = self.0.iter().map(String::as_str).filter(|secret| !secret.is_empty()).collect();
        secrets.sort_unstable();
        secrets.dedup();
        // One pass over the text as it was, so that a replacement is never searched again.
        let build = || AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&secrets).ok();
        let searcher = if secrets.is_empty() { None } else { build() };
        let cover = |text: &mut String| {
            if let Some(searcher) = searcher.as_ref().filter(|searcher| searcher.is_match(text.as_str())) {
                *text = searcher.replace_all(text, &vec![HIDDEN; secrets.len()]);
            }
            if let Some(redacted) = scan::redact(text) {
                *text = redacted;
            }
        };
        for finding in findings {
            cover(&mut finding.message);
            cover(&mut finding.help);
            finding.labels.iter_mut().for_each(|label| cover(&mut label.text));
            let mut place = finding.pointer.to_string();
            cover(&mut place);
            if place != finding.pointer.as_str() {
                // A key that is a secret: its place cannot be named, and so not mended by machine.
                finding.pointer = Pointer::at(place);
                finding.repair = None;
            }
            if let Some(repair) = &mut finding.repair {
                cover(&mut repair.summary);
                repair.patch.iter_mut().filter_map(Edit::value_mut).for_each(|value| each_text(value, &cover));
            }
        }
    }
}

fn each_text(value: &mut Value, change: &impl Fn(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, change)),
        Value::Object(members) => members.values_mut().for_each(|member| each_text(member, change)),
        _ => {}
    }
}

/// Redacts every secret of a value, in texts and in members whose key gives them away. Gives the pointers of what was
/// changed.
pub fn redact_value(value: &mut Value) -> Vec<Pointer> {
    let mut changed = Vec::new();
    redact_below(value, &Pointer::root(), &mut changed);
    changed
}

fn redact_below(value: &mut Value, at: &Pointer, changed: &mut Vec<Pointer>) {
    match value {
        Value::String(text) => {
            if let Some(redacted) = scan::redact(text) {
                *text = redacted;
                changed.push(at.clone());
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                redact_below(item, &at.clone().item(index), changed);
            }
        }
        Value::Object(members) => {
            for (key, member) in members.iter_mut() {
                let place = at.clone().key(key);
                let named = member.as_str().is_some_and(|text| scan::secret_member(key, text));
                redact_below(member, &place, changed);
                if named && changed.last() != Some(&place) {
                    *member = HIDDEN.into();
                    changed.push(place);
                }
            }
            redact_keys(members, at, changed);
        }
        _ => {}
    }
}

fn redact_keys(members: &mut serde_json::Map<String, Value>, at: &Pointer, changed: &mut Vec<Pointer>) {
    if members.keys().all(|key| scan::redact(key).is_none()) {
        return;
    }
    let old = std::mem::take(members);
    for (key, member) in old {
        let mut name = scan::redact(&key).unwrap_or_else(|| key.clone());
        if name != key {
            changed.push(at.clone().key(&name));
        }
        // Two keys may become the same when what told them apart is gone.
        while members.contains_key(&name) {
            name.push('_');
        }
        members.insert(name, member);
    }
}
