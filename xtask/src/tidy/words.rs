//! Words that do not stay: marks of unfinished work, and traces of the place where the work was done.
//!
//! The words are written in two halves, so that this file does not break its own rule.

use super::source::{code, line_of, lines_with};
use super::{Fault, Tree};

/// Code that is not there yet, and tests that do not run.
const UNFINISHED_CODE: &[&str] = &[concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[ig", "nore")];

/// Notes to oneself.
const UNFINISHED_NOTES: &[&str] = &[concat!("FIX", "ME"), concat!("XX", "X")];

/// Absolute paths of machines on which people and programs have worked.
const WORKPLACE_PATHS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/tmp/bash", "_jobs")];

/// Where a lock file may say that a crate comes from. A mirror is known to one network only.
const REGISTRY: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";

pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (path, text) in tree.files() {
        if path.ends_with(".rs") {
            let code = code(text);
            for word in UNFINISHED_CODE {
                let lines = lines_with(&code, word).into_iter();
                faults.extend(
                    lines.map(|line| {
                        Fault::new(path, line, format!("`{word}` is not finished; finish it or take it out"))
                    }),
                );
            }
        }
        for word in UNFINISHED_NOTES {
            let lines = lines_with(text, word).into_iter();
            faults.extend(
                lines.map(|line| Fault::new(path, line, format!("`{word}`: do it, or say plainly what is missing"))),
            );
        }
        for word in WORKPLACE_PATHS {
            let found = text.match_indices(word).filter(|(at, _)| begins_path(text, *at));
            let message = format!("`{word}` is a place on someone's machine; write what holds everywhere");
            faults.extend(found.map(|(at, _)| Fault::new(path, line_of(text, at), message.clone())));
        }
        if path.ends_with("Cargo.lock") {
            faults.extend(sources(path, text));
        }
    }
    faults
}

fn sources(path: &str, text: &str) -> Vec<Fault> {
    let lines = text.lines().enumerate();
    let foreign = lines.filter(|(_, line)| line.starts_with("source = ") && *line != REGISTRY);
    foreign
        .map(|(index, _)| Fault::new(path, index + 1, "this crate does not come from crates.io; lock it again"))
        .collect()
}

/// Whether a slash begins an absolute path, rather than standing inside a relative one or a URL.
fn begins_path(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    !before.is_some_and(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | '*' | '}' | '~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn every_word_is_found() {
        for word in UNFINISHED_CODE {
            assert_eq!(faults("crates/a/src/a.rs", &format!("fn f() {{}} {word}")), 1, "{word}");
        }
        for word in UNFINISHED_NOTES.iter().chain(WORKPLACE_PATHS) {
            assert_eq!(faults("README.md", &format!("see {word} for more")), 1, "{word}");
        }
    }

    #[test]
    fn a_crate_from_elsewhere_is_found() {
        assert_eq!(faults("Cargo.lock", &format!("{REGISTRY}\nsource = \"git+https://example.com/a\"\n")), 1);
    }

    #[test]
    fn what_only_looks_like_one_passes() {
        let folder = WORKPLACE_PATHS[0];
        assert_eq!(faults("ARCHITECTURE.md", &format!("crates/domain/src{folder}mod.rs")), 0);
        assert_eq!(faults("crates/a/src/a.rs", &format!("// says {}", UNFINISHED_CODE[0])), 0);
        assert_eq!(faults("crates/a/src/a.rs", &format!("// {}Y", UNFINISHED_NOTES[1])), 0);
    }
}
