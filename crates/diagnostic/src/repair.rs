//! A change that mends a finding, as data: the operations of RFC 6902 (JSON Patch) that are needed here.

use crate::Pointer;
use serde::Serialize;
use serde_json::Value;

/// A change to a document that mends what a rule found. It belongs to the rule that offers it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repair {
    /// What it does, as a lower-case clause: `set the heartbeat to half of the timeout`.
    pub summary: String,
    /// The operations, in order.
    pub patch: Vec<Edit>,
}

/// One operation of a repair.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Edit {
    /// Sets a member, or inserts an item before `path` (`-` is the end of a list).
    Add {
        /// Where.
        path: Pointer,
        /// What.
        value: Value,
    },
    /// Puts another value in the place of the one that is there.
    Replace {
        /// Where.
        path: Pointer,
        /// What.
        value: Value,
    },
    /// Takes a member or an item away.
    Remove {
        /// Where.
        path: Pointer,
    },
}

impl Repair {
    /// Sets a member that is absent.
    pub fn add(path: Pointer, value: impl Into<Value>, summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), patch: vec![Edit::Add { path, value: value.into() }] }
    }

    /// Puts another value in the place of the one that is there.
    pub fn replace(path: Pointer, value: impl Into<Value>, summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), patch: vec![Edit::Replace { path, value: value.into() }] }
    }

    /// Takes a member or an item away.
    pub fn remove(path: Pointer, summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), patch: vec![Edit::Remove { path }] }
    }

    /// Does the repair to `document`. Says whether every operation found its place; if one did not, the document is
    /// left as it was.
    pub fn apply(&self, document: &mut Value) -> bool {
        // One operation lands or changes nothing; of several, the first must be undone when a later one does not land.
        if let [edit] = self.patch.as_slice() {
            return edit.apply(document);
        }
        let mut copy = document.clone();
        let landed = self.patch.iter().all(|edit| edit.apply(&mut copy));
        if landed {
            *document = copy;
        }
        landed
    }
}

impl Edit {
    /// Where the operation takes place.
    pub fn path(&self) -> &Pointer {
        match self {
            Edit::Add { path, .. } | Edit::Replace { path, .. } | Edit::Remove { path } => path,
        }
    }

    /// The value that the operation brings, if it brings one.
    pub fn value_mut(&mut self) -> Option<&mut Value> {
        match self {
            Edit::Add { value, .. } | Edit::Replace { value, .. } => Some(value),
            Edit::Remove { .. } => None,
        }
    }

    fn apply(&self, document: &mut Value) -> bool {
        let path = self.path();
        let (Some(parent), Some(last)) = (path.parent(), path.last()) else {
            if let Edit::Replace { value, .. } | Edit::Add { value, .. } = self {
                *document = value.clone();
                return true;
            }
            return false;
        };
        match (document.pointer_mut(parent.as_str()), self) {
            (Some(Value::Object(members)), Edit::Add { value, .. }) => {
                members.insert(last, value.clone());
                true
            }
            (Some(Value::Object(members)), Edit::Replace { value, .. }) => {
                members.get_mut(&last).map(|old| *old = value.clone()).is_some()
            }
            (Some(Value::Object(members)), Edit::Remove { .. }) => members.shift_remove(&last).is_some(),
            (Some(Value::Array(items)), Edit::Add { value, .. }) => {
                let index = if last == "-" { Some(items.len()) } else { last.parse().ok() };
                let index = index.filter(|index| *index <= items.len());
                index.map(|index| items.insert(index, value.clone())).is_some()
            }
            (Some(Value::Array(items)), Edit::Replace { value, .. }) => {
                let old = last.parse::<usize>().ok().and_then(|index| items.get_mut(index));
                old.map(|old| *old = value.clone()).is_some()
            }
            (Some(Value::Array(items)), Edit::Remove { .. }) => {
                let index = last.parse().ok().filter(|index: &usize| *index < items.len());
                index.map(|index| items.remove(index)).is_some()
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn operations_do_what_the_rfc_says() {
        let cases = [
            (Repair::add(Pointer::at("/b"), 2, ""), json!({"a": [1], "b": 2}), true),
            (Repair::add(Pointer::at("/a/0"), 0, ""), json!({"a": [0, 1]}), true),
            (Repair::add(Pointer::at("/a/-"), 2, ""), json!({"a": [1, 2]}), true),
            (Repair::add(Pointer::at("/a/5"), 2, ""), json!({"a": [1]}), false),
            (Repair::replace(Pointer::at("/a"), "x", ""), json!({"a": "x"}), true),
            (Repair::replace(Pointer::at("/z"), "x", ""), json!({"a": [1]}), false),
            (Repair::remove(Pointer::at("/a/0"), ""), json!({"a": []}), true),
            (Repair::remove(Pointer::at("/a/1"), ""), json!({"a": [1]}), false),
        ];
        for (repair, expected, landed) in cases {
            let mut document = json!({"a": [1]});
            assert_eq!((repair.apply(&mut document), &document), (landed, &expected), "{repair:?}");
        }
    }
}
