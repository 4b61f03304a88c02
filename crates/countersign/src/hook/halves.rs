//! JSON with half a character in it. A character beyond the first 65,536 is escaped as two, and a client that cuts a text
//! between them writes one alone, which no JSON of ours can hold.

use serde::de::DeserializeOwned;

/// What a half is read as: the character that stands for one that was lost.
const LOST: &[u8] = b"\\ufffd";

/// Reads JSON. Halves are read as lost characters, rather than that all of it counts as unreadable.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(bytes).or_else(|error| match without(bytes) {
        Some(whole) => serde_json::from_slice(&whole),
        None => Err(error),
    })
}

/// The same text without halves; none, if it has none.
fn without(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::with_capacity(bytes.len());
    let (mut at, mut found) = (0, false);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let (taken, written) = match (escaped(rest), rest) {
            (Some(0xd800..=0xdbff), _) if matches!(escaped(&rest[6..]), Some(0xdc00..=0xdfff)) => (12, &rest[..12]),
            (Some(0xd800..=0xdfff), _) => (6, LOST),
            // What is escaped may be a backslash itself, which begins nothing then.
            (_, [b'\\', _, ..]) => (2, &rest[..2]),
            _ => (1, &rest[..1]),
        };
        found |= written == LOST && rest[..taken] != *LOST;
        whole.extend_from_slice(written);
        at += taken;
    }
    found.then_some(whole)
}

/// The number that a text begins with as `\uXXXX`.
fn escaped(text: &[u8]) -> Option<u32> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    let digits = digits.iter().all(u8::is_ascii_hexdigit).then_some(digits)?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_is_read_as_a_lost_one_and_all_else_as_it_is() {
        for (text, is) in [
            (r#""a\ud83d""#, "a\u{fffd}"),
            (r#""\uDE00b""#, "\u{fffd}b"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
            (r#""\ud83d\n\\ud83d""#, "\u{fffd}\n\\ud83d"),
            (r#""\ud83d\ufffdx""#, "\u{fffd}\u{fffd}x"),
        ] {
            assert_eq!(read::<String>(text.as_bytes()).unwrap(), is, "{text}");
        }
        for wrong in [r#""\ud83d"#, r#""\ud8""#, r#""\ud83dx" y"#, "", r"\"] {
            assert!(read::<String>(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
