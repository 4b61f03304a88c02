//! The YAML parser, alone and as the front matter of Markdown.

use crate::document::{holds, refuses, same};
use crate::{SIZE_MAX, text};
use countersign_contract::{Form, front_matter, parse};

/// YAML, and Markdown with front matter.
pub fn yaml(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    for form in [Form::Yaml, Form::Markdown] {
        match parse(text, form, SIZE_MAX) {
            Ok(document) => holds(&document),
            Err(fault) => refuses(text, &fault),
        }
    }
    // A text that does not end its last line cannot be fenced without changing it.
    let Ok(plain) = parse(text, Form::Yaml, SIZE_MAX) else { return };
    let wrapped = format!("---\n{text}---\nprose\n");
    // A text with a fence of its own ends the front matter early and is another document.
    let whole = text.ends_with('\n') && front_matter(&wrapped).is_some_and(|range| range.len() == text.len());
    if let (true, Ok(inside)) = (whole, parse(&wrapped, Form::Markdown, SIZE_MAX)) {
        assert!(same(&plain.root().to_value(), &inside.root().to_value()), "front matter reads another value");
    }
}
