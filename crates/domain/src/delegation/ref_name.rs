//! Names of branches and tags, by the rules of `git check-ref-format`.

use countersign_contract::letter_refused_in_name;

/// What kind of name it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefKind {
    /// A branch, which may not be called `HEAD`.
    Branch,
    /// A tag.
    Tag,
    /// The head of a pull request: a branch, or `owner:branch` for one in another copy of the repository.
    Head,
    /// A branch or a tag, as a workflow takes it; it may be written in full, as `refs/heads/main`.
    Either,
}

/// Why git would not take a name, as the end of a sentence; none if it would. Letters that change the direction of what
/// is shown are refused here, though git takes them: a name must read as what it is.
pub fn fault(kind: RefKind, name: &str) -> Option<&'static str> {
    if kind == RefKind::Head {
        return head_fault(name);
    }
    if name.is_empty() {
        return Some("is empty");
    }
    if name.starts_with('-') {
        return Some("begins with `-`");
    }
    // By its manual git takes no name `@`; as a part behind `refs/heads/` it does, and then reads it as `HEAD`.
    if name == "@" || (kind == RefKind::Branch && name == "HEAD") {
        return Some("stands for the current commit");
    }
    if name.bytes().any(|byte| byte.is_ascii_control() || byte == b' ') {
        return Some("holds a space or a control character");
    }
    if name.bytes().any(|byte| matches!(byte, b'~' | b'^' | b':' | b'?' | b'*' | b'[' | b'\\')) {
        return Some("holds one of the characters ~ ^ : ? * [ \\");
    }
    if name.contains("..") {
        return Some("holds two dots in a row");
    }
    if name.contains("@{") {
        return Some("holds `@{`");
    }
    if name.ends_with('.') {
        return Some("ends with a dot");
    }
    for part in name.split('/') {
        if part.is_empty() {
            return Some("begins or ends with a slash, or holds two in a row");
        }
        if part.starts_with('.') {
            return Some("has a part that begins with a dot");
        }
        if part.ends_with(".lock") {
            return Some("has a part that ends with `.lock`");
        }
    }
    letter_refused_in_name(name).map(|_| "holds an invisible character")
}

fn head_fault(name: &str) -> Option<&'static str> {
    let Some((owner, branch)) = name.split_once(':') else { return fault(RefKind::Branch, name) };
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let owned = owner.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric()) && owner.bytes().all(word);
    if owned { fault(RefKind::Branch, branch) } else { Some("has no owner before its colon") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_may_name_its_owner() {
        let head_fault = |name| fault(RefKind::Head, name);
        assert_eq!(head_fault("feature/x"), None);
        assert_eq!(head_fault("octo-cat:feature/x"), None);
        assert!(head_fault(":feature/x").is_some());
        assert!(head_fault("octo cat:feature/x").is_some());
        assert!(head_fault("octocat:").is_some());
        assert!(head_fault("octocat:a:b").is_some());
    }

    #[test]
    fn names_that_deceive_are_refused() {
        assert!(fault(RefKind::Branch, "main\u{202e}nimda").is_some());
        assert!(fault(RefKind::Tag, "v1\u{9b}0").is_some());
        assert_eq!(fault(RefKind::Branch, "größe"), None);
    }
}
