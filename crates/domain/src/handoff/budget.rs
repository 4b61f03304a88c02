//! How a handoff's tokens are meant to be spent: a budget for each part, and one for the whole.
//!
//! The parts add up to the limit of the whole. Passing one is a warning, because a handoff with much to say in one part
//! and little in another is still one that fits; passing the whole refuses.

use super::measure::{Gauge, Size, marks};
use super::upkeep::stated_count;
use countersign_contract::serde_json::Value;
use countersign_contract::{Cursor, Settings};
use countersign_tokens::Encoding;

/// A part of a handoff with a budget of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tier {
    /// What it is called.
    pub name: &'static str,
    /// Where it begins.
    pub pointer: &'static str,
    /// How many tokens it should have at most.
    pub tokens_max: usize,
}

/// The parts, in the order of a document.
pub const TIERS: [Tier; 7] = [
    Tier { name: "metadata", pointer: "/handoff", tokens_max: 100 },
    Tier { name: "source and target", pointer: "/handoff/source", tokens_max: 50 },
    Tier { name: "context", pointer: "/handoff/context", tokens_max: 200 },
    Tier { name: "working payload", pointer: "/handoff/payload/working", tokens_max: 500 },
    Tier { name: "session payload", pointer: "/handoff/payload/session", tokens_max: 800 },
    Tier { name: "references", pointer: "/handoff/payload/references", tokens_max: 200 },
    Tier { name: "meta and tracing", pointer: "/handoff/meta", tokens_max: 150 },
];

/// Which part a member belongs to.
fn tier_of(key: &str) -> Option<usize> {
    match key {
        "version" | "schema_type" | "timestamp" | "expires_at" | "trace_id" => Some(0),
        "source" | "target" => Some(1),
        "context" => Some(2),
        "working" => Some(3),
        "session" => Some(4),
        "references" => Some(5),
        "meta" | "tracing" => Some(6),
        _ => None,
    }
}

/// The sizes of a handoff and of its parts, from one walk over the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Measure {
    /// The whole document.
    pub total: Size,
    /// The payload.
    pub payload: Size,
    /// Each of [`TIERS`].
    pub tiers: [Size; TIERS.len()],
}

impl Measure {
    /// Measures a document that has the shape of a handoff.
    pub fn of(root: Cursor<'_>) -> Self {
        let mut measure = Self::default();
        measure.total = measure.object(Gauge::of(root), root);
        measure
    }

    /// The size of an object whose members belong to parts, or hold members that do.
    fn object(&mut self, gauge: Gauge, at: Cursor<'_>) -> Size {
        let (mut total, mut count) = (Size::default(), 0);
        for member in at.entries() {
            let (key, value) = member;
            let name = key.text().unwrap_or_default();
            total += match name {
                // Quotes and colon of a key of seven letters.
                "handoff" | "payload" => {
                    let size = self.object(gauge, value);
                    if name == "payload" {
                        self.payload = size;
                    }
                    size + Size { bytes: 10, chars: 10 }
                }
                _ => {
                    let size = gauge.member(member);
                    if let Some(tier) = tier_of(name) {
                        self.tiers[tier] += size;
                    }
                    size
                }
            };
            count += 1;
        }
        total + marks(count)
    }
}

/// The members of one part.
pub fn members(root: Cursor<'_>, tier: usize) -> impl Iterator<Item = Cursor<'_>> {
    let handoff = root.get("handoff");
    let payload = handoff.and_then(|it| it.get("payload"));
    let entries = handoff.into_iter().chain(payload).flat_map(Cursor::entries);
    entries.filter(move |(key, _)| tier_of(key.text().unwrap_or_default()) == Some(tier)).map(|(_, value)| value)
}

/// The way of counting that the settings name. A name that is not known counts as the strict default does.
pub fn encoding(settings: &Settings) -> Encoding {
    settings.encoding.parse().unwrap_or(Encoding::O200kBase)
}

/// States the exact number of tokens in `meta.token_count`, if that is there and the handoff stays within its limit: the
/// number is part of what it counts.
pub fn state_count(document: &mut Value, settings: &Settings) {
    const LOOKS_MAX: usize = 4;
    let mut stated = document.clone();
    for _ in 0..LOOKS_MAX {
        let Some(tokens) = encoding(settings).count_within(&stated.to_string(), settings.tokens_max) else { return };
        let Some(written) = stated.pointer_mut("/handoff/meta/token_count") else { return };
        let before = std::mem::replace(written, stated_count(tokens).into());
        if before == stated_count(tokens) {
            *document = stated;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

    use super::*;
    use crate::handoff::payload::UniversalHandoff;
    use countersign_contract::{Form, SIZE_MAX, Shape, parse};

    #[test]
    fn the_budgets_of_the_parts_make_up_the_whole() {
        assert_eq!(TIERS.iter().map(|tier| tier.tokens_max).sum::<usize>(), Settings::default().tokens_max);
    }

    #[test]
    fn the_count_that_is_stated_is_exact_or_left_alone() {
        let count = |document: &Value| document["handoff"]["meta"]["token_count"].as_u64().unwrap();
        for text in ["word ".repeat(200), "一份漢字的文件，".repeat(100)] {
            let mut document = UniversalHandoff::example();
            document["handoff"]["payload"]["working"]["text"] = text.into();
            crate::handoff::upkeep::seal(&mut document);
            let estimate = count(&document);
            state_count(&mut document, &Settings::default());
            let exact = Encoding::O200kBase.count(&document.to_string());
            assert_eq!(count(&document), u64::try_from(exact).unwrap());
            assert_ne!(count(&document), estimate);
            let before = document.clone();
            state_count(&mut document, &Settings { tokens_max: exact - 1, ..Settings::default() });
            assert_eq!(document, before);
        }
    }

    #[test]
    fn the_measure_of_the_whole_is_its_size() {
        let mut example = UniversalHandoff::example();
        let handoff = &mut example["handoff"];
        handoff["payload"]["references"] = serde_json::json!({ "files": [{ "path": "ä\n.md" }], "urls": [] });
        handoff["tracing"] = serde_json::json!({ "parent_span_id": null });
        let text = serde_json::to_string_pretty(&example).unwrap();
        let document = parse(&text, Form::Json, SIZE_MAX).unwrap();
        let measure = Measure::of(document.root());
        assert_eq!(measure.total, crate::handoff::measure::size(document.root()));
        let payload = document.find(&countersign_contract::diagnostic::Pointer::at("/handoff/payload")).unwrap();
        assert_eq!(measure.payload, crate::handoff::measure::size(payload));
        let working = members(document.root(), 3).next().unwrap();
        assert_eq!(measure.tiers[3].bytes, "\"working\":".len() + working.compact().len());
        assert_eq!(members(document.root(), 6).count(), 2);
        assert_eq!(members(document.root(), 5).count(), 1);
    }
}
