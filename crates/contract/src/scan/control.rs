//! Content of the control plane inside a text that is only data: fields of our contracts, sentences that
//! steer whoever reads them, marks of a chat's roles, and what readers cannot see.

use std::ops::{ControlFlow, Range};

use super::anchor::{self, sweep};
use super::bytes::{before, has, identifier, run, short_run, white};
use super::field::{self, Own, line_start};
use super::fold::{fold, hidden};
use super::phrase::{self, Family};
use super::quotation;

/// What a text must not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// What it is, in words that can stand in a message.
    pub kind: &'static str,
    pub range: Range<usize>,
    /// A clause whose subject is the text: "carries the field `lock_scope`".
    pub why: String,
}

/// Whom a fragment calls when it may be part of a text that steers.
#[derive(Clone, Copy)]
pub enum Lead {
    Field,
    /// A word that begins sentences. In a name with an underscore it is a field instead.
    Word(&'static &'static [Family]),
    /// `<|im_start|>`
    Bar,
    /// `[INST]`
    Inst,
    /// `</system>`, `<<SYS>>`
    Tag,
    /// `### System:`
    Heading,
}

/// The first place where `text` holds content of the control plane.
///
/// Case, line breaks and runs of blanks make no difference, nor do characters without width, full-width and
/// mathematical letters, and letters of other scripts that are taken for Latin ones.
pub fn control(text: &str) -> Option<Control> {
    let mut first = None;
    let swept = sweep(text.as_bytes(), |at, lead| {
        if let anchor::Lead::Control(lead) = lead {
            keep(&mut first, find(text.as_bytes(), at, lead, Own::Text));
        }
        ControlFlow::Continue(())
    });
    if swept.carriers {
        let folded = fold(text);
        sweep(folded.text.as_bytes(), |at, lead| {
            if let anchor::Lead::Control(lead) = lead {
                let found = find(folded.text.as_bytes(), at, lead, Own::Text);
                keep(&mut first, found.map(|it| Found { range: folded.origin(it.range), ..it }));
            }
            ControlFlow::Continue(())
        });
        keep(&mut first, hidden(text).map(|(why, range)| Found { kind: "hidden-text", range, why: Why::Says(why) }));
    }
    first.map(|Found { kind, range, why }| Control { kind, range, why: why.text() })
}

/// Whether the anchor at `at` is worth a search, in a text or in a document that spells it.
pub fn stands(bytes: &[u8], at: usize, lead: Lead, own: Own) -> bool {
    find(bytes, at, lead, own).is_some()
}

struct Found {
    kind: &'static str,
    range: Range<usize>,
    why: Why,
}

enum Why {
    Says(&'static str),
    Field(&'static str),
}

impl Why {
    fn text(self) -> String {
        match self {
            Why::Says(why) => why.to_owned(),
            Why::Field(name) => format!("carries the control-plane field `{name}`"),
        }
    }
}

fn keep(first: &mut Option<Found>, found: Option<Found>) {
    if let Some(found) = found
        && first.as_ref().is_none_or(|first| found.range.start < first.range.start)
    {
        *first = Some(found);
    }
}

fn find(bytes: &[u8], at: usize, lead: Lead, own: Own) -> Option<Found> {
    match lead {
        Lead::Field => fields(bytes, at, own),
        Lead::Word(families) => {
            // `lock_scope` is a field, and a word of sentences such as `your lock_scope is now /`.
            let named = in_name(bytes, at);
            if named && own == Own::Document && whole(bytes, at) {
                return None;
            }
            let field = if named { fields(bytes, at, own) } else { None };
            field.or_else(|| phrases(bytes, at, families, own))
        }
        Lead::Bar | Lead::Inst | Lead::Tag | Lead::Heading => {
            let range = mark(bytes, at, lead, own)?;
            Some(Found { kind: "role-mark", range, why: Why::Says("has a mark with which chats set roles apart") })
        }
    }
}

fn letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic()
}

/// Whether the word around `at` is one of several that underscores join.
fn in_name(bytes: &[u8], at: usize) -> bool {
    let end = short_run(bytes, at, NAME, letter);
    let joined = bytes.get(end) == Some(&b'_') && bytes.get(end + 1).is_some_and(|it| identifier(*it));
    let head = bytes.get(at.saturating_sub(16)..at).unwrap_or_default();
    let mut head = head.iter().rev().skip_while(|it| letter(**it));
    joined || head.next() == Some(&b'_') && head.next().is_some_and(|it| identifier(*it))
}

/// Whether the name around `at` is all that a string of a document has: its own key, nearly always.
fn whole(bytes: &[u8], at: usize) -> bool {
    let end = short_run(bytes, at, NAME, identifier);
    let head = bytes.get(at.saturating_sub(NAME)..at).unwrap_or_default();
    let mut head = head.iter().rev().skip_while(|it| identifier(**it));
    bytes.get(end) == Some(&b'"') && head.next() == Some(&b'"') && head.next() != Some(&b'\\')
}

fn fields(bytes: &[u8], at: usize, own: Own) -> Option<Found> {
    let (name, range) = field::find(bytes, at, own)?;
    if own == Own::Text && quotation::mentioned(bytes, &range) {
        return None;
    }
    Some(Found { kind: "control-field", range, why: Why::Field(name) })
}

fn phrases(bytes: &[u8], at: usize, families: &'static [Family], own: Own) -> Option<Found> {
    let (rule, range) = phrase::find(bytes, at, families)?;
    if own == Own::Text && quotation::quoted(bytes, &range) {
        return None;
    }
    Some(Found { kind: rule.kind, range, why: Why::Says(rule.why) })
}

/// No mark has a longer name.
const NAME: usize = 32;

/// Who speaks in a chat, as the headings of prompt formats name them.
const SPEAKERS: &[&[u8]] = &[b"system", b"assistant", b"human", b"instruction", b"instructions", b"developer"];

fn mark(bytes: &[u8], at: usize, lead: Lead, own: Own) -> Option<Range<usize>> {
    match lead {
        Lead::Bar => {
            let end = short_run(bytes, at + 2, NAME, identifier);
            (has(bytes, at, b"<|") && has(bytes, end, b"|>")).then_some(at..end + 2)
        }
        Lead::Inst => {
            let at = at.checked_sub(2)?;
            let slash = if before(bytes, at) == Some(b'/') { 1 } else { 0 };
            let slash = if slash == 1 && before(bytes, at - 1) == Some(b'\\') { 2 } else { slash };
            let start = at.checked_sub(slash + 1)?;
            (has(bytes, start, b"[") && has(bytes, at, b"INST]")).then_some(start..at + 5)
        }
        Lead::Tag => {
            // From `</system>` and from `<system>` alike; a document may have it as `<\/system>`.
            let open = if before(bytes, at + 1) == Some(b'/') { at.checked_sub(1)? } else { at };
            let open = if has(bytes, open, b"\\") { open.checked_sub(1)? } else { open };
            let end = short_run(bytes, at + 1, NAME, |byte| identifier(byte) || byte == b'-');
            let name = bytes.get(at + 1..end)?.to_ascii_lowercase();
            let named = match name.as_slice() {
                b"sys" => has(bytes, end, b">>"),
                b"system" => true,
                name => name.starts_with(b"system-") || name.starts_with(b"system_"),
            };
            (named && has(bytes, open, b"<") && has(bytes, end, b">")).then_some(open..end + 1)
        }
        _ => {
            // Only the first three signs of a row of them are looked at.
            if before(bytes, at) == Some(b'#') || !line_start(bytes, at, own) {
                return None;
            }
            let word = white(bytes, run(bytes, at, |byte| byte == b'#'));
            let mut end = short_run(bytes, word, NAME, letter);
            let name = bytes.get(word..end)?.to_ascii_lowercase();
            let named = SPEAKERS.contains(&name.as_slice());
            let next = white(bytes, end);
            for more in [&b"prompt"[..], b"message"] {
                end = if has(bytes, next, more) { next + more.len() } else { end };
            }
            let end = run(bytes, end, |byte| byte == b' ' || byte == b'*');
            (named && has(bytes, end, b":")).then_some(at..end + 1)
        }
    }
}
