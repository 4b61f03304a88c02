//! The files that a patch changes, in the form that Codex writes patches in.

/// What begins a line that names a file.
const MARKS: &[&str] = &["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// What begins a line after which lines of the file itself come, those that stay as they are with a blank before them.
const UPDATES: &[&str] = &["*** Update File: ", "*** Move to: "];

/// The paths that a patch names, each as it is written. None, if it names none.
pub(super) fn paths(patch: &str) -> Option<Vec<&str>> {
    let named = |line: &'_ str| MARKS.iter().copied().find(|mark| line.trim().starts_with(mark.trim_end()));
    // What is indented is part of a file that is updated, unless the whole patch is. Elsewhere Codex takes it for a mark.
    let is_indented = patch.starts_with([' ', '\t']);
    let mut updates = false;
    let mut found: Vec<&str> = Vec::new();
    for line in patch.lines() {
        if updates && !is_indented && line.starts_with(' ') {
            continue;
        }
        if let Some(mark) = named(line) {
            let path = line.trim().strip_prefix(mark.trim_end())?.trim();
            if path.is_empty() {
                return None;
            }
            updates = UPDATES.contains(&mark);
            found.push(path);
        }
    }
    found.dedup();
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_a_patch_touches_is_found() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n@@\n-x\n+y\n*** Add File: docs/new file.md\n\
                     +text\n*** Delete File: old\n*** End Patch\n";
        assert_eq!(paths(patch), Some(vec!["src/a.rs", "src/b.rs", "docs/new file.md", "old"]));
        assert_eq!(paths("  *** Begin Patch\n  *** Add File:a\n"), Some(vec!["a"]));
        assert_eq!(paths("*** Update File: a\r\n@@\r\n"), Some(vec!["a"]));
        for none in ["", "*** Begin Patch\n*** End Patch", "*** Add File:   \n+x", "rm -rf ."] {
            assert_eq!(paths(none), None, "{none}");
        }
    }

    #[test]
    fn a_line_that_is_added_names_no_file() {
        assert_eq!(paths("*** Update File: a\n+*** Add File: b\n-*** Add File: c\n"), Some(vec!["a"]));
    }

    #[test]
    fn a_line_that_stays_as_it_is_names_no_file() {
        let patch =
            "*** Begin Patch\n*** Update File: a\n@@\n *** Update File: b\n-x\n *** Delete File: c\n*** End Patch\n";
        assert_eq!(paths(patch), Some(vec!["a"]));
        assert_eq!(paths("*** Update File: a\n*** Move to: b\n *** Add File: c\n"), Some(vec!["a", "b"]));
        // Where no lines of a file can be, Codex passes over blanks before a mark.
        assert_eq!(paths("*** Add File: a\n+x\n  *** Update File: b\n"), Some(vec!["a", "b"]));
        assert_eq!(paths("*** Delete File: a\n *** Delete File: b\n"), Some(vec!["a", "b"]));
        assert_eq!(paths("  *** Update File: a\n  *** Update File: b\n"), Some(vec!["a", "b"]));
    }
}
