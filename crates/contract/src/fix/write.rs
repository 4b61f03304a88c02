//! A changed value back into text, in the form and manner of the original.

use super::splice::splice;
use crate::comments::comments;
use crate::document::{Cursor, Form, Kind};
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};
use std::fmt::Write;
use std::ops::Range;

/// Writes `value` the way `like` was written. Where only values differ, they alone are replaced, and everything else,
/// comments included, stays to the letter. Where members or items came or went, JSON is written anew with the same
/// indentation, JSON Lines line by line, and YAML only where it differs. YAML that is not laid out in lines is written
/// anew, its comments first. A Markdown body is never touched.
pub fn write(value: &Value, like: &str, form: Form) -> String {
    let spliced = || matches!(form, Form::Yaml | Form::Markdown).then(|| splice(value, like, form)).flatten();
    in_place(value, like, form).or_else(spliced).unwrap_or_else(|| anew(value, like, form))
}

/// The text with only the values replaced that differ, if that is all there is to do.
fn in_place(value: &Value, like: &str, form: Form) -> Option<String> {
    let document = crate::parse(like, form, crate::SIZE_MAX_LIMIT).ok()?;
    let mut edits = Vec::new();
    if form == Form::JsonLines {
        let lines = value.as_array()?;
        let olds: Vec<Cursor<'_>> = document.root().items().collect();
        if olds.len() != lines.len() {
            return None;
        }
        for (old, new) in olds.into_iter().zip(lines) {
            let mut within = Vec::new();
            if differences(old, new, form, &mut within) {
                edits.append(&mut within);
            } else {
                edits.push((old.span(), new.to_string()));
            }
        }
    } else if !differences(document.root(), value, form, &mut edits) {
        return None;
    }
    Some(apply(like, edits))
}

/// The text with every range replaced. They are in the order of the text and do not overlap.
pub(super) fn apply(text: &str, edits: Vec<(Range<usize>, String)>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, new) in edits {
        out.push_str(text.get(at..range.start).unwrap_or_default());
        out.push_str(&new);
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Collects what to replace, in the order of the text; false if members or items came or went.
fn differences(old: Cursor<'_>, new: &Value, form: Form, edits: &mut Vec<(Range<usize>, String)>) -> bool {
    match (old.kind(), new) {
        (Kind::Object, Value::Object(members)) => {
            let same_keys = old.entries().map(|(key, _)| key.raw()).eq(members.keys().map(String::as_str));
            same_keys && old.entries().zip(members.values()).all(|((_, old), new)| differences(old, new, form, edits))
        }
        (Kind::List, Value::Array(items)) => {
            let same_length = old.items().count() == items.len();
            same_length && old.items().zip(items).all(|(old, new)| differences(old, new, form, edits))
        }
        (Kind::Object | Kind::List, _) | (_, Value::Object(_) | Value::Array(_)) => false,
        _ if old.to_value() == *new => true,
        _ => one_line(old, new, form).map(|edit| edits.push(edit)).is_some(),
    }
}

/// How one value takes another's place without anything else moving.
pub(super) fn one_line(old: Cursor<'_>, new: &Value, form: Form) -> Option<(Range<usize>, String)> {
    let span = old.span();
    let written = &old.document().text()[span.clone()];
    let text = match form {
        Form::Json | Form::JsonLines => return Some((span, new.to_string())),
        // Inside `[…]` and `{…}` a plain text may end too early; quoted it never does.
        Form::Yaml | Form::Markdown if written.starts_with(['"', '\'']) => new.to_string(),
        Form::Yaml | Form::Markdown => flow(new),
    };
    // A block text is laid out over lines of its own, and an absent value has no place.
    let plain = !span.is_empty() && !written.contains('\n') && !written.starts_with(['|', '>']);
    plain.then_some((span, text))
}

fn anew(value: &Value, like: &str, form: Form) -> String {
    match form {
        Form::Json => json(value, like),
        Form::JsonLines => {
            let lines = value.as_array().map_or(&[][..], Vec::as_slice);
            lines.iter().map(|line| format!("{line}\n")).collect()
        }
        Form::Yaml => {
            let start = if like.trim_start_matches('\u{feff}').starts_with("---") { "---\n" } else { "" };
            format!("{start}{}{}", all_comments(like, form), yaml(value))
        }
        Form::Markdown => match crate::front_matter(like) {
            Some(range) => {
                let comments = all_comments(like, form);
                format!("{}{comments}{}{}", &like[..range.start], yaml(value), &like[range.end..])
            }
            None => yaml(value),
        },
    }
}

/// The comments of a document that is written anew, a line for each: what they stood beside is no longer there.
fn all_comments(like: &str, form: Form) -> String {
    let Ok(document) = crate::parse(like, form, crate::SIZE_MAX_LIMIT) else { return String::new() };
    comments(&document).into_iter().map(|comment| format!("{}\n", &like[comment])).collect()
}

fn json(value: &Value, like: &str) -> String {
    let end = if like.ends_with('\n') { "\n" } else { "" };
    let Some(indent) = indent(like) else { return format!("{value}{end}") };
    let mut out = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut out, PrettyFormatter::with_indent(indent.as_bytes()));
    match serde::Serialize::serialize(value, &mut serializer) {
        Ok(()) => format!("{}{end}", String::from_utf8_lossy(&out)),
        Err(_) => format!("{value}{end}"),
    }
}

/// The indentation of the first member, or none for a document on one line.
fn indent(like: &str) -> Option<&str> {
    let line = like.trim_end().lines().nth(1)?;
    let width = line.len() - line.trim_start_matches([' ', '\t']).len();
    Some(if width == 0 { "  " } else { &line[..width] })
}

fn yaml(value: &Value) -> String {
    let mut out = String::new();
    block(value, 0, &mut out);
    out
}

/// Adds the lines of a value, indented by so many spaces.
pub(super) fn block(value: &Value, indent: usize, out: &mut String) {
    let pad = " ".repeat(indent);
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (key, member) in members {
                out.push_str(&pad);
                out.push_str(&scalar_text(key));
                out.push(':');
                nested(member, indent, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                out.push_str(&pad);
                out.push('-');
                nested(item, indent, out);
            }
        }
        other => {
            out.push_str(&pad);
            out.push_str(&flow(other));
            out.push('\n');
        }
    }
}

fn nested(value: &Value, indent: usize, out: &mut String) {
    let container = match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    if container {
        out.push('\n');
        block(value, indent + 2, out);
    } else {
        let _ = writeln!(out, " {}", flow(value));
    }
}

pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => scalar_text(text),
        other => other.to_string(),
    }
}

/// Plain where nobody can mistake it, otherwise in the double quotes that JSON and YAML share.
fn scalar_text(text: &str) -> String {
    let safe = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | ' ');
    let plain = text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.chars().all(safe)
        && !text.ends_with(' ')
        && !is_word_of_yaml(text);
    if plain { text.to_owned() } else { Value::from(text).to_string() }
}

fn is_word_of_yaml(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    matches!(lower.as_str(), "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n")
}
