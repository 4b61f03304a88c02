//! Members of a YAML document replaced, added and taken out where they stand, so that everything around them stays.

use super::write::{apply, block, flow, one_line};
use crate::comments::comments;
use crate::document::{Cursor, Form, Kind};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::ops::Range;

/// The text with what differs changed in place, if the document is laid out so that this can be done. Comments inside of
/// what is changed are put above it.
pub(super) fn splice(value: &Value, like: &str, form: Form) -> Option<String> {
    let document = crate::parse(like, form, crate::SIZE_MAX_LIMIT).ok()?;
    let mut splicing = Splicing { text: like, form, comments: comments(&document), edits: Vec::new() };
    if !splicing.object(document.root(), value.as_object()?) {
        return None;
    }
    let mut edits = splicing.edits;
    // Of what is added in one place the innermost comes first, as it was found.
    edits.sort_by_key(|(range, _)| range.start);
    if like.contains("\r\n") {
        edits.iter_mut().for_each(|(_, text)| *text = text.replace('\n', "\r\n"));
    }
    let out = apply(like, edits);
    // However a document is laid out: what is written must mean what it should.
    let read = crate::parse(&out, form, crate::SIZE_MAX_LIMIT).ok()?.root().to_value();
    (read == *value).then_some(out)
}

struct Splicing<'t> {
    text: &'t str,
    form: Form,
    comments: Vec<Range<usize>>,
    edits: Vec<(Range<usize>, String)>,
}

impl Splicing<'_> {
    /// Changes `old` to `new`, or nothing at all and says so.
    fn value(&mut self, old: Cursor<'_>, new: &Value) -> bool {
        let before = self.edits.len();
        let done = match (old.kind(), new) {
            (Kind::Object, Value::Object(members)) => old.to_value() == *new || self.object(old, members),
            (Kind::List, Value::Array(items)) => {
                old.items().count() == items.len() && old.items().zip(items).all(|(old, new)| self.value(old, new))
            }
            (Kind::Object | Kind::List, _) | (_, Value::Object(_) | Value::Array(_)) => false,
            _ if old.to_value() == *new => true,
            _ => one_line(old, new, self.form).map(|edit| self.edits.push(edit)).is_some(),
        };
        if !done {
            self.edits.truncate(before);
        }
        done
    }

    /// Changes the members of an object that has a line for each.
    fn object(&mut self, old: Cursor<'_>, new: &Map<String, Value>) -> bool {
        let Some(indent) = self.indent(old) else { return false };
        let mut end = old.span().start;
        let mut stays = false;
        for (place, (key, value)) in old.entries().enumerate() {
            end = end_of(key, value);
            match new.get(key.raw()) {
                Some(new) => {
                    stays = true;
                    if !self.value(value, new) {
                        self.replace(key, end, new, indent);
                    }
                }
                // It would take the mark of a list's item with it.
                None if place == 0 && !self.text[self.line_start(key)..key.span().start].trim().is_empty() => {
                    return false;
                }
                None => self.remove(key, end, indent),
            }
        }
        let known: HashSet<&str> = old.entries().map(|(key, _)| key.raw()).collect();
        let added: Map<String, Value> =
            new.iter().filter(|(key, _)| !known.contains(key.as_str())).map(owned).collect();
        if stays && !added.is_empty() {
            let end = self.line_end(end);
            let mut lines = String::new();
            block(&Value::Object(added), indent, &mut lines);
            let last = !self.text[..end].ends_with('\n');
            let lines = if last { format!("\n{}", lines.trim_end_matches('\n')) } else { lines };
            self.edits.push((end..end, lines));
        }
        stays
    }

    /// How far the members of an object are indented, if each begins a line and is followed by its colon at once.
    fn indent(&self, object: Cursor<'_>) -> Option<usize> {
        // Not on one line with others, which could be as long as the document.
        let in_lines = !self.text[object.span().start..].starts_with('{');
        let mut indent = None;
        for (place, (key, _)) in object.entries().filter(|_| in_lines).enumerate() {
            let before = &self.text[self.line_start(key)..key.span().start];
            let plain = |letter: char| letter == ' ' || (place == 0 && letter == '-');
            let fits = before.chars().all(plain) && self.text[key.span().end..].starts_with(':');
            if !fits || indent.is_some_and(|indent| indent != before.len()) {
                return None;
            }
            indent = Some(before.len());
        }
        indent
    }

    fn replace(&mut self, key: Cursor<'_>, end: usize, new: &Value, indent: usize) {
        let region = key.span().end..end;
        self.lift(key, &region, indent);
        let mut text = String::from(":");
        match new {
            Value::Object(members) if !members.is_empty() => {
                text.push('\n');
                block(new, indent + 2, &mut text);
            }
            Value::Array(items) if !items.is_empty() => {
                text.push('\n');
                block(new, indent + 2, &mut text);
            }
            other => {
                text.push(' ');
                text.push_str(&flow(other));
            }
        }
        self.edits.push((region, text.trim_end_matches('\n').to_owned()));
    }

    fn remove(&mut self, key: Cursor<'_>, end: usize, indent: usize) {
        let region = self.line_start(key)..self.line_end(end);
        let kept = self.comments_in(&region, indent);
        self.edits.push((region, kept));
    }

    /// Puts the comments of a region above the line of `key`.
    fn lift(&mut self, key: Cursor<'_>, region: &Range<usize>, indent: usize) {
        let lifted = self.comments_in(region, indent);
        if !lifted.is_empty() {
            let above = self.line_start(key);
            self.edits.push((above..above, lifted));
        }
    }

    fn comments_in(&self, region: &Range<usize>, indent: usize) -> String {
        let from = self.comments.partition_point(|comment| comment.start < region.start);
        let inside = self.comments[from..].iter().take_while(|comment| comment.start < region.end);
        inside.map(|comment| format!("{}{}\n", " ".repeat(indent), &self.text[comment.clone()])).collect()
    }

    fn line_start(&self, at: Cursor<'_>) -> usize {
        self.text[..at.span().start].rfind('\n').map_or(self.first(), |before| before + 1)
    }

    /// After the mark of the order of bytes, if there is one.
    fn first(&self) -> usize {
        self.text.len() - self.text.trim_start_matches('\u{feff}').len()
    }

    fn line_end(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |end| at + end + 1)
    }
}

fn owned((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

/// Where a member ends: after the last letter that belongs to it, which no comment does.
fn end_of(key: Cursor<'_>, value: Cursor<'_>) -> usize {
    last_letter(value).unwrap_or_default().max(key.span().end + 1)
}

fn last_letter(value: Cursor<'_>) -> Option<usize> {
    let span = value.span();
    let written = &value.document().text()[span.clone()];
    match value.kind() {
        Kind::Object | Kind::List if written.starts_with(['{', '[']) => Some(span.end),
        Kind::Object => value.entries().last().map(|(key, value)| end_of(key, value)),
        Kind::List => value.items().filter_map(last_letter).last().or(Some(span.start)),
        _ if written.is_empty() => None,
        _ => Some(span.start + written.trim_end().len()),
    }
}
