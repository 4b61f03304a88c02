//! Reading bytes that may be a text or a JSON document's spelling of one.
//!
//! The spelling differs from the text in its escapes. Instead of two readers there is one that accepts both:
//! a letter after a backslash may be the end of an escape, so it does not count as part of the word it
//! touches.

/// Whether `byte`, when it stands after a backslash, may be an escape for a white or control character.
pub fn escape_letter(byte: u8) -> bool {
    matches!(byte, b'n' | b'r' | b't' | b'b' | b'f')
}

/// The byte before `at`.
pub fn before(bytes: &[u8], at: usize) -> Option<u8> {
    at.checked_sub(1).and_then(|it| bytes.get(it)).copied()
}

/// Whether the byte before `at` is the letter of an escape such as `\n`.
pub fn after_escape(bytes: &[u8], at: usize) -> bool {
    before(bytes, at).is_some_and(escape_letter) && at >= 2 && before(bytes, at - 1) == Some(b'\\')
}

/// Whether something new may begin at `at`: the byte before is not of `class`, or it ends an escape.
pub fn begins(bytes: &[u8], at: usize, class: fn(u8) -> bool) -> bool {
    !before(bytes, at).is_some_and(class) || after_escape(bytes, at)
}

/// The end of the run of `class` that begins at `from`.
pub fn run(bytes: &[u8], from: usize, class: fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let length = rest.iter().position(|byte| !class(*byte)).unwrap_or(rest.len());
    tally(length);
    from + length
}

/// The end of the run of `class` that begins at `from`, or the place `most` bytes on. An anchor must not read
/// far.
pub fn short_run(bytes: &[u8], from: usize, most: usize, class: fn(u8) -> bool) -> usize {
    run(bytes.get(..bytes.len().min(from + most)).unwrap_or(bytes), from, class)
}

/// Counts how much the matchers read, for the test that says that it is not too much.
#[cfg(test)]
pub fn tally(length: usize) {
    READ.with(|read| read.set(read.get() + length + 1));
}
#[cfg(not(test))]
pub fn tally(_: usize) {}
#[cfg(test)]
thread_local! {
    pub static READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Whether `bytes` have `word` at `at`, in any case.
pub fn has(bytes: &[u8], at: usize, word: &[u8]) -> bool {
    bytes.get(at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word))
}

/// The end of the white space at `from`, spelt out or escaped.
pub fn white(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        tally(1);
        at = match bytes.get(at) {
            Some(b' ' | b'\t' | b'\n' | b'\r') => at + 1,
            // A text that itself spells an escape has more than one backslash in its document.
            Some(b'\\') => {
                let letter = backslashes(bytes, at);
                if !matches!(bytes.get(letter), Some(b'n' | b'r' | b't')) {
                    return at;
                }
                letter + 1
            }
            _ => return at,
        }
    }
}

/// The end of the backslashes at `from`.
pub fn backslashes(bytes: &[u8], from: usize) -> usize {
    run(bytes, from, |byte| byte == b'\\')
}

/// A quotation mark.
pub fn quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// Letters, digits and the underscore.
pub fn identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether `word`, which `escaped` says may have an escape's letter stuck to its front, is `other`, which is
/// in lower case.
#[inline]
pub fn same(word: &[u8], escaped: bool, other: &str) -> bool {
    let other = other.as_bytes();
    if !escaped {
        // Most words differ in length or in their first letter, and most comparisons end here.
        let alike = word.len() == other.len() && word.first().map(u8::to_ascii_lowercase) == other.first().copied();
        return alike && word.eq_ignore_ascii_case(other);
    }
    let rest = word.split_first().filter(|(first, _)| escape_letter(**first)).map(|(_, rest)| rest);
    word.eq_ignore_ascii_case(other) || rest.is_some_and(|rest| rest.eq_ignore_ascii_case(other))
}
