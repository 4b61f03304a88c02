//! A changed value back into text, in the form and manner of the original.

use crate::document::Form;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};
use std::fmt::Write;

/// Writes `value` the way `like` was written: JSON with the same indentation, YAML in block style, Markdown with its body
/// untouched. The comments of YAML are not kept.
pub fn write(value: &Value, like: &str, form: Form) -> String {
    match form {
        Form::Json => json(value, like),
        Form::JsonLines => {
            let lines = value.as_array().map_or(&[][..], Vec::as_slice);
            lines.iter().map(|line| format!("{line}\n")).collect()
        }
        Form::Yaml => {
            let start = if like.trim_start_matches('\u{feff}').starts_with("---") { "---\n" } else { "" };
            format!("{start}{}", yaml(value))
        }
        Form::Markdown => match crate::front_matter(like) {
            Some(range) => format!("{}{}{}", &like[..range.start], yaml(value), &like[range.end..]),
            None => yaml(value),
        },
    }
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

fn block(value: &Value, depth: usize, out: &mut String) {
    let pad = "  ".repeat(depth);
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (key, member) in members {
                out.push_str(&pad);
                out.push_str(&scalar_text(key));
                out.push(':');
                nested(member, depth, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                out.push_str(&pad);
                out.push('-');
                nested(item, depth, out);
            }
        }
        other => {
            out.push_str(&pad);
            out.push_str(&flow(other));
            out.push('\n');
        }
    }
}

fn nested(value: &Value, depth: usize, out: &mut String) {
    let container = match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    if container {
        out.push('\n');
        block(value, depth + 1, out);
    } else {
        let _ = writeln!(out, " {}", flow(value));
    }
}

fn flow(value: &Value) -> String {
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
