//! What an agent says that it used.

use serde::Serialize;
use serde_json::Value;

/// What a known agent reports of its work. Its word, not a measurement; what it does not report is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Usage {
    /// Tokens read, those from a cache not among them where the agent tells them apart.
    pub input_tokens: Option<u64>,
    /// Tokens written.
    pub output_tokens: Option<u64>,
    /// Tokens put into a cache.
    pub cache_creation_tokens: Option<u64>,
    /// Tokens read from a cache.
    pub cache_read_tokens: Option<u64>,
    /// Money, in US dollars.
    pub cost_usd: Option<f64>,
    /// How often tools were used: commands, changes of files, searches, calls of other tools.
    pub tool_uses: Option<u64>,
    /// How many of them were commands.
    pub commands: Option<u64>,
    /// How many of them changed files.
    pub file_changes: Option<u64>,
    /// How many turns it took.
    pub turns: Option<u64>,
    /// What the agent calls this session.
    pub session_id: Option<String>,
    /// The model that it used.
    pub model: Option<String>,
}

/// Names that an agent makes up are kept to a length.
const NAME_MAX: usize = 200;

/// A short text of an object.
pub(super) fn name(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(|text| text.chars().take(NAME_MAX).collect())
}

/// A count of an object. One that is no natural number is none.
pub(super) fn count(value: &Value, key: &str) -> Option<u64> {
    value.get(key)?.as_u64()
}

/// The sum of two counts, where one may be unknown.
pub(super) fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    }
}
