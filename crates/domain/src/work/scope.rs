//! What a task may touch: the one normal form of a resource, and the one answer to whether two overlap.
//!
//! A resource is a path below the root of the project. Two resources overlap when they are equal or one contains the
//! other, segment by segment: `src` contains `src/api.py` and has nothing to do with `src2`. The root is the whole tree
//! and overlaps everything.

use crate::paths::{self, has_drive};
use crate::plain::is_plain;
use countersign_contract::{letter_refused_in_name, nfc};
use std::borrow::Cow;

/// The normal form of the root.
pub const ROOT: &str = ".";

/// What belongs to the program itself and to no task.
pub const RESERVED: &str = ".countersign";

/// What says how the programs behave that work here, the hooks of Countersign among it.
pub const SETTINGS: [&str; 4] = [".claude", ".codex", ".git", ".mcp.json"];

/// Why a text is not a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Nothing but white space.
    Blank,
    /// A control character, NUL among them, or one that changes the direction of what is shown.
    Letter(char),
    /// It begins with a drive.
    Drive,
    /// It begins at the root of a file system.
    Absolute,
    /// Its `..` lead out of the project.
    LeavesRoot,
    /// What is left after `.` and `..` are resolved begins or ends with white space, and so names another file as soon
    /// as somebody trims it.
    Edge,
}

impl Refused {
    /// What is wrong, as a clause.
    pub fn why(self) -> String {
        match self {
            Refused::Blank => "it is blank".to_owned(),
            Refused::Letter(letter) => {
                let bytes: String =
                    letter.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("%{byte:02X}")).collect();
                format!("it holds the invisible character {}, which is named as `{bytes}`", letter.escape_unicode())
            }
            Refused::Drive => "it begins with a drive letter".to_owned(),
            Refused::Absolute => "it is absolute".to_owned(),
            Refused::LeavesRoot => "its `..` lead out of the project".to_owned(),
            Refused::Edge => "it begins or ends with white space".to_owned(),
        }
    }

    /// What to do about it.
    pub fn cure(self) -> &'static str {
        match self {
            Refused::Blank => "name a path below the root of the project",
            Refused::Letter(_) => {
                "remove the character; rename a file that is called so, or name it in scopes and changes with `%` and two \
                 hexadecimal digits for each unusual byte of that part of its path, such as `a%09b` where there is a tab"
            }
            Refused::Drive | Refused::Absolute | Refused::LeavesRoot => "write it relative to the root of the project",
            Refused::Edge => "rename the file, or name the folder that holds it",
        }
    }
}

/// The normal form of a resource, borrowed when the text is normal already: trimmed, `/` between segments, without `.`,
/// `..`, empty segments and a trailing `/`, in Unicode's normal form C.
pub fn normal(text: &str) -> Result<Cow<'_, str>, Refused> {
    if is_plain(text) {
        return Ok(Cow::Borrowed(text));
    }
    let text = text.trim();
    if is_normal(text) { Ok(Cow::Borrowed(text)) } else { resolve(text) }
}

/// Whether a text has the form of a resource, as far as a pattern can tell: it says something, holds no letter that is
/// refused, and begins neither with a drive nor, unless it is the root, with a separator. [`normal`] goes further.
pub fn is_formed(text: &str) -> bool {
    let text = text.trim();
    let mut letters = text.chars();
    let drive = matches!(letters.next(), Some('A'..='Z' | 'a'..='z' | '\u{212a}')) && letters.next() == Some(':');
    let rooted = text.starts_with(['/', '\\']);
    let root = || paths::segments(text).all(|segment| matches!(segment, "" | "."));
    !text.is_empty() && letter_refused_in_name(text).is_none() && !drive && (!rooted || root())
}

/// Whether `outer` is `inner` or contains it. Both are in normal form.
pub fn contains(outer: &str, inner: &str) -> bool {
    outer == ROOT || is_prefix(outer.as_bytes(), inner.as_bytes())
}

/// Whether `outer` is `inner` or the first segments of it. Most places are told apart by what can be seen without
/// comparing all of them: where the shorter ends, and its last letters, since places in a list often begin alike.
#[inline]
fn is_prefix(outer: &[u8], inner: &[u8]) -> bool {
    let Some((head, rest)) = inner.split_at_checked(outer.len()) else { return false };
    if rest.first().is_some_and(|byte| *byte != b'/') {
        return false;
    }
    match (outer.last_chunk::<8>(), head.last_chunk::<8>()) {
        (Some(one), Some(other)) if one != other => false,
        _ => outer == head,
    }
}

/// Whether two resources in normal form overlap.
pub fn overlap(one: &str, other: &str) -> bool {
    let (shorter, longer) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    // Of two that are as short as the root, either may be it.
    contains(shorter, longer) || longer == ROOT
}

/// The segments of a resource in normal form; the root has none.
pub fn segments(place: &str) -> impl Iterator<Item = &str> {
    let below = (place != ROOT).then(|| place.split('/'));
    below.into_iter().flatten()
}

/// Of a trimmed text, whether nothing is to be done. The root is left to [`resolve`].
fn is_normal(text: &str) -> bool {
    let letters = if text.is_ascii() {
        text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'\\')
    } else {
        letter_refused_in_name(text).is_none() && !text.contains('\\') && matches!(nfc(text), Cow::Borrowed(_))
    };
    letters && !has_drive(text) && text.split('/').all(|segment| !matches!(segment, "" | "." | ".."))
}

fn resolve(text: &str) -> Result<Cow<'_, str>, Refused> {
    if text.is_empty() {
        return Err(Refused::Blank);
    }
    if let Some(letter) = letter_refused_in_name(text) {
        return Err(Refused::Letter(letter));
    }
    // Composing comes first: it turns the Kelvin sign into a K, and so can make a drive.
    let text = nfc(text);
    let rooted = text.starts_with(['/', '\\']);
    let mut segments: Vec<&str> = Vec::new();
    for segment in paths::segments(&text) {
        match segment {
            "" | "." => {}
            _ if rooted => return Err(Refused::Absolute),
            ".." if segments.pop().is_none() => return Err(Refused::LeavesRoot),
            ".." => {}
            segment => segments.push(segment),
        }
    }
    let (Some(first), Some(last)) = (segments.first(), segments.last()) else {
        return Ok(Cow::Borrowed(ROOT));
    };
    if has_drive(&text) || has_drive(first) {
        return Err(Refused::Drive);
    }
    if first.starts_with(char::is_whitespace) || last.ends_with(char::is_whitespace) {
        return Err(Refused::Edge);
    }
    Ok(Cow::Owned(segments.join("/")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_have_the_normal_form_that_the_table_says() {
        let cases: &[(&str, Result<&str, Refused>)] = &[
            ("src", Ok("src")),
            ("src/api.py", Ok("src/api.py")),
            ("  src/ ", Ok("src")),
            ("src/\n", Ok("src")),
            ("./a", Ok("a")),
            ("a//b", Ok("a/b")),
            ("a/./b/", Ok("a/b")),
            (r"a\b\\c", Ok("a/b/c")),
            ("a/../b", Ok("b")),
            ("a/b/../../c/..", Ok(ROOT)),
            ("a..b/...", Ok("a..b/...")),
            ("my docs/a b.md", Ok("my docs/a b.md")),
            ("docs/a:b.md", Ok("docs/a:b.md")),
            ("e\u{301}/a", Ok("\u{e9}/a")),
            ("\u{e9}/a", Ok("\u{e9}/a")),
            (".", Ok(ROOT)),
            ("/", Ok(ROOT)),
            ("//", Ok(ROOT)),
            ("a/..", Ok(ROOT)),
            ("", Err(Refused::Blank)),
            (" \t ", Err(Refused::Blank)),
            ("..", Err(Refused::LeavesRoot)),
            ("a/../../b", Err(Refused::LeavesRoot)),
            ("/..", Err(Refused::Absolute)),
            ("/a/..", Err(Refused::Absolute)),
            ("/etc/passwd", Err(Refused::Absolute)),
            (r"\\server\share", Err(Refused::Absolute)),
            ("C:/x", Err(Refused::Drive)),
            ("c:x", Err(Refused::Drive)),
            ("./C:/x", Err(Refused::Drive)),
            ("\u{212a}:/x", Err(Refused::Drive)),
            ("a\0b", Err(Refused::Letter('\0'))),
            ("a\tb", Err(Refused::Letter('\t'))),
            ("a\u{202e}b", Err(Refused::Letter('\u{202e}'))),
            ("./ b", Err(Refused::Edge)),
            ("b /.", Err(Refused::Edge)),
        ];
        for (text, expected) in cases {
            assert_eq!(normal(text).as_deref(), expected.as_ref().map(|it| *it), "{text:?}");
        }
    }

    #[test]
    fn a_normal_path_is_not_copied() {
        for text in ["src", "src/api.py", "\u{e9}/a", "."] {
            assert!(matches!(normal(text), Ok(Cow::Borrowed(it)) if it == text), "{text}");
        }
    }

    #[test]
    fn overlap_goes_by_segments() {
        let cases = [
            ("src", "src", true),
            ("src", "src/api.py", true),
            ("src", "src2", false),
            ("src/a", "src/ab", false),
            (ROOT, "src", true),
            (ROOT, ROOT, true),
            ("a/b", "b", false),
            (".github", ROOT, true),
        ];
        for (one, other, expected) in cases {
            assert_eq!((overlap(one, other), overlap(other, one)), (expected, expected), "{one} {other}");
        }
    }

    proptest! {
        #[test]
        fn a_normal_form_is_its_own_normal_form(text in r"[ab .:/\\\u{301}\u{e9} \u{212a}C\t]{0,12}") {
            if let Ok(once) = normal(&text) {
                prop_assert_eq!(normal(&once).unwrap(), once.as_ref());
            }
        }

        #[test]
        fn overlap_is_what_comparing_segments_says(one in "[ab./]{0,8}", other in "[ab./]{0,8}") {
            if let (Ok(one), Ok(other)) = (normal(&one), normal(&other)) {
                let equal = segments(&one).zip(segments(&other)).all(|(one, other)| one == other);
                prop_assert_eq!(overlap(&one, &other), equal);
                prop_assert_eq!(overlap(&one, &other), overlap(&other, &one));
            }
        }
    }
}
