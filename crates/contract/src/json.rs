//! JSON (RFC 8259) into a [`Document`].
//!
//! Written by hand because nothing else gives, in one pass and without an allocation for each value, what a checker
//! needs: the bytes of every value, a refusal of duplicate keys and of integers that RFC 8785 would round, and a limit
//! on depth and size. The benchmark in `crates/countersign/benches` holds it against `serde_json`.
//!
//! **Invariant:** no input panics, nests deeper than [`crate::DEPTH_MAX`], or takes time beyond linear.

use crate::document::{Document, Kind};
use crate::fault::{Fault, FaultKind};
use crate::run::{is_space_end, plain_end, space_end};
use crate::{DEPTH_MAX, INTEGER_MAX, NODES_MAX};
use std::borrow::Cow;
use std::collections::HashSet;

/// Reads one value that fills `text[from..to]` but for white space, and adds it to `document`.
pub(crate) fn parse(document: &mut Document<'_>, from: usize, to: usize) -> Result<(), Fault> {
    read(document, from, to).map_err(|stop| *stop)
}

/// A fault behind a pointer: what every step gives back must fit into registers.
type Stop = Box<Fault>;

fn read(document: &mut Document<'_>, from: usize, to: usize) -> Result<(), Stop> {
    let text = &document.text()[..to];
    let mut reader = Reader { bytes: text.as_bytes(), text, open: Vec::with_capacity(8) };
    let end = reader.value(document, reader.space(from))?;
    let end = reader.space(end);
    if end < to {
        return Err(reader.fault(end..end + 1, "there is more text after the end of the document"));
    }
    Ok(())
}

/// Every step takes the place where it begins and gives back the place where it ends. So the place stays in a register,
/// and finding what comes next waits for nothing but the bytes.
struct Reader<'s> {
    text: &'s str,
    bytes: &'s [u8],
    /// The lists and objects that are open, from the outermost on.
    open: Vec<Open>,
}

/// A list or object, as far as it was read.
struct Open {
    node: usize,
    is_object: bool,
    /// How much white space stood behind its bracket, or its last comma.
    indent: usize,
    /// A bit for each key, by what it begins and ends with. A key whose bit is not set yet is new.
    marks: u64,
    /// All keys, once they are more than [`FEW`]. Then every bit is set.
    #[expect(clippy::box_collection, reason = "nearly always none, and then one word instead of six")]
    many: Option<Box<HashSet<Box<[u8]>>>>,
}

const FEW: usize = 24;

impl Reader<'_> {
    /// Reads a value and everything in it. One loop and no recursion: a call for each value would cost as much as reading
    /// a short one.
    fn value(&mut self, document: &mut Document<'_>, start: usize) -> Result<usize, Stop> {
        let mut at = start;
        let mut in_object = false;
        loop {
            if in_object {
                at = self.key(document, at)?;
            }
            if document.len() >= NODES_MAX {
                return Err(self.limit(at, format_args!("more than {NODES_MAX} values in one document")));
            }
            at = match self.peek(at) {
                Some(b'"') => self.string(document, at)?,
                Some(bracket @ (b'{' | b'[')) => {
                    in_object = bracket == b'{';
                    at = self.open(document, at, in_object)?;
                    if self.peek(at) != Some(close(in_object)) {
                        continue;
                    }
                    at
                }
                Some(b'-' | b'0'..=b'9') => self.number(document, at)?,
                Some(b't') => self.word(document, at, "true", Kind::Bool)?,
                Some(b'f') => self.word(document, at, "false", Kind::Bool)?,
                Some(b'n') => self.word(document, at, "null", Kind::Null)?,
                Some(_) => return Err(self.unexpected(at, "a value")),
                None => return Err(self.fault(at..at, "the text ends where a value is expected")),
            };
            // What follows a value belongs to what it stands in, and may close that, too.
            while let Some(open) = self.open.last() {
                at = self.space(at);
                match self.peek(at) {
                    Some(b',') => break,
                    Some(byte) if byte == close(in_object) => {
                        at += 1;
                        document.close(open.node, at);
                        self.open.pop();
                        in_object = self.open.last().is_some_and(|open| open.is_object);
                    }
                    _ if in_object => return Err(self.unexpected(at, "`,` or `}`")),
                    _ => return Err(self.unexpected(at, "`,` or `]`")),
                }
            }
            let Some(open) = self.open.last_mut() else { return Ok(at) };
            at = gap(self.bytes, at + 1, &mut open.indent);
        }
    }

    /// Opens a list or object; gives back where its first value or key would begin.
    #[inline]
    fn open(&mut self, document: &mut Document<'_>, at: usize, is_object: bool) -> Result<usize, Stop> {
        if self.open.len() >= DEPTH_MAX {
            return Err(self.limit(at, format_args!("lists and objects are nested deeper than {DEPTH_MAX}")));
        }
        let node = document.open(if is_object { Kind::Object } else { Kind::List }, at);
        let end = self.space(at + 1);
        self.open.push(Open { node, is_object, indent: end - at - 1, marks: 0, many: None });
        Ok(end)
    }

    /// Reads a key and its colon; gives back where the value would begin.
    #[inline(always)]
    fn key(&mut self, document: &mut Document<'_>, start: usize) -> Result<usize, Stop> {
        if self.peek(start) != Some(b'"') {
            return Err(self.unexpected(start, "a key in double quotes"));
        }
        let key = document.len();
        let close = plain_end(self.bytes, start + 1);
        let (mark, end) = if self.peek(close) == Some(b'"') {
            document.scalar(Kind::Text, start, close + 1, true);
            (mark(self.bytes, start + 1, close), close + 1)
        } else {
            let end = self.string_with_escapes(document, start, close)?;
            let name = document.bytes_of(key);
            (mark(name, 0, name.len()), end)
        };
        if let Some(open) = self.open.last_mut() {
            if open.marks & mark != 0 && open.has(document, key) {
                return Err(duplicate(document, key, end));
            }
            open.marks |= mark;
        }
        let colon = self.space(end);
        if self.peek(colon) != Some(b':') {
            return Err(self.unexpected(colon, "`:` after the key"));
        }
        Ok(self.behind_colon(colon + 1))
    }

    #[inline(always)]
    fn string(&self, document: &mut Document<'_>, start: usize) -> Result<usize, Stop> {
        let end = plain_end(self.bytes, start + 1);
        match self.peek(end) {
            Some(b'"') => {
                document.scalar(Kind::Text, start, end + 1, true);
                Ok(end + 1)
            }
            _ => self.string_with_escapes(document, start, end),
        }
    }

    #[cold]
    fn string_with_escapes(&self, document: &mut Document<'_>, start: usize, plain: usize) -> Result<usize, Stop> {
        let mut at = plain;
        let mut text = String::with_capacity((at - start) * 2);
        text.push_str(&self.text[start + 1..at]);
        loop {
            match self.peek(at) {
                Some(b'"') => {
                    document.scalar_decoded(Kind::Text, start, at + 1, text.into());
                    return Ok(at + 1);
                }
                Some(b'\\') => {
                    if self.peek(at + 1) == Some(b'u') {
                        document.mark_numbered();
                    }
                    let (letter, end) = self.escape(at)?;
                    text.push(letter);
                    at = end;
                }
                Some(_) => {
                    let help = "write it as an escape: `\\n` for a line break, `\\t` for a tab, `\\u0000` for others";
                    let mut fault = self.fault(at..at + 1, "a control character stands bare in a string");
                    help.clone_into(&mut fault.help);
                    return Err(fault);
                }
                None => return Err(self.fault(start..start + 1, "this string is never closed")),
            }
            let plain = plain_end(self.bytes, at);
            text.push_str(&self.text[at..plain]);
            at = plain;
        }
    }

    /// The letter that an escape stands for, and where the escape ends.
    fn escape(&self, start: usize) -> Result<(char, usize), Stop> {
        let letter = match self.peek(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            _ => {
                let end = (start + 2).min(self.bytes.len());
                return Err(self.fault(start..end, "this is not an escape that JSON knows"));
            }
        };
        Ok((letter, start + 2))
    }

    fn unicode_escape(&self, start: usize) -> Result<(char, usize), Stop> {
        let (first, mut at) = self.four_hex(start, start + 2)?;
        let code = match first {
            0xD800..=0xDBFF => {
                let mut low = 0;
                if self.bytes[at..].starts_with(b"\\u") {
                    (low, at) = self.four_hex(start, at + 2)?;
                }
                if !(0xDC00..=0xDFFF).contains(&low) {
                    return Err(self.fault(start..at, "half of a surrogate pair stands alone"));
                }
                0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00)
            }
            other => other,
        };
        let letter = char::from_u32(code);
        letter.map(|letter| (letter, at)).ok_or_else(|| self.fault(start..at, "half of a surrogate pair stands alone"))
    }

    /// The number that four digits at `at` are, of the escape that begins at `start`, and where they end.
    fn four_hex(&self, start: usize, at: usize) -> Result<(u32, usize), Stop> {
        let digits = self.bytes.get(at..at + 4);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let Some(code) = code else {
            let end = self.text.floor_char_boundary(self.bytes.len().min(at + 4));
            return Err(self.fault(start..end, "`\\u` wants four hexadecimal digits"));
        };
        Ok((code, at + 4))
    }

    fn number(&self, document: &mut Document<'_>, start: usize) -> Result<usize, Stop> {
        let end = start + self.bytes[start..].iter().take_while(|byte| is_number_byte(**byte)).count();
        check_number(&self.text[start..end]).map_err(|message| {
            let mut fault = self.fault(start..end, &message);
            "write it as JSON writes numbers, or put it in quotes".clone_into(&mut fault.help);
            fault
        })?;
        document.scalar(Kind::Number, start, end, false);
        Ok(end)
    }

    #[inline]
    fn word(&self, document: &mut Document<'_>, start: usize, word: &str, kind: Kind) -> Result<usize, Stop> {
        if !self.bytes[start..].starts_with(word.as_bytes()) {
            return Err(self.unexpected(start, "a value"));
        }
        let end = start + word.len();
        document.scalar(kind, start, end, false);
        Ok(end)
    }

    #[inline]
    fn peek(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    #[inline]
    fn space(&self, at: usize) -> usize {
        if self.peek(at).is_some_and(|byte| byte <= b' ') { space_end(self.bytes, at) } else { at }
    }

    /// The same where nothing or one blank is nearly always all there is.
    #[inline]
    fn behind_colon(&self, at: usize) -> usize {
        match self.bytes.get(at..at + 2) {
            Some([first, _]) if *first > b' ' => at,
            Some([b' ', second]) if *second > b' ' => at + 1,
            _ => space_end(self.bytes, at),
        }
    }

    #[cold]
    fn unexpected(&self, at: usize, expected: &str) -> Stop {
        let Some(found) = self.text.get(at..).and_then(|rest| rest.chars().next()) else {
            return self.fault(at..at, &format!("the text ends where {expected} is expected"));
        };
        let span = at..at + found.len_utf8();
        let mut fault = self.fault(span, &format!("expected {expected}, found `{}`", crate::show(&found.to_string())));
        fault.help = match found {
            '\'' => "JSON texts stand in double quotes".to_owned(),
            '}' | ']' => "remove the comma before it".to_owned(),
            '/' | '#' => "JSON has no comments; remove it, or write the document as YAML".to_owned(),
            _ => fault.help,
        };
        fault
    }

    #[cold]
    fn fault(&self, span: std::ops::Range<usize>, message: &str) -> Stop {
        Box::new(Fault {
            kind: FaultKind::Syntax,
            span: self.letters(span),
            message: message.to_owned(),
            help: "correct the JSON here; the rest was not read".to_owned(),
        })
    }

    #[cold]
    fn limit(&self, at: usize, message: std::fmt::Arguments<'_>) -> Stop {
        Box::new(Fault {
            kind: FaultKind::Limit,
            span: self.letters(at..at + 1),
            message: message.to_string(),
            help: "split the document, or hand the bulk over as a file that it refers to".to_owned(),
        })
    }

    /// The span in whole letters, inside the text.
    fn letters(&self, span: std::ops::Range<usize>) -> std::ops::Range<usize> {
        self.text.floor_char_boundary(span.start)..self.text.ceil_char_boundary(span.end)
    }
}

impl Open {
    /// Whether a key stands in this object before. Few keys are compared one by one; many are kept in a set.
    fn has(&mut self, document: &Document<'_>, key: usize) -> bool {
        let text = document.bytes_of(key);
        if let Some(many) = &mut self.many {
            return !many.insert(text.into());
        }
        let earlier = || document.keys(self.node, key).map(|key| document.bytes_of(key));
        let is_known = earlier().any(|it| it == text);
        if earlier().count() >= FEW {
            self.many = Some(Box::new(earlier().chain([text]).map(Box::from).collect()));
            self.marks = u64::MAX;
        }
        is_known
    }
}

/// The end of the white space behind a comma. It is mostly as long as the last time, and taking it for so long lets
/// the processor read on while it is still seeing whether that is true.
#[inline]
fn gap(bytes: &[u8], at: usize, length: &mut usize) -> usize {
    if !is_space_end(bytes, at, *length) {
        *length = space_end(bytes, at) - at;
    }
    at + *length
}

/// The bracket that closes an object or a list.
fn close(is_object: bool) -> u8 {
    if is_object { b'}' } else { b']' }
}

#[cold]
fn duplicate(document: &Document<'_>, key: usize, end: usize) -> Stop {
    Box::new(Fault {
        kind: FaultKind::DuplicateKey,
        span: document.span_of(key).start..end,
        message: format!("key `{}` appears twice in one object", crate::show(document.text_of(key))),
        help: "keep one of the two; which one a reader would take is not defined".to_owned(),
    })
}

fn is_number_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

/// A text in JSON with every number that would not keep its value as a text: for files of others, in which nobody here has a say
/// and which are read all the same.
pub fn inexact_as_texts(text: &str) -> Cow<'_, str> {
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        let end = match byte {
            b'"' => string_end(bytes, at),
            b'-' | b'0'..=b'9' => at + bytes[at..].iter().take_while(|byte| is_number_byte(**byte)).count(),
            _ => at + 1,
        };
        let written = text.get(at..end).filter(|_| *byte != b'"' && end > at);
        if let Some(number) = written.filter(|it| is_number_byte(*byte) && check_number(it).is_err() && is_number(it)) {
            out.push_str(&text[copied..at]);
            out.extend(["\"", number, "\""]);
            copied = end;
        }
        at = end;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Where a string ends that begins here: after its mark, or with the text.
fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    loop {
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'\\') => at += 2,
            Some(b'"') => return at + 1,
            Some(_) => at += 1,
        }
        at = at.min(bytes.len());
    }
}

/// Whether something is a number of JSON's grammar, whatever its value.
fn is_number(written: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let plain = written.strip_prefix('-').unwrap_or(written);
    let (mantissa, exponent) = plain.split_once(['e', 'E']).map_or((plain, None), |(one, two)| (one, Some(two)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(one, two)| (one, Some(two)));
    let unsigned = exponent.map(|it| it.strip_prefix(['+', '-']).unwrap_or(it));
    digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && [fraction, unsigned].into_iter().flatten().all(digits)
}

/// Whether a number is of JSON's grammar and keeps its value in canonical form.
pub(crate) fn check_number(written: &str) -> Result<(), String> {
    let shown = || crate::show(written);
    let digits = written.strip_prefix('-').unwrap_or(written).as_bytes();
    let whole = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if whole == 0 || (whole > 1 && digits[0] == b'0') {
        return Err(format!("`{}` is not a number of JSON's grammar", shown()));
    }
    if whole == digits.len() {
        let beyond = || format!("integer `{}` is beyond ±{INTEGER_MAX}, where numbers are no longer exact", shown());
        // Fifteen digits are always within.
        return if whole <= 15 || written.parse::<i64>().is_ok_and(|it| it.abs() <= INTEGER_MAX) {
            Ok(())
        } else {
            Err(beyond())
        };
    }
    let mut rest = &digits[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(format!("`{}` is not a number of JSON's grammar", shown()));
        }
        rest = &fraction[count..];
    }
    // Neither too large nor a whole number that is no longer exact.
    if rest.is_empty() && whole <= 15 {
        return Ok(());
    }
    if let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let sign = exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-"));
        let power = sign.unwrap_or(exponent);
        if power.is_empty() || !power.iter().all(u8::is_ascii_digit) {
            return Err(format!("`{}` is not a number of JSON's grammar", shown()));
        }
        rest = &[];
    }
    if !rest.is_empty() {
        return Err(format!("`{}` is not a number of JSON's grammar", shown()));
    }
    // Canonical JSON writes whole numbers below 10^21 without an exponent, and would turn `1e16` into an integer that is
    // refused above.
    match written.parse::<f64>() {
        Ok(value) if value.fract() == 0.0 && value.abs() > INTEGER_MAX as f64 && value.abs() < 1e21 => {
            Err(format!("number `{}` is beyond ±{INTEGER_MAX}, where whole numbers are no longer exact", shown()))
        }
        Ok(value) if value.is_finite() => Ok(()),
        _ => Err(format!("number `{}` is too large", shown())),
    }
}

/// One of 64 bits, which differs for most pairs of different keys: by length, first and last bytes. The key fills
/// `bytes[start..end]`; what lies behind it is read with it where there is room, and taken away again.
#[inline]
fn mark(bytes: &[u8], start: usize, end: usize) -> u64 {
    let length = end - start;
    let read = |from: usize| bytes.get(from..from + WORD).and_then(|word| word.first_chunk()).copied();
    let head = read(start).map_or_else(|| few(&bytes[start..end]), u64::from_le_bytes);
    let word = match (WORD - 1).checked_sub(length) {
        None => head ^ read(end - WORD).map_or(0, u64::from_le_bytes).rotate_left(29),
        Some(beyond) => (head << (8 * beyond)) << 8,
    };
    let mixed = (word ^ length as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    1 << (mixed >> 58)
}

const WORD: usize = 8;

/// The first bytes of a key at the very end of its text, as they would be read with more behind them.
#[cold]
fn few(key: &[u8]) -> u64 {
    key.iter().take(WORD).rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_one_mark_wherever_it_stands() {
        for key in ["", "a", "id", "task_id", "resource", "lock_scope", "acceptance_criteria"] {
            let alone = mark(key.as_bytes(), 0, key.len());
            for (before, behind) in [("", "\": 1"), ("{\"", "\""), ("some more text before \"", "\":[12345678]")] {
                let text = format!("{before}{key}{behind}");
                assert_eq!(mark(text.as_bytes(), before.len(), before.len() + key.len()), alone, "{key} in {text}");
            }
        }
    }
}
