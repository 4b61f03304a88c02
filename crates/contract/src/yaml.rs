//! YAML 1.2 into a [`Document`], from the events of `granit-parser`.
//!
//! Only what means the same to every reader is taken: anchors, aliases, tags, merge keys, directives and a second
//! document are refused, `no` and `on` stay texts, and a number that YAML 1.1 and 1.2 read differently is refused.

use crate::document::{Document, Kind};
use crate::fault::{Fault, FaultKind};
use crate::{DEPTH_MAX, NODES_MAX, json};
use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, Span};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// Reads the one YAML document in `text[from..to]` and adds it to `document`.
pub(crate) fn parse(document: &mut Document<'_>, from: usize, to: usize) -> Result<(), Fault> {
    let source = document.text();
    let mut options = Options::default();
    options.emit_comments = false;
    options.disallow_directives = true;
    options.emit_unresolved_aliases = true;
    options.flow_nesting_limit = DEPTH_MAX;
    options.block_nesting_limit = DEPTH_MAX;
    let mut builder = Builder { document, base: from, end: to, open: Vec::new(), documents: 0 };
    for event in Parser::new_from_str_with_options(&source[from..to], options) {
        let (event, span) = event.map_err(|error| builder.scan_fault(&error))?;
        builder.take(event, &span)?;
    }
    if builder.document.len() == 0 {
        return Err(builder.syntax(from..source.ceil_char_boundary(from + 1).min(to), "the document is empty"));
    }
    Ok(())
}

struct Builder<'b, 's> {
    document: &'b mut Document<'s>,
    base: usize,
    end: usize,
    open: Vec<Open>,
    documents: usize,
}

/// A container that is not finished.
struct Open {
    node: usize,
    /// Of an object: the keys so far.
    keys: Option<HashSet<Box<str>>>,
    /// Of an object: whether the next node is a key.
    key_next: bool,
}

impl Builder<'_, '_> {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), Fault> {
        let range = self.range(span);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(self.feature(range, "a second document begins here", "keep one document in a file"));
                }
                Ok(())
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                Err(self.feature(range, "aliases are not read", "write the value out where it is meant"))
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.plain_node(&range, anchor, tag.is_some())?;
                self.scalar(text, style, range)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.plain_node(&range, anchor, tag.is_some())?;
                self.container(Kind::List, range)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.plain_node(&range, anchor, tag.is_some())?;
                self.container(Kind::Object, range)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(open) = self.open.pop() {
                    // A block text keeps its last line break, which is white space to the container around it.
                    let last = self.document.span_of(self.document.len().saturating_sub(1)).end;
                    let end = self.trimmed_end(range.end).max(last);
                    self.document.close(open.node, end);
                }
                self.value_done();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn scalar(&mut self, text: Cow<'_, str>, style: ScalarStyle, range: Range<usize>) -> Result<(), Fault> {
        self.room(&range)?;
        if self.open.last().is_some_and(|open| open.key_next) {
            return self.key(&text, style, range);
        }
        let plain = style == ScalarStyle::Plain;
        let (kind, normal) = if plain { self.resolve(&text, &range)? } else { (Kind::Text, None) };
        self.add(kind, range, normal.as_deref().unwrap_or(&text));
        self.value_done();
        Ok(())
    }

    fn key(&mut self, text: &str, style: ScalarStyle, range: Range<usize>) -> Result<(), Fault> {
        let plain = style == ScalarStyle::Plain;
        if plain && text == "<<" {
            return Err(self.feature(range, "merge keys are not read", "write the members out where they are meant"));
        }
        if plain && !matches!(self.resolve(text, &range)?, (Kind::Text, _)) {
            let message = format!("key `{}` is not a text", crate::show(text));
            return Err(self.feature(range, message, "put the key in quotes"));
        }
        let fresh = match self.open.last_mut() {
            Some(Open { keys: Some(keys), key_next, .. }) => {
                *key_next = false;
                keys.insert(text.into())
            }
            _ => true,
        };
        if !fresh {
            return Err(Fault {
                kind: FaultKind::DuplicateKey,
                span: range,
                message: format!("key `{}` appears twice in one object", crate::show(text)),
                help: "keep one of the two; which one a reader would take is not defined".to_owned(),
            });
        }
        self.add(Kind::Text, range, text);
        Ok(())
    }

    fn container(&mut self, kind: Kind, range: Range<usize>) -> Result<(), Fault> {
        self.room(&range)?;
        if self.open.last().is_some_and(|open| open.key_next) {
            return Err(self.feature(range, "a key is a list or an object", "use texts as keys"));
        }
        if self.open.len() >= DEPTH_MAX {
            return Err(self.limit(range, format!("lists and objects are nested deeper than {DEPTH_MAX}")));
        }
        let node = self.document.open(kind, range.start);
        let object = kind == Kind::Object;
        self.open.push(Open { node, keys: object.then(HashSet::new), key_next: object });
        Ok(())
    }

    fn value_done(&mut self) {
        if let Some(open) = self.open.last_mut() {
            open.key_next = open.keys.is_some();
        }
    }

    fn add(&mut self, kind: Kind, range: Range<usize>, text: &str) {
        let source = self.document.text();
        let written = source.get(range.clone()).unwrap_or_default();
        let inner = match written.as_bytes() {
            [b'"', .., b'"'] | [b'\'', .., b'\''] if kind == Kind::Text => Some(&written[1..written.len() - 1]),
            _ => None,
        };
        if inner == Some(text) {
            self.document.scalar(kind, range.start, range.end, true);
        } else if written == text && !written.is_empty() {
            self.document.scalar(kind, range.start, range.end, false);
        } else {
            self.document.scalar_decoded(kind, range.start, range.end, text.into());
        }
    }

    /// What a plain scalar means, by YAML 1.2's core schema; and its text in JSON's grammar where that differs.
    fn resolve(&self, text: &str, range: &Range<usize>) -> Result<(Kind, Option<String>), Fault> {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return Ok((Kind::Null, Some("null".to_owned()))),
            "true" | "True" | "TRUE" => return Ok((Kind::Bool, Some("true".to_owned()))),
            "false" | "False" | "FALSE" => return Ok((Kind::Bool, Some("false".to_owned()))),
            _ => {}
        }
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        if matches!(unsigned, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN") {
            let message = format!("`{text}` is not a finite number");
            return Err(self.feature(range.clone(), message, "write a number"));
        }
        let radix = [("0x", 16), ("0o", 8)].iter().find_map(|(mark, radix)| {
            let digits = unsigned.strip_prefix(mark)?;
            i64::from_str_radix(digits, *radix).ok().filter(|_| !digits.starts_with(['+', '-']))
        });
        if let Some(value) = radix {
            let value = if text.starts_with('-') { -value } else { value };
            return self.number(value.to_string(), range);
        }
        if is_number_of_1_1(unsigned) {
            let message = format!("`{}` is a number to some readers of YAML and a text to others", crate::show(text));
            return Err(self.feature(range.clone(), message, "put it in quotes, or write it as a plain number"));
        }
        let Some(first) = unsigned.bytes().next().filter(|byte| byte.is_ascii_digit() || *byte == b'.') else {
            return Ok((Kind::Text, None));
        };
        let looks_numeric = unsigned.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
            && unsigned.parse::<f64>().is_ok();
        if !looks_numeric {
            return Ok((Kind::Text, None));
        }
        let leading_zero = first == b'0' && unsigned.len() > 1 && unsigned.as_bytes()[1].is_ascii_digit();
        if leading_zero {
            let message = format!("`{text}` is octal to some readers of YAML and decimal to others");
            return Err(self.feature(range.clone(), message, "drop the leading zero, or put it in quotes"));
        }
        let sign = if text.starts_with('-') { "-" } else { "" };
        let mut number = unsigned.to_owned();
        if number.starts_with('.') {
            number.insert(0, '0');
        }
        if let Some(dot) = number.find('.').filter(|dot| !number[dot + 1..].starts_with(|c: char| c.is_ascii_digit())) {
            number.insert(dot + 1, '0');
        }
        self.number(format!("{sign}{number}"), range)
    }

    fn number(&self, number: String, range: &Range<usize>) -> Result<(Kind, Option<String>), Fault> {
        json::check_number(&number)
            .map_err(|message| self.feature(range.clone(), message, "put it in quotes if it is meant as text"))?;
        Ok((Kind::Number, Some(number)))
    }

    fn plain_node(&self, range: &Range<usize>, anchor: usize, tagged: bool) -> Result<(), Fault> {
        if anchor != 0 {
            return Err(self.feature(range.clone(), "anchors are not read", "remove the `&name`"));
        }
        if tagged {
            return Err(self.feature(range.clone(), "tags are not read", "remove the `!tag`; put texts in quotes"));
        }
        Ok(())
    }

    fn room(&self, range: &Range<usize>) -> Result<(), Fault> {
        if self.document.len() >= NODES_MAX {
            return Err(self.limit(range.clone(), format!("more than {NODES_MAX} values in one document")));
        }
        Ok(())
    }

    fn range(&self, span: &Span) -> Range<usize> {
        let range = span.byte_range().unwrap_or_default();
        (self.base + range.start).min(self.end)..(self.base + range.end).min(self.end)
    }

    /// A block container ends, for the parser, where the next thing begins; for people, after its last letter.
    fn trimmed_end(&self, end: usize) -> usize {
        self.document.text()[..end].trim_end().len()
    }

    fn scan_fault(&self, error: &ScanError) -> Fault {
        let at = self.base + error.marker().byte_offset().unwrap_or_default();
        let text = self.document.text();
        let at = text.floor_char_boundary(at.min(self.end));
        let end = text[at..self.end].chars().next().map_or(at, |letter| at + letter.len_utf8());
        let info = error.info();
        if info.contains("nesting") || info.contains("recursion") {
            return self.limit(at..end, format!("lists and objects are nested deeper than {DEPTH_MAX}"));
        }
        self.syntax(at..end, info)
    }

    fn syntax(&self, span: Range<usize>, message: impl Into<String>) -> Fault {
        let message = crate::show(&message.into());
        Fault {
            kind: FaultKind::Syntax,
            span,
            message: format!("this is not YAML: {message}"),
            help: "correct the YAML here; the rest was not read".to_owned(),
        }
    }

    fn feature(&self, span: Range<usize>, message: impl Into<String>, help: &str) -> Fault {
        Fault { kind: FaultKind::YamlFeature, span, message: message.into(), help: help.to_owned() }
    }

    fn limit(&self, span: Range<usize>, message: String) -> Fault {
        let help = "split the document, or hand the bulk over as a file that it refers to".to_owned();
        Fault { kind: FaultKind::Limit, span, message, help }
    }
}

/// What YAML 1.1 reads as a number and 1.2 as a text: digits with `_` between them, binary, and base 60.
fn is_number_of_1_1(unsigned: &str) -> bool {
    let binary = unsigned
        .strip_prefix("0b")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| matches!(byte, b'0' | b'1' | b'_')));
    let digits = unsigned.starts_with(|letter: char| letter.is_ascii_digit());
    let spaced =
        unsigned.contains('_') && unsigned.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'_' | b'.'));
    let sixty =
        unsigned.contains(':') && unsigned.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.'));
    let hexadecimal = ["0x", "0o"]
        .iter()
        .find_map(|mark| unsigned.strip_prefix(mark))
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_'));
    binary || hexadecimal || (digits && (spaced || sixty))
}
