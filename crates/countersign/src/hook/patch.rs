//! The files that a patch changes, in the form that Codex writes patches in.

/// What begins a line that names a file.
const MARKS: &[&str] = &["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// The paths that a patch names, each as it is written. None, if it names none.
pub(super) fn paths(patch: &str) -> Option<Vec<&str>> {
    let named = |line: &'_ str| {
        // What is indented is part of a file, unless the whole patch is.
        let line = line.trim();
        MARKS.iter().find_map(|mark| line.strip_prefix(mark.trim_end()).map(|_| *mark))
    };
    let mut found: Vec<&str> = Vec::new();
    for line in patch.lines() {
        if let Some(mark) = named(line) {
            let path = line.trim().strip_prefix(mark.trim_end())?.trim();
            if path.is_empty() {
                return None;
            }
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
}
