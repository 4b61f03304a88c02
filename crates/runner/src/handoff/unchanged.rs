//! What an agent must leave as it was when it mends a handoff: everything that no finding points at.
//!
//! **Invariant:** a finding frees the place that it points at, with all that is inside, and nothing beside or above it.

use countersign_contract::diagnostic::{Diagnostic, Pointer};
use countersign_contract::{INTEGER_MAX, rules};
use serde_json::{Number, Value};

/// What sealing renews, whatever an answer says of it: the part that holds it, and its name there.
pub(super) const SEALED: [(&str, &str); 3] =
    [("/handoff/meta", "payload_hash"), ("/handoff/meta", "payload_size_bytes"), ("/handoff/meta", "token_count")];

/// What a finding about the whole handoff frees, such as that it is too long. Who hands what to whom, until when and with whose
/// word is no matter of length.
const SHORTENED: [&str; 2] = ["/handoff/context", "/handoff/payload"];

/// The places with which something is wrong.
pub(super) struct Wrong(Vec<String>);

impl Wrong {
    pub fn of<'d>(errors: impl Iterator<Item = &'d Diagnostic>) -> Self {
        // That there are more findings than are listed says nothing about any place.
        let listed = errors.filter(|it| it.rule != rules::FINDINGS_CUT.id);
        Self::at(listed.map(|it| it.pointer.as_str()))
    }

    fn at<'p>(places: impl Iterator<Item = &'p str>) -> Self {
        let mut wrong = Vec::new();
        for place in places {
            match place {
                "" | "/handoff" => wrong.extend(SHORTENED.map(str::to_owned)),
                place => wrong.push(place.to_owned()),
            }
        }
        Self(wrong)
    }

    /// The first place that differs and was not wrong, by value: order of members and white space change nothing.
    pub fn changed(&self, before: &Value, after: &Value) -> Option<Pointer> {
        self.differs(&Pointer::root(), Some(before), Some(after))
    }

    fn frees(&self, place: &Pointer) -> bool {
        let inside = |wrong: &String| place.as_str().strip_prefix(wrong.as_str());
        self.0.iter().filter_map(inside).any(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    fn differs(&self, at: &Pointer, before: Option<&Value>, after: Option<&Value>) -> Option<Pointer> {
        if self.frees(at) || is_sealed(at) {
            return None;
        }
        match (before, after) {
            (Some(Value::Object(before)), Some(Value::Object(after))) => {
                let added = after.keys().filter(|key| !before.contains_key(*key));
                let mut keys = before.keys().chain(added);
                keys.find_map(|key| self.differs(&at.clone().key(key), before.get(key), after.get(key)))
            }
            (Some(Value::Array(before)), Some(Value::Array(after))) => self.differs_in_list(at, before, after),
            (Some(Value::Number(before)), Some(Value::Number(after))) if is_same(before, after) => None,
            (before, after) => (before != after).then(|| at.clone()),
        }
    }

    /// An item that is wrong may be left out; those behind it move up then, and are still what they were.
    fn differs_in_list(&self, at: &Pointer, before: &[Value], after: &[Value]) -> Option<Pointer> {
        let mut left_out = before.len().saturating_sub(after.len());
        let mut next = 0;
        for (index, item) in before.iter().enumerate() {
            let (place, found) = (at.clone().item(index), after.get(next));
            if left_out > 0 && self.frees(&place) && found != Some(item) {
                left_out -= 1;
                continue;
            }
            if let Some(place) = self.differs(&place, Some(item), found) {
                return Some(place);
            }
            next += 1;
        }
        (next < after.len()).then(|| at.clone().item(next))
    }
}

fn is_sealed(place: &Pointer) -> bool {
    let inside = |part: &str| place.as_str().strip_prefix(part).and_then(|rest| rest.strip_prefix('/'));
    SEALED.iter().any(|(part, field)| inside(part) == Some(field))
}

/// Whether two numbers are one: 1 and 1.0 are, as far as every reader keeps numbers exactly.
fn is_same(one: &Number, other: &Number) -> bool {
    let exact = |it: &Number| it.as_f64().filter(|it| it.abs() <= INTEGER_MAX as f64);
    one == other || exact(one).is_some_and(|one| exact(other) == Some(one))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    fn document() -> Value {
        json!({ "handoff": {
            "expires_at": "2999-01-01T00:00:00Z",
            "target": { "skill": "builder" },
            "context": { "summary": "Build it", "problem_type": "gardening" },
            "payload": { "working": { "a": 1, "b": [1, 2, 3], "big": 9_007_199_254_740_993_u64 } },
            "meta": { "token_count": 1, "payload_hash": "sha256:0", "confidence": "low" },
        } })
    }

    /// What is wrong, what is set and where, and the place that may not be.
    type Row = (&'static [&'static str], &'static [(&'static str, &'static str)], Option<&'static str>);

    #[test]
    fn a_finding_frees_its_place_and_what_is_inside_and_nothing_else() {
        let rows: &[Row] = &[
            (&[], &[], None),
            (&["/handoff/context/problem_type"], &[("/context/problem_type", r#""research""#)], None),
            (&["/handoff/context/problem_type"], &[("/context/summary", r#""x""#)], Some("/handoff/context/summary")),
            // A name that begins alike is another place.
            (&["/handoff/context/sum"], &[("/context/summary", r#""x""#)], Some("/handoff/context/summary")),
            // What is missing frees itself alone.
            (&["/handoff/context/gaps"], &[("/context/gaps", "[1]")], None),
            (&["/handoff/context/gaps"], &[("/context/more", "[1]")], Some("/handoff/context/more")),
            (&["/handoff/payload/working/b/1"], &[("/payload/working/b", "[1, 7, 3]")], None),
            (&["/handoff/payload/working/b/1"], &[("/payload/working/b", "[1, 3]")], None),
            (
                &["/handoff/payload/working/b/1"],
                &[("/payload/working/b", "[1, 2]")],
                Some("/handoff/payload/working/b/2"),
            ),
            (
                &["/handoff/payload/working/b/1"],
                &[("/payload/working/b", "[1, 2, 3, 4]")],
                Some("/handoff/payload/working/b/3"),
            ),
            (&["/handoff/payload/working/b/1"], &[("/payload/working/b", "[3]")], Some("/handoff/payload/working/b/0")),
            (&["/handoff/payload/working/b"], &[("/payload/working/b", "[]")], None),
            (&["/handoff/payload/working/b"], &[("/payload/working/a", "2")], Some("/handoff/payload/working/a")),
            // What sealing renews may be anything; what is beside it may not.
            (&[], &[("/meta/token_count", "9"), ("/meta/payload_hash", "null")], None),
            (&[], &[("/meta/confidence", r#""high""#)], Some("/handoff/meta/confidence")),
            // One number, and two that only seem to be one.
            (&[], &[("/payload/working/a", "1.0")], None),
            (&[], &[("/payload/working/a", r#""1""#)], Some("/handoff/payload/working/a")),
            (&[], &[("/payload/working/big", "9007199254740992")], Some("/handoff/payload/working/big")),
            // That the whole is too long is no reason for another target.
            (&["/handoff"], &[("/payload/working/b", "[]"), ("/context/summary", r#""x""#)], None),
            (&["/handoff"], &[("/target/skill", r#""eve""#)], Some("/handoff/target/skill")),
            (&[""], &[("/expires_at", "null")], Some("/handoff/expires_at")),
        ];
        for (wrong, sets, wanted) in rows {
            let mut after = document();
            for (at, value) in *sets {
                let (part, name) = at.rsplit_once('/').unwrap();
                after["handoff"].pointer_mut(part).unwrap()[name] = serde_json::from_str(value).unwrap();
            }
            let found = Wrong::at(wrong.iter().copied()).changed(&document(), &after);
            assert_eq!(found.as_ref().map(Pointer::as_str), *wanted, "{wrong:?} {sets:?}");
        }
        // What is taken away is a change too, and another order of members is none.
        let mut less = document();
        less["handoff"].as_object_mut().unwrap().shift_remove("expires_at").unwrap();
        assert_eq!(Wrong(Vec::new()).changed(&document(), &less), Some(Pointer::at("/handoff/expires_at")));
        less["handoff"]["expires_at"] = document()["handoff"]["expires_at"].clone();
        assert_eq!(Wrong(Vec::new()).changed(&document(), &less), None);
    }
}
