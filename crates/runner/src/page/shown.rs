//! What a reader sees, compared with what should be seen.

/// How much of the text is handed back, in letters.
pub(super) const EXCERPT_MAX: usize = 2000;
/// The same for a title.
pub(super) const TITLE_MAX: usize = 200;

/// A text as a reader sees it: where it breaks and how wide its gaps are is a matter of the window.
pub(super) fn flow(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Which of the wanted texts do not stand in one that flows.
pub(super) fn missing(text: &str, wanted: &[String]) -> Vec<String> {
    wanted.iter().filter(|wanted| !text.contains(&flow(wanted))).cloned().collect()
}

/// The beginning of a text, without secrets and with control characters made visible.
pub(super) fn beginning(text: &str, max: usize) -> String {
    // Before anything is cut: half a secret is no longer known for one.
    let redacted = countersign_contract::scan::redact(text);
    let text = redacted.as_deref().unwrap_or(text);
    let mut out = String::new();
    for letter in text.chars().take(max) {
        if letter.is_control() { out.extend(letter.escape_unicode()) } else { out.push(letter) }
    }
    if text.chars().nth(max).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_and_gaps_play_no_part() {
        let text = flow("  Total:\n\u{a0}42 €\t(net)  ");
        assert_eq!(text, "Total: 42 € (net)");
        let wanted = ["Total: 42".to_owned(), "42\n€".to_owned(), "  ".to_owned(), "43".to_owned(), "total".to_owned()];
        assert_eq!(missing(&text, &wanted), ["43", "total"]);
    }

    #[test]
    fn an_excerpt_is_cut_and_clean() {
        assert_eq!(beginning("abcdef", 3), "abc…");
        assert_eq!(beginning("abc", 3), "abc");
        assert_eq!(beginning("a\u{1b}b", 10), "a\\u{1b}b");
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        assert!(!beginning(&format!("x {token}"), 10).contains("ghp_"));
    }
}
