//! What is known of a skill that could take over: from the front matter of its file, and from a registry.
//!
//! The front matter of a skill file:
//!
//! ```yaml
//! name: programming-pm
//! description: Use when …
//! handoff:
//!   accepts_from: ["*"]           # skills it takes work from; * is any
//!   provides_to: [technical-pm]   # skills it hands work to
//!   schema_version: "3.0"
//!   schema_type: universal        # or internal
//! categories: [implementation, architecture]
//! input_requirements: [specification]
//! meta:
//!   autonomous: false
//!   successful_handoffs: 3
//! ```
//!
//! A registry is `workflows:` with a list of such entries. Only `name` and `handoff` must be there. The fields of
//! older skill files are read where the newer ones are absent: `accepts_handoff`, `handoff_categories` and
//! `protocol_version` below `handoff`.

use countersign_contract::serde_json::Value;

/// A skill that could take over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// What it says of itself.
    pub description: Option<String>,
    /// What it is good at.
    pub categories: Vec<String>,
    /// The skills it takes work from; none means that it does not say.
    pub accepts_from: Option<Vec<String>>,
    /// The skills it hands work to; none means that it does not say.
    pub provides_to: Option<Vec<String>>,
    /// The version of handoffs that it reads.
    pub schema_version: Option<String>,
    /// Whether it reads universal handoffs.
    pub universal: bool,
    /// What it asks for.
    pub inputs: Vec<String>,
    /// Whether it works without supervision.
    pub autonomous: Option<bool>,
    /// Whether an earlier handoff to it is known to have succeeded.
    pub succeeded: bool,
}

/// An entry that could not be read as a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Why, as a lower-case clause.
    pub why: String,
}

/// The candidate that the front matter of a skill file describes. A skill without a `handoff` block is none: it takes
/// no part, and that is no fault.
pub fn from_front_matter(front_matter: &Value) -> Result<Option<Candidate>, Skipped> {
    candidate(front_matter)
}

/// The candidates of a registry, and the entries that are none.
pub fn from_registry(registry: &Value) -> (Vec<Candidate>, Vec<Skipped>) {
    let (mut candidates, mut skipped) = (Vec::new(), Vec::new());
    match registry.get("workflows").map(Value::as_array) {
        Some(Some(entries)) => {
            for entry in entries {
                match candidate(entry) {
                    Ok(found) => candidates.extend(found),
                    Err(fault) => skipped.push(fault),
                }
            }
        }
        _ => skipped.push(Skipped { name: None, why: "the registry has no list of `workflows`".to_owned() }),
    }
    (candidates, skipped)
}

/// One candidate for each name. What the front matter of a skill says wins over the registry, which fills in what it
/// leaves open.
pub fn merge(registry: Vec<Candidate>, front_matter: Vec<Candidate>) -> Vec<Candidate> {
    let mut merged: Vec<Candidate> = Vec::with_capacity(registry.len() + front_matter.len());
    for found in front_matter.into_iter().chain(registry) {
        match merged.iter_mut().find(|it| it.name == found.name) {
            Some(first) => fill(first, found),
            None => merged.push(found),
        }
    }
    merged
}

fn fill(first: &mut Candidate, other: Candidate) {
    first.description = first.description.take().or(other.description);
    first.accepts_from = first.accepts_from.take().or(other.accepts_from);
    first.provides_to = first.provides_to.take().or(other.provides_to);
    if first.schema_version.is_none() {
        (first.schema_version, first.universal) = (other.schema_version, first.universal || other.universal);
    }
    if first.categories.is_empty() {
        first.categories = other.categories;
    }
    if first.inputs.is_empty() {
        first.inputs = other.inputs;
    }
    first.autonomous = first.autonomous.or(other.autonomous);
    first.succeeded |= other.succeeded;
}

fn candidate(entry: &Value) -> Result<Option<Candidate>, Skipped> {
    let name = entry.get("name").and_then(Value::as_str).map(str::trim).filter(|name| !name.is_empty());
    let skipped = |why: String| Skipped { name: name.map(str::to_owned), why };
    if !entry.is_object() {
        return Err(skipped("it is not an object".to_owned()));
    }
    let Some(name) = name else { return Err(skipped("it has no `name` that is a text".to_owned())) };
    let handoff = match entry.get("handoff") {
        None => return Ok(None),
        Some(handoff) if handoff.is_object() => handoff,
        Some(_) => return Err(skipped("`handoff` is not an object".to_owned())),
    };
    let list = |owner: &Value, key: &str| texts(owner, key).map_err(skipped);
    // A skill that once said only yes or no takes work from everyone or from no one.
    let earlier = match handoff.get("accepts_handoff").and_then(Value::as_bool) {
        Some(true) => Some(vec!["*".to_owned()]),
        Some(false) => Some(Vec::new()),
        None => None,
    };
    let categories = list(entry, "categories")?.or(list(handoff, "handoff_categories")?).unwrap_or_default();
    let version = handoff.get("schema_version").or_else(|| handoff.get("protocol_version"));
    let meta = entry.get("meta");
    Ok(Some(Candidate {
        name: name.to_owned(),
        description: entry.get("description").and_then(Value::as_str).map(str::to_owned),
        categories,
        accepts_from: list(handoff, "accepts_from")?.or(earlier),
        provides_to: list(handoff, "provides_to")?,
        schema_version: version.and_then(version_text),
        universal: handoff.get("schema_type").is_none_or(|kind| kind == "universal"),
        inputs: list(entry, "input_requirements")?.unwrap_or_default(),
        autonomous: meta.and_then(|meta| meta.get("autonomous")).and_then(Value::as_bool),
        succeeded: meta
            .and_then(|meta| meta.get("successful_handoffs"))
            .and_then(Value::as_u64)
            .is_some_and(|it| it > 0),
    }))
}

/// YAML reads a version without quotes as a number.
fn version_text(version: &Value) -> Option<String> {
    match version {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => number.as_f64().map(|number| format!("{number:.1}")),
        _ => None,
    }
}

fn texts(owner: &Value, key: &str) -> Result<Option<Vec<String>>, String> {
    let Some(value) = owner.get(key) else { return Ok(None) };
    let items = value.as_array().map(|items| items.iter().map(|item| item.as_str().map(str::to_owned)));
    let items: Option<Vec<String>> = items.and_then(Iterator::collect);
    items.map(Some).ok_or_else(|| format!("`{key}` is not a list of texts"))
}
