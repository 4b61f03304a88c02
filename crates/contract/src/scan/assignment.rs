//! `password=hunter2`: a name that says that its value is a secret, and the value.

use super::bytes::{backslashes, before, has, identifier, quote, run, short_run, tally, white};
use super::secret::Found;
use super::value::{Form, LONG, Name, judge};

pub const KIND: &str = "named-secret";

/// How names of secrets end. A name may be longer (`GITHUB_TOKEN`, `clientSecret`); what makes it one is its
/// end, so that `token_count` and `secret_name` are none.
const TAILS: &[(&str, Name)] = &[
    ("token", Name::Token),
    ("secret", Name::Key),
    ("password", Name::Password),
    ("passwd", Name::Password),
    ("apikey", Name::Key),
    ("api_key", Name::Key),
    ("api-key", Name::Key),
    ("api key", Name::Key),
    ("accesskey", Name::Key),
    ("access_key", Name::Key),
    ("access-key", Name::Key),
    ("secretkey", Name::Key),
    ("secret_key", Name::Key),
    ("secret-key", Name::Key),
    ("privatekey", Name::Key),
    ("private_key", Name::Key),
    ("private-key", Name::Key),
];

/// Whether an object's member is a secret, by the rule that a text's `key: "value"` is judged by: a token that is
/// a short word is what someone says of the token, a password that is one, or several that make no sentence, is a
/// password.
pub fn secret_member(key: &str, value: &str) -> bool {
    let key = key.trim_end().as_bytes();
    tail(key, key.len()).is_some_and(|name| judge(value.trim().as_bytes(), name, Form::Quoted))
}

fn tail(bytes: &[u8], end: usize) -> Option<Name> {
    let ends = |tail: &str| end.checked_sub(tail.len()).is_some_and(|start| has(bytes, start, tail.as_bytes()));
    TAILS.iter().find(|(tail, _)| ends(tail)).map(|(_, name)| *name)
}

/// What stands between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// `:`, and `=>`, which are as much signs of prose and of types.
    Colon,
    /// `=` or `:=` with blanks.
    Equals,
    /// An equals sign with nothing on either side of it, which prose never has.
    Tight,
}

/// What stands around a value.
pub struct Frame {
    name: Name,
    sign: Sign,
    /// Behind the separator.
    from: usize,
}

/// The frame of an assignment whose name has an anchor at `at`: the name ends there, and a separator follows.
pub fn frame(bytes: &[u8], at: usize) -> Option<Frame> {
    // The fragment is part of the name's last word.
    let end = short_run(bytes, at + 1, 12, |byte| byte.is_ascii_alphanumeric());
    // Cheap and nearly always decisive, hence before the comparison of names.
    if bytes.get(end).is_some_and(|it| identifier(*it) || *it == b'-') {
        return None;
    }
    let sign = white(bytes, close(bytes, white(bytes, end)));
    let from = match bytes.get(sign..sign + 2)? {
        b"==" | b"::" | b"=~" => return None,
        b"=>" | b":=" => sign + 2,
        [b'=' | b':', _] => sign + 1,
        _ => return None,
    };
    let name = tail(bytes, end)?;
    let start = white(bytes, from);
    let start = if bytes.get(start) == Some(&b'\\') { backslashes(bytes, start) } else { start };
    // What opens an expression, a tag or a list is no secret, however it goes on.
    if matches!(bytes.get(start)?, b'<' | b'{' | b'[' | b'(' | b',' | b';' | b'}' | b')' | b']') {
        return None;
    }
    let sign = match bytes.get(sign..from)? {
        b":" | b"=>" => Sign::Colon,
        b"=" if sign == end && start == from => Sign::Tight,
        _ => Sign::Equals,
    };
    Some(Frame { name, sign, from })
}

/// The end of what closes a name: a quotation mark, and the bracket of `settings["token"]`.
fn close(bytes: &[u8], from: usize) -> usize {
    let mark = backslashes(bytes, from);
    if !bytes.get(mark).is_some_and(|it| quote(*it)) {
        return from;
    }
    if bytes.get(mark + 1) == Some(&b']') { mark + 2 } else { mark + 1 }
}

/// The value of the assignment whose name has an anchor at `at`, when it is a secret.
pub fn find(bytes: &[u8], at: usize) -> Option<Found> {
    let frame = frame(bytes, at)?;
    let mut start = run(bytes, frame.from, |byte| byte == b' ' || byte == b'\t');
    // String prefixes of Python and Rust.
    if matches!(bytes.get(start), Some(b'b' | b'r' | b'f')) && matches!(bytes.get(start + 1), Some(b'"' | b'\'')) {
        start += 1;
    }
    let mark = backslashes(bytes, start);
    let range = match bytes.get(mark) {
        Some(mark_byte) if quote(*mark_byte) => {
            let start = mark + 1;
            let rest = bytes.get(start..)?;
            let close = memchr::memchr3(*mark_byte, b'\n', b'\r', rest).unwrap_or(rest.len());
            tally(close);
            let mut end = start + close;
            while end > start && before(bytes, end) == Some(b'\\') {
                end -= 1;
            }
            let form = match (frame.sign, mark_byte) {
                (Sign::Colon, b'`') => Form::Span,
                (Sign::Colon, _) => Form::Quoted,
                _ => Form::Literal,
            };
            judge(bytes.get(start..end)?, frame.name, form).then_some(start..end)?
        }
        _ => {
            let mut end = run(bytes, start, bare);
            let call = end - start <= LONG && matches!(bytes.get(end), Some(b'(' | b'[' | b'{'));
            let form = match frame.sign {
                Sign::Tight if matches!(bytes.get(end), Some(b',' | b')')) => Form::Argument,
                Sign::Tight => Form::Tight,
                Sign::Equals if last(bytes, end) => Form::Spaced,
                Sign::Equals => Form::Statement,
                Sign::Colon if last(bytes, end) => Form::Last,
                Sign::Colon => Form::Loose,
            };
            while end > start && before(bytes, end).is_some_and(|it| matches!(it, b'.' | b':' | b'!' | b'?')) {
                end -= 1;
            }
            (!call && judge(bytes.get(start..end)?, frame.name, form)).then_some(start..end)?
        }
    };
    Some(Found { kind: KIND, range })
}

/// Whether the line is over at `at`, but for a comment or the end of a quotation.
fn last(bytes: &[u8], at: usize) -> bool {
    if bytes.get(at).is_some_and(|it| quote(*it)) {
        return true;
    }
    let next = short_run(bytes, at, 16, |byte| byte == b' ' || byte == b'\t');
    match bytes.get(next..).unwrap_or_default() {
        [] | [b'\n' | b'\r', ..] | [b'\\', b'n' | b'r' | b'"' | b'\'', ..] => true,
        [b'#', ..] | [b'/', b'/', ..] => next > at,
        _ => false,
    }
}

/// What a value without quotes is made of.
fn bare(byte: u8) -> bool {
    !byte.is_ascii_whitespace()
        && !quote(byte)
        && !matches!(byte, b',' | b';' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b'|' | b'&' | b'\\')
}
