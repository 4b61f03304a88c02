//! Holds the names of branches and tags to what git itself takes. Where there is no git, the table alone speaks.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use countersign_domain::delegation::ref_name::{RefKind, fault};
use proptest::prelude::*;
use std::process::{Command, Stdio};

/// A name, whether it is one of a branch, and whether it is one of a tag.
const TABLE: &[(&str, bool, bool)] = &[
    ("main", true, true),
    ("feature/x", true, true),
    ("v1.2.3", true, true),
    ("a@b", true, true),
    ("a-", true, true),
    ("größe", true, true),
    ("refs/heads/main", true, true),
    ("a.lockx", true, true),
    ("x@", true, true),
    ("@x", true, true),
    ("{x}", true, true),
    ("a/@/b", true, true),
    ("lock", true, true),
    ("HEAD", false, true),
    ("@", false, false),
    ("", false, false),
    ("-x", false, false),
    ("--force", false, false),
    (".x", false, false),
    ("a/.b", false, false),
    ("a.", false, false),
    ("a./b", true, true),
    ("a..b", false, false),
    ("a.lock", false, false),
    ("a.lock/b", false, false),
    (".lock", false, false),
    ("/a", false, false),
    ("a/", false, false),
    ("a//b", false, false),
    ("a b", false, false),
    ("a~1", false, false),
    ("a^", false, false),
    ("a:b", false, false),
    ("a?", false, false),
    ("a*", false, false),
    ("a[b", false, false),
    ("a]b", true, true),
    ("a\\b", false, false),
    ("a@{1}", false, false),
    ("a\tb", false, false),
    ("a\u{7f}b", false, false),
];

#[test]
fn names_are_those_of_the_table() {
    for (name, branch, tag) in TABLE {
        assert_eq!(fault(RefKind::Branch, name).is_none(), *branch, "branch {name:?}");
        assert_eq!(fault(RefKind::Tag, name).is_none(), *tag, "tag {name:?}");
    }
}

/// Whether git takes a name, if there is a git to ask.
fn git_takes(arguments: &[&str]) -> Option<bool> {
    let mut git = Command::new("git");
    let git = git.arg("check-ref-format").args(arguments).current_dir(std::env::temp_dir());
    git.stdout(Stdio::null()).stderr(Stdio::null()).status().ok().map(|status| status.success())
}

fn agrees_with_git(name: &str) {
    // A name that begins with a dash is refused by the commands that make branches and tags, not here, and `@` by
    // the manual alone.
    if name.starts_with('-') || name == "@" {
        return;
    }
    if let Some(takes) = git_takes(&[&format!("refs/tags/{name}")]) {
        assert_eq!(fault(RefKind::Tag, name).is_none(), takes, "tag {name:?}");
    }
    // With `--branch`, git reads `@{-1}` as the branch before this one.
    if !name.contains("@{")
        && let Some(takes) = git_takes(&["--branch", name])
    {
        assert_eq!(fault(RefKind::Branch, name).is_none(), takes, "branch {name:?}");
    }
}

#[test]
fn git_agrees_with_the_table() {
    for (name, _, _) in TABLE {
        agrees_with_git(name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn git_agrees(name in r"([a@.{/~^:?*\[\\ -]|\.lock|HEAD|\.\.|@\{|ü){1,5}") {
        agrees_with_git(&name);
    }
}
