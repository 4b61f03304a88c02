use crate::validation::payload::ValidationRequest;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, letter_refused_in_name, rule, show};

rule! {
    /// The branch has a name that git allows.
    ///
    /// ## Why
    /// The validator checks the branch out. A name that git refuses stops it there, and one that begins with a hyphen
    /// is read as an option.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"branch": "--upload-pack=evil"}
    /// ```
    /// ```json rejected
    /// {"branch": "empty carts"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"branch": "feature/empty-carts"}
    /// ```
    pub static REQUEST_BRANCH_MALFORMED: ValidationRequest = {
        id: "request-branch-malformed",
        code: SchemaInvalid,
        severity: Error,
        summary: "the branch is not a name that git allows",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationRequest>, report: &mut Report) {
    let Some(branch) = &it.record.branch else { return };
    if !is_branch(branch.as_str()) {
        report.add(
            Pointer::at("/branch"),
            format!("`{}` is not a name that git allows for a branch", show(branch.as_str())),
            "write the branch as `git branch` lists it",
        );
    }
}

/// The rules of `git check-ref-format --branch`.
fn is_branch(name: &str) -> bool {
    let refused = |letter: char| letter.is_ascii_control() || " ~^:?*[\\".contains(letter);
    let hidden = letter_refused_in_name(name).is_some();
    let whole = name.contains("..") || name.contains("@{") || name == "@" || name == "HEAD";
    let edges = name.starts_with('-') || name.ends_with('.');
    let part = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
    !(hidden || whole || edges || name.contains(refused) || name.split('/').any(part))
}

#[cfg(test)]
mod tests {
    use super::is_branch;

    #[test]
    fn names_are_allowed_as_git_allows_them() {
        for name in ["main", "feature/x", "a.b", "v1-@", "ünïcode", "a-"] {
            assert!(is_branch(name), "{name}");
        }
        for name in [
            "",
            "-a",
            "a..b",
            "a b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.",
            "a.lock",
            "a.lock/b",
            "@",
            "a@{b",
            "a\u{7f}",
            "a\u{202e}",
            "HEAD",
        ] {
            assert!(!is_branch(name), "{name}");
        }
    }
}
