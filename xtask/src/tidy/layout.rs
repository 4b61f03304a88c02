//! Files of one idea: named for it, opened by it, and no longer than one can hold in mind.

use super::tree::{is_test, name};
use super::{Fault, Tree};

/// How many lines a file may have. Tests are tables and may be longer.
const FILE_LINES_MAX: usize = 600;

/// Names that say nothing. A thing without a better name is not yet understood.
const EMPTY_NAMES: &[&str] =
    &["util", "utils", "common", "helper", "helpers", "types", "core", "manager", "service", "misc"];

pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (path, text) in tree.ending(".rs") {
        let part = path.split('/').map(|part| part.trim_end_matches(".rs")).find(|part| EMPTY_NAMES.contains(part));
        if let Some(part) = part {
            faults.push(Fault::new(path, 0, format!("`{part}` says nothing; name it after what it holds")));
        }
        if matches!(name(path), "lib.rs" | "mod.rs") && !text.starts_with("//!") {
            faults.push(Fault::new(path, 1, "begin with `//!` and say what this is"));
        }
        if !is_test(path) {
            faults.extend(lines(path, text));
        }
    }
    faults
}

fn lines(path: &str, text: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let count = text.lines().count();
    if count > FILE_LINES_MAX {
        let message = format!("{count} lines, more than {FILE_LINES_MAX}; split it by idea");
        faults.push(Fault::new(path, 0, message));
    }
    for (index, line) in text.lines().enumerate() {
        if line.contains('\t') {
            faults.push(Fault::new(path, index + 1, "a tab; write spaces, or `\\t` in a text"));
        }
        if line.ends_with(' ') {
            faults.push(Fault::new(path, index + 1, "white space at the end of the line; remove it"));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn every_breach_is_found() {
        let long = "// a\n".repeat(FILE_LINES_MAX + 1);
        for (path, text) in [
            ("crates/a/src/util.rs", ""),
            ("crates/a/src/common/a.rs", ""),
            ("crates/a/src/lib.rs", "mod a;"),
            ("crates/a/src/b/mod.rs", "// not a head"),
            ("crates/a/src/a.rs", "fn f() {} "),
            ("crates/a/src/a.rs", "\tfn f() {}"),
            ("crates/a/src/a.rs", &long),
        ] {
            assert_eq!(faults(path, text), 1, "{path} {:.20}", text);
        }
    }

    #[test]
    fn what_is_as_it_should_be_passes_and_tests_may_be_long() {
        assert_eq!(faults("crates/a/src/lib.rs", "//! What it is.\n"), 0);
        assert_eq!(faults("crates/a/tests/a.rs", &"// a\n".repeat(FILE_LINES_MAX + 1)), 0);
    }
}
