//! What a pure crate never says. Time, chance and the outside world come in through arguments.

use super::source::{code_without_tests, lines_with, used_paths};
use super::{Fault, Tree, tree};

/// The crates that decide and do not act.
const PURE: &[&str] = &["diagnostic", "contract", "tokens", "domain"];

/// Paths of the standard library and of others that lead outside.
const IMPURE_PATHS: &[&str] =
    &["std::fs", "std::net", "std::env", "std::process", "std::os", "std::thread", "std::io::stdin", "rand", "tokio"];

/// Words that give clock, chance, input or output away, however they were brought in.
const IMPURE_WORDS: &[&str] = &[
    "SystemTime",
    "Instant::now",
    "Timestamp::now",
    "Zoned::now",
    "new_v4",
    "rand::",
    "tokio::",
    "async",
    "println!",
    "eprintln!",
    "print!",
    "eprint!",
    "dbg!",
    "stdin()",
    "stdout()",
    "stderr()",
];

pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (path, text) in tree.ending(".rs").filter(|(path, _)| is_pure(path)) {
        let code = code_without_tests(text);
        let mut found: Vec<(usize, &str)> = Vec::new();
        for word in IMPURE_PATHS.iter().filter(|word| word.contains("::")).chain(IMPURE_WORDS) {
            found.extend(lines_with(&code, word).into_iter().map(|line| (line, *word)));
        }
        for (line, used) in used_paths(&code) {
            let leads = |path: &&&str| used == **path || used.starts_with(&format!("{path}::"));
            found.extend(IMPURE_PATHS.iter().find(leads).map(|path| (line, *path)));
        }
        found.sort_unstable();
        // One word is often two kinds of breach at once; the line needs to be named only once.
        found.dedup_by_key(|(line, _)| *line);
        faults.extend(found.into_iter().map(|(line, word)| {
            let message = format!("`{word}` has no place in a pure crate; take what it gives as an argument");
            Fault::new(path, line, message)
        }));
    }
    faults
}

fn is_pure(path: &str) -> bool {
    let inside = |name: &str| path.starts_with(&format!("crates/{name}/src/"));
    PURE.iter().any(|name| inside(name)) && !tree::is_test(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn the_world_is_found_in_a_pure_crate() {
        for text in [
            "fn f() { std::fs::read(\"a\"); }",
            "use std::{fs, fmt};",
            "use std::{io, io::{stdin, Read}};",
            "fn f() { let t = Instant::now(); }",
            "use std::time::SystemTime;",
            "async fn f() {}",
            "fn f() { println!(\"a\"); }",
            "use rand::Rng;",
        ] {
            assert_eq!(faults("crates/domain/src/work/mod.rs", text), 1, "{text}");
        }
    }

    #[test]
    fn tests_benches_build_scripts_comments_and_doors_may_speak_of_it() {
        let text = "use std::fs;";
        for path in ["crates/tokens/build/main.rs", "crates/tokens/benches/a.rs", "crates/domain/tests/a.rs"] {
            assert_eq!(faults(path, text), 0, "{path}");
        }
        assert_eq!(faults("crates/countersign/src/main.rs", text), 0);
        assert_eq!(faults("crates/domain/src/a.rs", "// std::fs\n#[cfg(test)]\nmod tests { use std::fs; }"), 0);
    }
}
