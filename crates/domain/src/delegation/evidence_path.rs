//! Paths of evidence: relative to the repository, clean, and inside it.

use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{Report, letter_refused_in_name, show};

/// Why a text is not a clean relative path, as the end of a sentence; none if it is.
pub fn fault(path: &str) -> Option<&'static str> {
    if path.contains("://") {
        return Some("is an address, not a path");
    }
    if path.starts_with(['/', '\\']) || has_drive(path) {
        return Some("is not relative to the repository");
    }
    if path.split(['/', '\\']).any(|part| part == "..") {
        return Some("holds `..`");
    }
    if letter_refused_in_name(path).is_some() {
        return Some("holds an invisible character");
    }
    if path.contains('\\') {
        return Some("holds a backslash");
    }
    if path.trim() != path {
        return Some("has white space around it");
    }
    path.split('/').any(|part| part.is_empty() || part == ".").then_some("holds an empty or a `.` part")
}

/// The same path written cleanly, where only its writing is at fault.
pub fn cleaned(path: &str) -> Option<String> {
    let path = path.trim().replace('\\', "/");
    let relative = !path.starts_with('/');
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let clean = parts.join("/");
    (relative && !path.contains("://") && fault(&clean).is_none()).then_some(clean)
}

/// Says so if a path is not clean, and offers it cleaned where only its writing is at fault.
pub(crate) fn check(path: &str, pointer: &'static str, report: &mut Report) {
    let Some(fault) = fault(path) else { return };
    let message = format!("`{}` {fault}", show(path));
    let help = "write a path relative to the repository, such as `docs/check.md`";
    let found = report.add(Pointer::at(pointer), message, help);
    if let Some(clean) = cleaned(path) {
        found.repair(Repair::replace(Pointer::at(pointer), clean, "write the same path cleanly"));
    }
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_clean_relative_paths_pass_and_the_rest_is_cleaned_where_it_can_be() {
        let cases = [
            (".qa/results.json", true, Some(".qa/results.json")),
            ("docs/my notes.md", true, Some("docs/my notes.md")),
            ("./docs/a.md", false, Some("docs/a.md")),
            ("docs//a.md", false, Some("docs/a.md")),
            ("docs\\a.md", false, Some("docs/a.md")),
            (" docs/a.md", false, Some("docs/a.md")),
            ("docs/", false, Some("docs")),
            ("...", true, Some("...")),
            (".", false, None),
            ("/etc/passwd", false, None),
            ("\\\\server\\share", false, None),
            ("C:\\a.md", false, None),
            ("../a.md", false, None),
            ("a/../b.md", false, None),
            ("a\\..\\b.md", false, None),
            ("https://example.com/a.md", false, None),
            ("a\u{202e}b", false, None),
            ("a\nb", false, None),
        ];
        for (path, clean, repaired) in cases {
            assert_eq!(fault(path).is_none(), clean, "{path}");
            assert_eq!(cleaned(path).as_deref(), repaired, "{path}");
        }
    }
}
