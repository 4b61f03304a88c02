//! Paths that documents name: whether one can be taken as it stands.
//!
//! What a task may touch is more than a path and has a module of its own, `work::scope`, which resolves `..`; here a
//! path is taken or refused as it is written.

use countersign_contract::letter_refused_in_name;

/// Where a path may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Below the root of the project only, written in its shortest form.
    Below,
    /// Anywhere, as long as it is plain where.
    Anywhere,
}

/// What keeps a path from being taken as it stands, as the end of a sentence that begins with the path.
pub fn fault(path: &str, reach: Reach) -> Option<&'static str> {
    if letter_refused_in_name(path).is_some() {
        return Some("holds an invisible character");
    }
    if path.starts_with('-') {
        return Some("begins with a hyphen and would be read as an option");
    }
    if path.trim().len() != path.len() {
        return Some("begins or ends with white space");
    }
    if segments(path).any(|segment| segment == "..") {
        return Some("climbs with `..`");
    }
    if reach == Reach::Anywhere {
        return None;
    }
    if path.contains("://") {
        return Some("is an address, not a path");
    }
    if is_absolute(path) {
        return Some("is absolute");
    }
    if path.contains('\\') {
        return Some("has backslashes");
    }
    let untidy = path.ends_with('/') || path.split('/').any(|segment| segment.is_empty() || segment == ".");
    untidy.then_some("is not written in its shortest form")
}

/// The same path below `root` in its shortest form, if it can be had without guessing.
pub fn tidied(path: &str, root: Option<&str>) -> Option<String> {
    let path = path.trim();
    let below = match root.and_then(|root| path.strip_prefix(root.trim_end_matches('/'))) {
        Some(rest) if rest.starts_with('/') => &rest[1..],
        _ => path,
    };
    let kept: Vec<&str> = segments(below).filter(|segment| !segment.is_empty() && *segment != ".").collect();
    let tidy = kept.join("/");
    let sound =
        !is_absolute(below) && !below.contains("://") && !tidy.is_empty() && fault(&tidy, Reach::Below).is_none();
    sound.then_some(tidy)
}

/// The segments of a path, whichever separator it is written with.
pub fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\'])
}

/// Whether a path begins with a drive.
pub fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// Whether a path leaves the directory it starts from by `..`.
pub fn climbs_out(path: &str) -> bool {
    let mut depth = 0usize;
    for segment in segments(path) {
        match segment {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return true,
            },
            _ => depth += 1,
        }
    }
    false
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\', '~']) || has_drive(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_mended_or_refused() {
        let root = Some("/home/ana/shop/");
        for (path, sound, mended) in [
            ("src/a.rs", true, Some("src/a.rs")),
            (".github/x.yml", true, Some(".github/x.yml")),
            ("a..b/c", true, Some("a..b/c")),
            ("./src//a.rs", false, Some("src/a.rs")),
            ("src\\a.rs", false, Some("src/a.rs")),
            ("src/", false, Some("src")),
            (" src/a.rs", false, Some("src/a.rs")),
            ("/home/ana/shop/src/a.rs", false, Some("src/a.rs")),
            ("/home/ana/shopping/a.rs", false, None),
            ("/etc/passwd", false, None),
            ("C:\\a.rs", false, None),
            ("~/a.rs", false, None),
            ("src/../a.rs", false, None),
            ("..\\a.rs", false, None),
            ("-rf", false, None),
            ("...", true, Some("...")),
            ("docs/my notes.md", true, Some("docs/my notes.md")),
            ("\\\\server\\share", false, None),
            ("https://example.com/a.md", false, None),
            ("./-rf", false, None),
            ("a\u{202e}b", false, None),
            ("a\nb", false, None),
            (".", false, None),
        ] {
            assert_eq!(fault(path, Reach::Below).is_none(), sound, "{path:?}");
            assert_eq!(tidied(path, root).as_deref(), mended, "{path:?}");
        }
        assert_eq!(fault("/tmp/shots/1.png", Reach::Anywhere), None);
        assert!(fault("/tmp/../1.png", Reach::Anywhere).is_some());
    }
}
