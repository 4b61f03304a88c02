//! JSON pointers (RFC 6901): how a rule names a place.

use std::fmt;

/// A place in a document. Made only when something is wrong there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Pointer(String);

impl Pointer {
    /// The whole document.
    pub fn root() -> Self {
        Self::default()
    }

    /// Takes a pointer that is already in its escaped form, as written in a rule: `/task/lock_scope`.
    pub fn at(escaped: impl Into<String>) -> Self {
        Self(escaped.into())
    }

    /// The member `key` of this place.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        self.0.push('/');
        for letter in key.chars() {
            match letter {
                '~' => self.0.push_str("~0"),
                '/' => self.0.push_str("~1"),
                other => self.0.push(other),
            }
        }
        self
    }

    /// The item `index` of this place, from 0.
    #[must_use]
    pub fn item(mut self, index: usize) -> Self {
        self.0.push('/');
        self.0.push_str(&index.to_string());
        self
    }

    /// The place that holds this one; none for the root.
    pub fn parent(&self) -> Option<Pointer> {
        self.0.rfind('/').map(|cut| Pointer(self.0[..cut].to_owned()))
    }

    /// The last step, unescaped; none for the root.
    pub fn last(&self) -> Option<String> {
        self.0.rfind('/').map(|cut| unescape(&self.0[cut + 1..]))
    }

    /// The steps from the root, unescaped.
    pub fn steps(&self) -> impl Iterator<Item = String> + '_ {
        self.0.split('/').skip(1).map(unescape)
    }

    /// This place, seen from `base`: `base` followed by this pointer.
    #[must_use]
    pub fn below(&self, base: &Pointer) -> Pointer {
        Pointer(format!("{}{}", base.0, self.0))
    }

    /// Whether this is the place that `escaped` names, or lies in it.
    pub fn is_within(&self, escaped: &str) -> bool {
        self.0.strip_prefix(escaped).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The escaped form; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

impl fmt::Display for Pointer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl serde::Serialize for Pointer {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_back_as_they_went_in() {
        let pointer = Pointer::root().key("a/b").item(3).key("~");
        assert_eq!(pointer.as_str(), "/a~1b/3/~0");
        assert_eq!(pointer.steps().collect::<Vec<_>>(), ["a/b", "3", "~"]);
        assert_eq!(pointer.last().as_deref(), Some("~"));
        assert_eq!(pointer.parent(), Some(Pointer::at("/a~1b/3")));
        assert_eq!(Pointer::root().parent(), None);
    }

    #[test]
    fn a_place_lies_in_another_by_steps() {
        let cases =
            [("/a/b", "/a", true), ("/a", "/a", true), ("/ab", "/a", false), ("/a", "/a/b", false), ("/a", "", true)];
        for (place, part, expected) in cases {
            assert_eq!(Pointer::at(place).is_within(part), expected, "{place} {part}");
        }
    }
}
