//! Contracts, and how a payload is checked against one.
//!
//! ```text
//! bytes ─parse─▶ Document ─shape─▶ record ─rules─▶ Decision
//! ```
//!
//! A contract is a Rust type, declared once with [`shape!`]: from that come the reading, the JSON Schema, the reference
//! page and the smallest example. A rule is declared once with [`rule!`]: code, explanation, examples and check in one
//! file. Checking never fails and never stops at the first fault that leaves the rest readable.
//!
//! **Invariant:** nothing here reads a clock, a file, a socket or chance. What a rule must know of the world comes in
//! as [`Outside`].
//! **Invariant:** no input panics, hangs, or takes memory out of proportion to its size.
//! **Absent on purpose:** which contracts there are (`domain`), where documents come from (`countersign`).

mod canon;
pub mod check;
mod comments;
mod contract;
mod document;
pub mod fault;
pub mod fix;
pub mod foreign;
mod hide;
mod json;
mod links;
mod outside;
mod parse;
mod print;
pub mod prove;
pub mod reference;
mod report;
mod rule;
pub mod rules;
mod run;
pub mod scan;
mod set;
mod shape;
mod shapes;
mod untrusted;
mod yaml;

pub use canon::{is_blank, letter_refused_in_name, nfc};
pub use check::{Checked, Checker, Request, check};
pub use contract::{AnyRecord, Contract, ContractInfo, Kin, Relations, Subject};
pub use document::{Cursor, Document, Entries, Form, Items, Kind};
pub use hide::redact_value;
pub use json::inexact_as_texts;
pub use links::Links;
pub use outside::{Outside, Settings};
pub use parse::{front_matter, parse, utf8};
pub use print::{canonical, sha256_hex};
pub use report::{Elsewhere, Report, nearest};
pub use rule::{Rule, RuleInfo};
pub use set::{Alone, Others, Set};
pub use shape::{Schemas, Shape};
pub use shapes::{
    AnyTimestamp, Int, Json, JsonObject, List, Map, Name, Null, Nullable, Ratio, Text, Timestamp, Version,
    VersionExactly,
};
pub use untrusted::Untrusted;

pub use compact_str::CompactString;
pub use countersign_diagnostic as diagnostic;
pub use serde;
pub use serde_json;

/// How deep lists and objects may be nested.
pub const DEPTH_MAX: usize = 64;
/// How many bytes a document may have unless configured otherwise.
pub const SIZE_MAX: usize = 16 * 1024 * 1024;
/// How many bytes a document may have however it is configured: offsets are 32 bits wide.
pub const SIZE_MAX_LIMIT: usize = 1024 * 1024 * 1024;
/// How many values a document may have; each costs sixteen bytes.
pub const NODES_MAX: usize = 4_000_000;
/// The largest integer that every reader of JSON keeps exactly: 2^53 − 1.
pub const INTEGER_MAX: i64 = 9_007_199_254_740_991;
/// How many findings are listed for one document; the rest is counted.
pub const FINDINGS_MAX: usize = 200;

/// Text from a document, without its secrets, cut and with control characters made visible, to stand between backticks
/// in a message.
pub fn show(text: &str) -> String {
    const SHOWN_MAX: usize = 80;
    // Before anything is cut: half a secret is no longer known for one.
    let redacted = scan::redact(text);
    let text = redacted.as_deref().unwrap_or(text);
    let mut out = String::new();
    for (count, letter) in text.chars().enumerate() {
        if count == SHOWN_MAX {
            out.push('…');
            break;
        }
        match letter {
            '`' => out.push('\''),
            letter if letter.is_control() || canon::is_invisible(letter) => {
                out.extend(letter.escape_unicode());
            }
            letter => out.push(letter),
        }
    }
    out
}
