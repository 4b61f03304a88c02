//! Where what was taken out of handoffs is kept, and what can be used as a path.

use crate::paths::climbs_out;
use crate::plain::is_plain;
use countersign_contract::letter_refused_in_name;

/// The directory below a session's own.
const DIRECTORY: &str = "handoffs";
/// How many names for what was taken out are tried.
const KEPT_NAMES_MAX: usize = 1000;

/// The file for what a repair takes out of a handoff: `{session_path}/handoffs/session-context.json`, or the first of
/// `session-context-2.json`, `-3` and so on that is not taken, so that what was kept before is never written over.
/// None if the session's path cannot be used as one.
pub fn of_kept(session_path: &str, taken: impl Fn(&str) -> bool) -> Option<String> {
    let directory = directory(session_path)?;
    let name = |number: usize| match number {
        1 => format!("{directory}/session-context.json"),
        number => format!("{directory}/session-context-{number}.json"),
    };
    (1..=KEPT_NAMES_MAX).map(name).find(|path| !taken(path))
}

/// Whether a file is called as those are that repairs keep what they take out in, wherever it lies.
pub fn is_kept(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let middle = name.strip_prefix("session-context").and_then(|rest| rest.strip_suffix(".json"));
    middle.is_some_and(|middle| middle.is_empty() || middle.starts_with('-'))
}

fn directory(session_path: &str) -> Option<String> {
    if !is_usable(session_path) {
        return None;
    }
    let base = session_path.trim().trim_end_matches('/');
    Some(format!("{base}/{DIRECTORY}"))
}

/// Whether a text can be used as a path by someone else: it says something, holds no letter that hides what it says,
/// and does not climb out of where it starts.
pub fn is_usable(path: &str) -> bool {
    is_plain(path) || (!path.trim().is_empty() && letter_refused_in_name(path).is_none() && !climbs_out(path))
}

/// Places that systems empty without asking.
const TEMPORARY: &[&str] = &[
    "/tmp",
    "/var/tmp",
    "/private/tmp",
    "/private/var/tmp",
    "/dev/shm",
    "/var/folders",
    "$TMPDIR",
    "${TMPDIR}",
    "%TEMP%",
    "%TMP%",
];

/// Whether a file lies where it may be gone when someone looks for it.
pub fn is_temporary(path: &str) -> bool {
    let path = path.trim_start();
    let below =
        |place: &&str| path.strip_prefix(*place).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\']));
    match path.as_bytes() {
        [b'/' | b'$' | b'%', ..] => TEMPORARY.iter().any(below),
        [b'\\' | b'~', ..] | [_, b':', ..] => is_temporary_on_windows(path.as_bytes()),
        _ => false,
    }
}

fn is_temporary_on_windows(path: &[u8]) -> bool {
    const PLACE: &[u8] = br"\appdata\local\temp\";
    let same = |(byte, mark): (&u8, &u8)| byte.eq_ignore_ascii_case(mark) || (*byte == b'/' && *mark == b'\\');
    path.windows(PLACE.len()).any(|window| window.iter().zip(PLACE).all(same))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_places_are_told_by_their_segments() {
        let cases = [
            ("/tmp", true),
            ("/tmp/a.md", true),
            ("/tmpfiles/a.md", false),
            ("/home/ana/tmp/a.md", false),
            ("/var/folders/x/y", true),
            ("$TMPDIR/a", true),
            (r"C:\Users\Ana\AppData\Local\Temp\a.md", true),
            ("C:/Users/Ana/AppData/Local/Temp/a.md", true),
            ("docs/a.md", false),
            ("", false),
        ];
        for (path, temporary) in cases {
            assert_eq!(is_temporary(path), temporary, "{path}");
        }
    }

    #[test]
    fn what_was_kept_before_is_not_written_over() {
        let first = "s/handoffs/session-context.json";
        assert_eq!(of_kept("s", |_| false).as_deref(), Some(first));
        assert_eq!(of_kept("s", |path| path == first).as_deref(), Some("s/handoffs/session-context-2.json"));
        assert_eq!(of_kept("s", |_| true), None);
        for session in ["../s", "s\u{0}", " "] {
            assert_eq!(of_kept(session, |_| false), None, "{session:?}");
        }
        for (path, kept) in [
            (first, true),
            ("session-context-12.json", true),
            ("/tmp/countersign-handoffs/session-context-3f56.json", true),
            ("s/handoffs/session-contexts.json", false),
            ("s/session-context.json/notes.json", false),
            ("s/session-context.md", false),
        ] {
            assert_eq!(is_kept(path), kept, "{path}");
        }
    }
}
