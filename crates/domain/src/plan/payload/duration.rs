//! Lengths of time as people write them.

use countersign_contract::pattern;

pattern! {
    /// A length of time: numbers with s, m, h or d, such as 90s, 20m or 1h30m.
    pub struct Span {
        pattern: r"^([0-9]{1,6}d)?([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,6}s)?$",
        example: "20m",
        says: "a length of time such as 90s, 20m or 1h30m",
        test: |text| seconds(text).is_some(),
    }
}

impl Span {
    /// How many seconds it is.
    pub fn seconds(&self) -> i64 {
        seconds(self.as_str()).unwrap_or(0)
    }
}

/// How many seconds a text means: parts from days to seconds, each at most once and in that order.
fn seconds(text: &str) -> Option<i64> {
    let (mut total, mut rest) = (0, text);
    for (letter, length) in [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)] {
        let Some((number, after)) = rest.split_once(letter) else { continue };
        if number.is_empty() || number.len() > 6 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        total += number.parse::<i64>().ok()? * length;
        rest = after;
    }
    rest.is_empty().then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_people_write_them() {
        let cases = [
            ("20m", Some(1200)),
            ("90s", Some(90)),
            ("1h30m", Some(5400)),
            ("2d", Some(172_800)),
            ("1d2h3m4s", Some(93_784)),
            ("", Some(0)),
            ("30", None),
            ("m", None),
            ("1m1h", None),
            ("-1m", None),
            ("1.5h", None),
            ("20 m", None),
        ];
        for (text, expected) in cases {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }
}
