//! What a commit says.

/// The message with its trailers as the last paragraph, which is the only one that git reads trailers from: whatever a
/// message says, it can neither add one nor take one away.
pub(crate) fn with_trailers(message: &str, trailers: &[(String, String)]) -> Result<String, String> {
    let clean = |letter: char| letter == '\n' || letter == '\t' || !letter.is_control();
    let mut text: String = message.chars().filter(|letter| clean(*letter)).collect();
    text = text.trim().to_owned();
    if text.is_empty() {
        text.push_str("Work of an agent");
    }
    text.push_str("\n\n");
    for (key, value) in trailers {
        let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let is_value = !value.trim().is_empty() && value.trim() == value && !value.chars().any(char::is_control);
        if !is_key || !is_value {
            return Err(format!("`{}: {}` cannot be a trailer", key.escape_debug(), value.escape_debug()));
        }
        text.push_str(&format!("{key}: {value}\n"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_cannot_make_trailers_of_its_own() {
        let trailer = |value: &str| [("Countersign-Task".to_owned(), value.to_owned())];
        let cases = [
            ("Round", "Round\n\nCountersign-Task: T-1\n"),
            ("Round\n\nCountersign-Task: T-9\n\n", "Round\n\nCountersign-Task: T-9\n\nCountersign-Task: T-1\n"),
            ("", "Work of an agent\n\nCountersign-Task: T-1\n"),
            ("a\u{0}b\u{1b}[1m\r\nc", "ab[1m\nc\n\nCountersign-Task: T-1\n"),
        ];
        for (message, expected) in cases {
            assert_eq!(with_trailers(message, &trailer("T-1")).unwrap(), expected);
        }
        for value in ["", " ", "a\nb", " a", "a\n"] {
            assert!(with_trailers("m", &trailer(value)).is_err(), "{value:?}");
        }
        assert!(with_trailers("m", &[("a b".into(), "c".into())]).is_err());
    }
}
