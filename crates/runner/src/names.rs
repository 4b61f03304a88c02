//! Names of files as they are on a disk, made into resources.

use countersign_domain::work::scope;
use std::path::{Path, PathBuf};

/// The resource that a name stands for: its normal form, if it has one that names the same file. Of a name that is no text, or
/// holds what a resource may not, the segments for which that is so are written with `%` and hexadecimal digits for every
/// unusual byte: it can then be named and shown, it lies in the same folder, and it is not passed over.
pub fn resource(name: &[u8]) -> String {
    plain(name).unwrap_or_else(|| {
        let segments: Vec<&[u8]> = name.split(|byte| *byte == b'/').collect();
        let last = segments.len() - 1;
        let written = |(nth, segment): (usize, &&[u8])| {
            plain_at((nth > 0, nth < last), segment).unwrap_or_else(|| escaped(segment))
        };
        segments.iter().enumerate().map(written).collect::<Vec<_>>().join("/")
    })
}

/// The normal form of a name, if it has one that names the same file.
fn plain(name: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(name).ok()?;
    // What is trimmed, or read as a separator, is part of the name on a disk.
    let same = text.trim().len() == text.len() && !text.contains('\\');
    scope::normal(text).ok().filter(|_| same).map(|normal| normal.into_owned())
}

/// The same of a segment, as it is where others stand before or after it: a blank at an end is trimmed at the ends of a name
/// alone, and only at its beginning a drive is one.
fn plain_at((after_others, before_others): (bool, bool), segment: &[u8]) -> Option<String> {
    let (before, after) = (if after_others { "a/" } else { "" }, if before_others { "/a" } else { "" });
    let whole = plain(&[before.as_bytes(), segment, after.as_bytes()].concat())?;
    Some(whole.strip_prefix(before)?.strip_suffix(after)?.to_owned())
}

/// The resource that a path below a folder stands for.
pub fn of_path(below: &Path) -> String {
    let parts: Vec<&[u8]> = below.iter().map(|part| part.as_encoded_bytes()).collect();
    resource(&parts.join(&b'/'))
}

/// The name with every unusual byte written as `%` and two digits.
pub(crate) fn escaped(name: &[u8]) -> String {
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let letter = |byte: &u8| if usual(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") };
    name.iter().map(letter).collect()
}

/// The name that was written so.
pub(crate) fn unescaped(written: &str) -> Vec<u8> {
    let digits = |rest: &str| rest.get(1..3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    let (mut name, mut rest) = (Vec::new(), written);
    while let Some(first) = rest.bytes().next() {
        let (byte, width) = match digits(rest).filter(|_| first == b'%') {
            Some(byte) => (byte, 3),
            None => (first, 1),
        };
        name.push(byte);
        rest = rest.get(width..).unwrap_or_default();
    }
    name
}

/// The name as a path below the folder that it is relative to.
#[cfg(unix)]
pub(crate) fn path(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(name))
}

/// The name as a path below the folder that it is relative to.
#[cfg(not(unix))]
pub(crate) fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_the_resources_that_the_table_says() {
        let cases: &[(&[u8], &str)] = &[
            (b"src/a.rs", "src/a.rs"),
            (b"my docs/a b.md", "my docs/a b.md"),
            ("e\u{301}/a".as_bytes(), "\u{e9}/a"),
            (b"src/a\nb", "src/a%0Ab"),
            (b"src/a\\b", "src/a%5Cb"),
            (b"src/ends ", "src/ends%20"),
            // The folder is called what it is called for others in it.
            (b"my dir/new\nline", "my dir/new%0Aline"),
            (b"my dir /C:/new\nline", "my dir /C:/new%0Aline"),
            ("\u{dc}n\u{ef}/back\\slash".as_bytes(), "\u{dc}n\u{ef}/back%5Cslash"),
            (b"C:/x", "C%3A/x"),
            (b"src/\xff\xfe", "src/%FF%FE"),
            ("src/a\u{202e}b".as_bytes(), "src/a%E2%80%AEb"),
        ];
        for (name, expected) in cases {
            assert_eq!(resource(name), *expected);
            assert_eq!(unescaped(&escaped(name)), *name);
            assert_eq!(scope::normal(expected).ok().as_deref(), Some(*expected), "{expected} is a resource");
        }
    }
}
