//! Bytes into a [`Document`], in any of the four forms.

use crate::document::{Document, Form, Kind};
use crate::fault::{Fault, FaultKind};
use crate::{json, yaml};
use std::ops::Range;

impl Form {
    /// The form that a file name promises, if its ending is one that documents have.
    pub fn of_name(name: &str) -> Option<Form> {
        const ENDINGS: &[(&str, Form)] = &[
            ("json", Form::Json),
            ("jsonl", Form::JsonLines),
            ("ndjson", Form::JsonLines),
            ("yaml", Form::Yaml),
            ("yml", Form::Yaml),
            ("md", Form::Markdown),
            ("markdown", Form::Markdown),
        ];
        let (_, ending) = name.rsplit_once('.')?;
        ENDINGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(ending)).map(|(_, form)| *form)
    }

    /// The form that a text without a name seems to have, told from its first letters alone.
    pub fn of_text(text: &str) -> Form {
        let start = text.trim_start_matches('\u{feff}').trim_start();
        if front_matter(text).is_some() {
            return Form::Markdown;
        }
        if !start.starts_with(['{', '[']) {
            return Form::Yaml;
        }
        let mut lines = start.lines().filter(|line| !line.trim().is_empty());
        let several = lines.next().is_some_and(|line| line.trim_end().ends_with('}'))
            && lines.next().is_some_and(|line| line.starts_with('{'));
        if several { Form::JsonLines } else { Form::Json }
    }

    /// The name of the form.
    pub fn as_str(self) -> &'static str {
        match self {
            Form::Json => "JSON",
            Form::JsonLines => "JSON Lines",
            Form::Yaml => "YAML",
            Form::Markdown => "Markdown with front matter",
        }
    }
}

/// Reads a text as a document of `form`. `size_max` is in bytes.
pub fn parse(text: &str, form: Form, size_max: usize) -> Result<Document<'_>, Fault> {
    if text.len() > size_max.min(crate::SIZE_MAX_LIMIT) {
        return Err(Fault {
            kind: FaultKind::Limit,
            span: 0..0,
            message: format!("the document has {} bytes, more than the {size_max} allowed", text.len()),
            help: "split it, or allow more with `--max-size`, and with `limits.size` where the project's configuration has it".to_owned(),
        });
    }
    let mut document = Document::new(text, form);
    let from = if text.starts_with('\u{feff}') { 3 } else { 0 };
    match form {
        Form::Json => json::parse(&mut document, from, text.len())?,
        Form::JsonLines => lines(&mut document, from)?,
        Form::Yaml => yaml::parse(&mut document, from, text.len())?,
        Form::Markdown => {
            let Some(range) = front_matter(text) else {
                return Err(Fault {
                    kind: FaultKind::Syntax,
                    span: 0..text.chars().next().map_or(0, char::len_utf8),
                    message: "this Markdown has no front matter".to_owned(),
                    help: "begin the file with a line `---`, the fields as YAML, and another line `---`".to_owned(),
                });
            };
            yaml::parse(&mut document, range.start, range.end)?;
        }
    }
    Ok(document)
}

/// Turns bytes into text, or says where they stop being UTF-8.
pub fn utf8(bytes: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(bytes).map_err(|error| Fault {
        kind: FaultKind::Syntax,
        span: error.valid_up_to()..error.valid_up_to(),
        message: format!("byte {} is not UTF-8", error.valid_up_to()),
        help: "save the file as UTF-8".to_owned(),
    })
}

/// The YAML between the two `---` lines at the head of a Markdown text.
pub fn front_matter(text: &str) -> Option<Range<usize>> {
    let from = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut at = from;
    let mut start = None;
    for line in text[from..].split_inclusive('\n') {
        let fence = line.trim_end() == "---";
        match start {
            None if fence => start = Some(at + line.len()),
            None => return None,
            Some(start) if fence => return Some(start..at),
            Some(_) => {}
        }
        at += line.len();
    }
    None
}

fn lines(document: &mut Document<'_>, from: usize) -> Result<(), Fault> {
    let text = document.text();
    let list = document.open(Kind::List, from);
    let mut at = from;
    for line in text[from..].split_inclusive('\n') {
        // JSON's white space only: a line of any other is no blank line.
        let line_end = line.trim_end_matches([' ', '\t', '\r', '\n']).len();
        if line_end > 0 {
            json::parse(document, at, at + line_end)?;
        }
        at += line.len();
    }
    document.close(list, text.len());
    Ok(())
}
