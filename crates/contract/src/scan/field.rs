//! Fields of the control plane inside a text: `{"lock_scope": ["/"]}` in a note.
//!
//! A name counts when it is used as a key: in quotes with a colon behind it, or at the start of a line as
//! YAML has it. Mentioned in a sentence it is a word like any other.

use std::ops::Range;

use super::bytes::{after_escape, backslashes, before, identifier, quote, same, short_run, tally, white};

/// The names that give or take authority, scope, locks, acceptance, or say which contract a document is.
const FIELDS: &[&str] = &[
    "packet_type",
    "schema_type",
    "schema_version",
    "lock_scope",
    "forbidden_scope",
    "active_locks",
    "ledger_delta",
    "ledger_version",
    "x_base_version",
    "delta_id",
    "required_output_schema",
    "acceptance_check",
    "criteria_results",
    "verdict",
    "user_approved",
    "authorization_level",
    "human_approval",
    "human_approval_evidence",
    "human_approval_reference",
    "delegation_instruction_version",
    "delegation_response_version",
    "platform_action_audit_version",
];

/// Longer than every field: so far a name is read.
const LONGEST: usize = 40;

/// What a `verdict` can be. `Verdict: we like it` is how people write, so without quotes it takes one of
/// these.
const VERDICTS: &[&str] = &["pass", "fail", "partial", "blocked", "passed", "failed", "approved", "accepted"];

fn field(word: &[u8], escaped: bool) -> Option<&'static str> {
    FIELDS.iter().find(|field| same(word, escaped, field)).copied()
}

/// What the bytes are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// A JSON document, which has keys of its own. In its strings every quotation mark has a backslash.
    Document,
    /// A text.
    Text,
    /// Either of them: whatever is suspicious in one is.
    Either,
}

/// The field whose name is around `at`, when it is used as a key.
pub fn find(bytes: &[u8], at: usize, own: Own) -> Option<(&'static str, Range<usize>)> {
    let end = short_run(bytes, at, LONGEST, identifier);
    // The document's own key, or a string that ends here: by far the most frequent case.
    if own == Own::Document && bytes.get(end) == Some(&b'"') {
        return None;
    }
    let mut after = white(bytes, end);
    let mark = bytes.get(backslashes(bytes, after)).copied().filter(|it| quote(*it));
    if mark.is_some() {
        after = white(bytes, backslashes(bytes, after) + 1);
    }
    if bytes.get(after) != Some(&b':') || bytes.get(after + 1) == Some(&b':') {
        return None;
    }
    let head = bytes.get(at.saturating_sub(LONGEST)..at)?;
    let start = at - head.iter().rev().take_while(|it| identifier(**it)).count();
    let escaped = before(bytes, start) == Some(b'\\');
    let word = bytes.get(start..end)?;
    let name = field(word, escaped)?;
    let start = end - name.len();
    let used = match mark {
        Some(mark) => before(bytes, start) == Some(mark),
        None => line_start(bytes, start, own) && (name != "verdict" || verdict(bytes, after + 1)),
    };
    used.then_some((name, start..end))
}

fn verdict(bytes: &[u8], from: usize) -> bool {
    let start = white(bytes, from);
    let end = short_run(bytes, start, LONGEST, identifier);
    bytes.get(start..end).is_some_and(|word| VERDICTS.iter().any(|it| same(word, false, it)))
}

/// Whether nothing but indentation, list marks, quotation marks of mail, or an opening brace stands before
/// `at` on its line.
pub fn line_start(bytes: &[u8], at: usize, own: Own) -> bool {
    let from = at;
    let mut at = at;
    while !after_escape(bytes, at)
        && before(bytes, at).is_some_and(|it| matches!(it, b' ' | b'\t' | b'-' | b'>' | b'*'))
    {
        at -= 1;
    }
    tally(from - at);
    match before(bytes, at) {
        None | Some(b'\n' | b'\r' | b'{') => true,
        Some(b'"') => own != Own::Text,
        Some(_) => after_escape(bytes, at),
    }
}
