//! Paths that documents name: whether one can be taken as it stands.

use countersign_contract::letter_refused_in_name;

/// Where a path may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Below the worktree only.
    Below,
    /// Anywhere, as long as it is plain where.
    Anywhere,
}

/// What keeps a path from being taken as it stands, as the end of a sentence that begins with the path.
pub(crate) fn fault(path: &str, reach: Reach) -> Option<&'static str> {
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
pub(crate) fn tidied(path: &str, root: Option<&str>) -> Option<String> {
    let path = path.trim();
    let below = match root.and_then(|root| path.strip_prefix(root.trim_end_matches('/'))) {
        Some(rest) if rest.starts_with('/') => &rest[1..],
        _ => path,
    };
    let kept: Vec<&str> = segments(below).filter(|segment| !segment.is_empty() && *segment != ".").collect();
    let tidy = kept.join("/");
    let sound = !is_absolute(below) && !tidy.is_empty() && fault(&tidy, Reach::Below).is_none();
    sound.then_some(tidy)
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\'])
}

fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.starts_with(['/', '\\', '~'])
        || (bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':'))
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
