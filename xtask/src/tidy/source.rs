//! Rust source as a program reads it: without comments, texts and tests.

/// The source with everything in comments and in quotes blanked out. Lines and columns stay where they are, so that a
/// place found in the result is a place in the source.
pub(crate) fn code(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = source.as_bytes().to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => line_end(bytes, at),
            b'/' if bytes[at..].starts_with(b"/*") => block_comment_end(bytes, at),
            b'"' => quoted_end(bytes, at + 1),
            b'r' if !is_word(before(bytes, at)) => raw_end(bytes, at).unwrap_or(at),
            b'\'' => letter_end(source, at).unwrap_or(at),
            _ => at,
        };
        if end > at {
            blank(&mut out[at..end]);
        }
        at = end.max(at + 1);
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// [`code`] without what is compiled for tests only.
pub(crate) fn code_without_tests(source: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let code = code(source);
    let mut out = code.clone().into_bytes();
    let mut from = 0;
    while let Some(at) = code[from..].find(MARK).map(|at| from + at) {
        let end = item_end(code.as_bytes(), at + MARK.len());
        blank(&mut out[at..end]);
        from = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Where a word stands in code, by line from 1. Words next to it do not count: `Instant::now` is not in
/// `MyInstant::nowhere`.
pub(crate) fn lines_with(code: &str, needle: &str) -> Vec<usize> {
    let hits = code.match_indices(needle).filter(|(at, _)| {
        let (bytes, end) = (code.as_bytes(), at + needle.len());
        let joined_before = is_word(needle.as_bytes()[0]) && is_word(before(bytes, *at));
        let joined_after =
            is_word(needle.as_bytes()[needle.len() - 1]) && bytes.get(end).is_some_and(|byte| is_word(*byte));
        !joined_before && !joined_after
    });
    hits.map(|(at, _)| line_of(code, at)).collect()
}

/// Every path that a `use` names, with braces written out, and its line: `std::{fs, io}` is `std::fs` and `std::io`.
pub(crate) fn used_paths(code: &str) -> Vec<(usize, String)> {
    let mut paths = Vec::new();
    for (at, _) in code.match_indices("use ") {
        if is_word(before(code.as_bytes(), at)) {
            continue;
        }
        let rest = &code[at + 4..];
        let tree: String = rest[..rest.find(';').unwrap_or(0)].split_whitespace().collect();
        let line = line_of(code, at);
        write_out("", &tree, &mut |path| paths.push((line, path)));
    }
    paths
}

fn write_out(stem: &str, tree: &str, take: &mut impl FnMut(String)) {
    match tree.split_once('{') {
        None => take(format!("{stem}{tree}")),
        Some((head, rest)) => {
            let mut depth = 0;
            let mut from = 0;
            for (at, byte) in rest.bytes().enumerate() {
                match byte {
                    b'{' => depth += 1,
                    b',' | b'}' if depth == 0 => {
                        write_out(&format!("{stem}{head}"), &rest[from..at], take);
                        from = at + 1;
                    }
                    b'}' => depth -= 1,
                    _ => {}
                }
            }
        }
    }
}

/// The line of a place, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1
}

fn blank(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn before(bytes: &[u8], at: usize) -> u8 {
    at.checked_sub(1).map_or(b' ', |at| bytes[at])
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| at + length)
}

fn block_comment_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

fn quoted_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of `r"…"` or `r#"…"#` with any number of marks; none if this is just the letter.
fn raw_end(bytes: &[u8], start: usize) -> Option<usize> {
    let marks = bytes[start + 1..].iter().take_while(|byte| **byte == b'#').count();
    let open = start + 1 + marks;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let close: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', marks)).collect();
    let length = bytes[open + 1..].windows(close.len()).position(|window| window == close);
    Some(length.map_or(bytes.len(), |length| open + 1 + length + close.len()))
}

/// The end of `'x'` or `'\n'`; none if this begins a lifetime.
fn letter_end(source: &str, start: usize) -> Option<usize> {
    let rest = &source[start + 1..];
    if let Some(escape) = rest.strip_prefix('\\') {
        return escape.get(1..).and_then(|rest| rest.find('\'')).map(|length| start + 4 + length);
    }
    let letter = rest.chars().next()?;
    rest[letter.len_utf8()..].starts_with('\'').then(|| start + 2 + letter.len_utf8())
}

/// The end of the item that follows: its closing brace, or the semicolon if it has none.
fn item_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0;
    for (at, byte) in bytes.iter().enumerate().skip(start) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => {
                depth -= 1;
                if depth == 0 && *byte == b'}' {
                    return at + 1;
                }
            }
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_texts_are_blank_and_code_stays_in_place() {
        let source = "a // std::fs\n/* b /* c */ d */ e \"f\\\" g\" h r#\"i\" j\"# 'k' '\\'' '\\u{1F600}' &'l m";
        let found = code(source);
        assert_eq!(found.len(), source.len());
        assert_eq!(found.split_whitespace().collect::<Vec<_>>(), ["a", "e", "h", "&'l", "m"]);
        assert_eq!(line_of(&found, found.find('m').unwrap_or(0)), 2);
    }

    #[test]
    fn what_is_compiled_for_tests_is_left_out() {
        let source =
            "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() { {} }\n}\nfn c() {}\n#[cfg(test)]\nmod d;\nfn e() {}";
        let found = code_without_tests(source);
        assert!(!found.contains("fn b"));
        assert!(!found.contains("mod d"));
        assert!(found.contains("fn c") && found.contains("fn e"));
    }

    #[test]
    fn braces_in_a_use_are_written_out() {
        let paths: Vec<String> =
            used_paths("use std::{fs, io::{self, Read}};\npub use a::b;").into_iter().map(|it| it.1).collect();
        assert_eq!(paths, ["std::fs", "std::io::self", "std::io::Read", "a::b"]);
    }

    #[test]
    fn a_word_inside_another_does_not_count() {
        assert_eq!(lines_with("MyInstant::nowhere\nInstant::now()", "Instant::now"), [2]);
    }
}
