//! Control characters made visible, so that nothing that is shown can act on whoever shows it.

use std::borrow::Cow;

/// Whether a letter acts on a terminal or hides what stands around it: controls, and those that turn the direction of
/// writing.
pub fn acts(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// A name or a message for one line: whatever acts is written as `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, acts)
}

/// The same for several lines: line breaks and tabs stay.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| acts(letter) && !matches!(letter, '\n' | '\t'))
}

/// JSON as it was written, with what JSON lets stand in a string (the upper controls, the turns of direction) spelt as
/// `\u009b`. It means the same to every reader. Line breaks can only be layout and stay.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    let acting = |letter: char| acts(letter) && letter != '\n';
    if !json.chars().any(acting) {
        return Cow::Borrowed(json);
    }
    let spell = |letter: char| match letter {
        letter if acting(letter) => format!("\\u{:04x}", u32::from(letter)),
        letter => letter.to_string(),
    };
    Cow::Owned(json.chars().map(spell).collect())
}

fn escaped(text: &str, which: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&which) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if which(letter) {
            out.extend(letter.escape_unicode());
        } else {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

/// A path as part of a URL: what a URL may not hold is written in hexadecimal.
pub fn url_path(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}
