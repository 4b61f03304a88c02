//! JSON (RFC 8259) into a [`Document`].
//!
//! Written by hand because nothing else gives, in one pass and without an allocation for each value, what a checker
//! needs: the bytes of every value, a refusal of duplicate keys and of integers that RFC 8785 would round, and a limit
//! on depth and size. The benchmark in `crates/countersign/benches` holds it against `serde_json`.
//!
//! **Invariant:** no input panics, recurses deeper than [`crate::DEPTH_MAX`], or takes time beyond linear.

use crate::document::{Document, Kind};
use crate::fault::{Fault, FaultKind};
use crate::{DEPTH_MAX, INTEGER_MAX, NODES_MAX};
use std::collections::HashSet;

/// Reads one value that fills `text[from..to]` but for white space, and adds it to `document`.
pub(crate) fn parse(document: &mut Document<'_>, from: usize, to: usize) -> Result<(), Fault> {
    read(document, from, to).map_err(|stop| *stop)
}

/// A fault behind a pointer: what every step gives back must fit into registers.
type Stop = Box<Fault>;

fn read(document: &mut Document<'_>, from: usize, to: usize) -> Result<(), Stop> {
    let text = &document.text()[..to];
    let mut reader = Reader { bytes: text.as_bytes(), text, at: from, depth: 0, keys: Vec::new() };
    reader.space();
    reader.value(document)?;
    reader.space();
    if reader.at < to {
        return Err(reader.fault(reader.at..reader.at + 1, "there is more text after the end of the document"));
    }
    Ok(())
}

struct Reader<'s> {
    text: &'s str,
    bytes: &'s [u8],
    at: usize,
    depth: usize,
    /// The keys of the objects that are open, as (signature, node); each object knows where its own begin.
    keys: Vec<(u64, usize)>,
}

impl Reader<'_> {
    fn value(&mut self, document: &mut Document<'_>) -> Result<(), Stop> {
        if document.len() >= NODES_MAX {
            return Err(self.limit(format!("more than {NODES_MAX} values in one document")));
        }
        match self.peek() {
            Some(b'"') => self.string(document).map(drop),
            Some(b'{') => self.object(document),
            Some(b'[') => self.list(document),
            Some(b'-' | b'0'..=b'9') => self.number(document),
            Some(b't') => self.word(document, "true", Kind::Bool),
            Some(b'f') => self.word(document, "false", Kind::Bool),
            Some(b'n') => self.word(document, "null", Kind::Null),
            Some(_) => Err(self.unexpected("a value")),
            None => Err(self.fault(self.at..self.at, "the text ends where a value is expected")),
        }
    }

    fn object(&mut self, document: &mut Document<'_>) -> Result<(), Stop> {
        let node = self.open(document, Kind::Object)?;
        let keys_from = self.keys.len();
        let mut seen = None;
        if self.peek() != Some(b'}') {
            loop {
                if self.peek() != Some(b'"') {
                    return Err(self.unexpected("a key in double quotes"));
                }
                let key = self.string(document)?;
                self.refuse_duplicate(document, keys_from, key, &mut seen)?;
                self.space();
                if self.peek() != Some(b':') {
                    return Err(self.unexpected("`:` after the key"));
                }
                self.at += 1;
                self.space();
                self.value(document)?;
                self.space();
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b'}') => break,
                    _ => return Err(self.unexpected("`,` or `}`")),
                }
                self.space();
            }
        }
        self.keys.truncate(keys_from);
        self.shut(document, node);
        Ok(())
    }

    fn list(&mut self, document: &mut Document<'_>) -> Result<(), Stop> {
        let node = self.open(document, Kind::List)?;
        if self.peek() != Some(b']') {
            loop {
                self.value(document)?;
                self.space();
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b']') => break,
                    _ => return Err(self.unexpected("`,` or `]`")),
                }
                self.space();
            }
        }
        self.shut(document, node);
        Ok(())
    }

    fn open(&mut self, document: &mut Document<'_>, kind: Kind) -> Result<usize, Stop> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.limit(format!("lists and objects are nested deeper than {DEPTH_MAX}")));
        }
        let node = document.open(kind, self.at);
        self.at += 1;
        self.space();
        Ok(node)
    }

    fn shut(&mut self, document: &mut Document<'_>, node: usize) {
        self.at += 1;
        self.depth -= 1;
        document.close(node, self.at);
    }

    /// Small objects compare signatures, which is one pass over a few words; large ones use a set.
    fn refuse_duplicate(
        &mut self,
        document: &Document<'_>,
        keys_from: usize,
        key: usize,
        seen: &mut Option<HashSet<Box<str>>>,
    ) -> Result<(), Stop> {
        const SMALL: usize = 24;
        let text = document.text_of(key);
        let duplicate = match seen {
            Some(seen) => !seen.insert(text.into()),
            None => {
                let signature = signature(text.as_bytes());
                let earlier = &self.keys[keys_from..];
                let duplicate =
                    earlier.iter().any(|(other, node)| *other == signature && document.text_of(*node) == text);
                self.keys.push((signature, key));
                if self.keys.len() - keys_from > SMALL {
                    let all = self.keys[keys_from..].iter().map(|(_, node)| document.text_of(*node).into());
                    *seen = Some(all.collect());
                }
                duplicate
            }
        };
        if duplicate {
            let start = document.span_of(key).start;
            return Err(Box::new(Fault {
                kind: FaultKind::DuplicateKey,
                span: start..self.at,
                message: format!("key `{}` appears twice in one object", crate::show(text)),
                help: "keep one of the two; which one a reader would take is not defined".to_owned(),
            }));
        }
        Ok(())
    }

    fn string(&mut self, document: &mut Document<'_>) -> Result<usize, Stop> {
        let start = self.at;
        self.at = plain_end(self.bytes, start + 1);
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                Ok(document.scalar(Kind::Text, start, self.at, true))
            }
            _ => self.string_with_escapes(document, start),
        }
    }

    fn string_with_escapes(&mut self, document: &mut Document<'_>, start: usize) -> Result<usize, Stop> {
        let mut text = String::with_capacity((self.at - start) * 2);
        text.push_str(&self.text[start + 1..self.at]);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(document.scalar_decoded(Kind::Text, start, self.at, text.into()));
                }
                Some(b'\\') => {
                    if self.bytes.get(self.at + 1) == Some(&b'u') {
                        document.mark_numbered();
                    }
                    text.push(self.escape()?);
                }
                Some(_) => {
                    let help = "write it as an escape: `\\n` for a line break, `\\t` for a tab, `\\u0000` for others";
                    let mut fault = self.fault(self.at..self.at + 1, "a control character stands bare in a string");
                    help.clone_into(&mut fault.help);
                    return Err(fault);
                }
                None => return Err(self.fault(start..start + 1, "this string is never closed")),
            }
            let plain = plain_end(self.bytes, self.at);
            text.push_str(&self.text[self.at..plain]);
            self.at = plain;
        }
    }

    fn escape(&mut self) -> Result<char, Stop> {
        let start = self.at;
        let letter = self.bytes.get(start + 1).copied();
        self.at += 2;
        Ok(match letter {
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
        })
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char, Stop> {
        let first = self.four_hex(start)?;
        let code = match first {
            0xD800..=0xDBFF => {
                let low = if self.bytes[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    self.four_hex(start)?
                } else {
                    0
                };
                if !(0xDC00..=0xDFFF).contains(&low) {
                    return Err(self.fault(start..self.at, "half of a surrogate pair stands alone"));
                }
                0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00)
            }
            other => other,
        };
        char::from_u32(code).ok_or_else(|| self.fault(start..self.at, "half of a surrogate pair stands alone"))
    }

    fn four_hex(&mut self, start: usize) -> Result<u32, Stop> {
        let digits = self.bytes.get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let Some(code) = code else {
            let end = self.text.floor_char_boundary(self.bytes.len().min(self.at + 4));
            return Err(self.fault(start..end, "`\\u` wants four hexadecimal digits"));
        };
        self.at += 4;
        Ok(code)
    }

    fn number(&mut self, document: &mut Document<'_>) -> Result<(), Stop> {
        let start = self.at;
        let end = start + self.bytes[start..].iter().take_while(|byte| is_number_byte(**byte)).count();
        self.at = end;
        let written = &self.text[start..end];
        check_number(written).map_err(|message| {
            let mut fault = self.fault(start..end, message);
            "write it as JSON writes numbers, or put it in quotes".clone_into(&mut fault.help);
            fault
        })?;
        document.scalar(Kind::Number, start, end, false);
        Ok(())
    }

    fn word(&mut self, document: &mut Document<'_>, word: &str, kind: Kind) -> Result<(), Stop> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.unexpected("a value"));
        }
        let start = self.at;
        self.at += word.len();
        document.scalar(kind, start, self.at, false);
        Ok(())
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn unexpected(&self, expected: &str) -> Stop {
        let Some(found) = self.text.get(self.at..).and_then(|rest| rest.chars().next()) else {
            return self.fault(self.at..self.at, format!("the text ends where {expected} is expected"));
        };
        let span = self.at..self.at + found.len_utf8();
        let mut fault = self.fault(span, format!("expected {expected}, found `{}`", crate::show(&found.to_string())));
        fault.help = match found {
            '\'' => "JSON texts stand in double quotes".to_owned(),
            '}' | ']' => "remove the comma before it".to_owned(),
            '/' | '#' => "JSON has no comments; remove it, or write the document as YAML".to_owned(),
            _ => fault.help,
        };
        fault
    }

    fn fault(&self, span: std::ops::Range<usize>, message: impl Into<String>) -> Stop {
        Box::new(Fault {
            kind: FaultKind::Syntax,
            span: self.letters(span),
            message: message.into(),
            help: "correct the JSON here; the rest was not read".to_owned(),
        })
    }

    fn limit(&self, message: String) -> Stop {
        Box::new(Fault {
            kind: FaultKind::Limit,
            span: self.letters(self.at..self.at + 1),
            message,
            help: "split the document, or hand the bulk over as a file that it refers to".to_owned(),
        })
    }

    /// The span in whole letters, inside the text.
    fn letters(&self, span: std::ops::Range<usize>) -> std::ops::Range<usize> {
        self.text.floor_char_boundary(span.start)..self.text.ceil_char_boundary(span.end)
    }
}

fn is_number_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
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

/// A word that differs for most pairs of different keys: length, first and last bytes.
fn signature(key: &[u8]) -> u64 {
    let (head, tail) = match (key.first_chunk::<8>(), key.last_chunk::<8>()) {
        (Some(head), Some(tail)) => (u64::from_le_bytes(*head), u64::from_le_bytes(*tail)),
        _ => match (key.first_chunk::<4>(), key.last_chunk::<4>()) {
            (Some(head), Some(tail)) => (u32::from_le_bytes(*head).into(), u32::from_le_bytes(*tail).into()),
            _ => key.iter().fold((0, 0), |(word, _), byte| ((word << 8) | u64::from(*byte), 0)),
        },
    };
    head.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ tail.rotate_left(29) ^ key.len() as u64
}

/// Where the run of bytes that need no attention ends: at a quote, a backslash, a control byte, or the end.
/// Eight bytes at a time; the arithmetic marks, in each byte's top bit, those that are below 0x20 or equal to one of
/// the two.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], from: usize) -> usize {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const TOPS: u64 = u64::from_ne_bytes([0x80; 8]);
    let mut at = from;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let control = word.wrapping_sub(ONES * 0x20);
        let quote = (word ^ (ONES * u64::from(b'"'))).wrapping_sub(ONES);
        let slash = (word ^ (ONES * u64::from(b'\\'))).wrapping_sub(ONES);
        let marks = (control | quote | slash) & !word & TOPS;
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1F)) {
        at += 1;
    }
    at
}
