//! Whether JSON text is in the one form that RFC 8785 allows.
//!
//! The ledger does not write facts, it is given them; a hash over bytes that another implementation would write
//! differently could not be recomputed by anyone else, so they are looked at on the way in.

/// The first byte at which the text is not canonical JSON, or nothing. Depth is limited, numbers are those that every
/// reader keeps exactly.
pub fn fault(text: &str) -> Option<usize> {
    let mut reader = Reader::new(text);
    match reader.value(0) {
        Some(()) if reader.is_at_end() => None,
        _ => Some(reader.at),
    }
}

const DEPTH_MAX: usize = 64;
const INTEGER_MAX: f64 = 9_007_199_254_740_991.0;

/// Goes along canonical text. Each step gives nothing where the text is something else.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// How far it has come.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// The text from a place where a step began to where it stands.
    pub(crate) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, letter: u8) -> Option<()> {
        (self.peek()? == letter).then(|| self.at += 1)
    }

    /// Any value, which stands inside of so many others.
    pub(crate) fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'{' if depth < DEPTH_MAX => self.object(depth),
            b'[' if depth < DEPTH_MAX => self.list(depth),
            b'"' => self.string().map(|_| ()),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number(),
        }
    }

    /// These very letters.
    #[inline]
    pub(crate) fn word(&mut self, word: &str) -> Option<()> {
        self.text.as_bytes()[self.at..].starts_with(word.as_bytes()).then(|| self.at += word.len())
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.take(b'{')?;
        if self.take(b'}').is_some() {
            return Some(());
        }
        let mut last: Option<&str> = None;
        loop {
            let start = self.at;
            let key = self.string()?;
            if last.is_some_and(|last| !comes_before(last, key)) {
                self.at = start;
                return None;
            }
            last = Some(key);
            self.take(b':')?;
            self.value(depth + 1)?;
            if self.take(b'}').is_some() {
                return Some(());
            }
            self.take(b',')?;
        }
    }

    fn list(&mut self, depth: usize) -> Option<()> {
        self.take(b'[')?;
        if self.take(b']').is_some() {
            return Some(());
        }
        loop {
            self.value(depth + 1)?;
            if self.take(b']').is_some() {
                return Some(());
            }
            self.take(b',')?;
        }
    }

    /// A string, of which what stands between the quotes is given back as it is written.
    fn string(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        self.rest_of_string()
    }

    /// The same after the first quote, if nothing in it is escaped.
    pub(crate) fn rest_of_plain_string(&mut self) -> Option<&'a str> {
        self.until_quote(|_| None)
    }

    /// The same after the first quote.
    fn rest_of_string(&mut self) -> Option<&'a str> {
        self.until_quote(Self::escape)
    }

    #[inline]
    fn until_quote(&mut self, escape: impl Fn(&mut Self) -> Option<()>) -> Option<&'a str> {
        let start = self.at;
        loop {
            self.at += plain(&self.text.as_bytes()[self.at..]);
            match self.peek()? {
                b'"' => {
                    let inside = &self.text[start..self.at];
                    self.at += 1;
                    return Some(inside);
                }
                b'\\' => escape(self)?,
                0..=0x1f => return None,
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        let rest = &self.text.as_bytes()[self.at + 1..];
        let length = match rest.first()? {
            b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' => {
                let digits = rest.get(1..5)?;
                let code = match digits {
                    [b'0', b'0', high @ b'0'..=b'1', low @ (b'0'..=b'9' | b'a'..=b'f')] => {
                        (high - b'0') * 16 + if low.is_ascii_digit() { low - b'0' } else { low - b'a' + 10 }
                    }
                    _ => return None,
                };
                if matches!(code, 0x8 | 0x9 | 0xa | 0xc | 0xd) {
                    return None;
                }
                6
            }
            _ => return None,
        };
        self.at += length;
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        let start = self.at;
        let rest = &self.text[start..];
        let length = rest.bytes().take_while(|it| matches!(it, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e')).count();
        let digits = &rest[..length];
        // Most numbers are short integers; they are canonical by their look.
        let plain = digits.strip_prefix('-').unwrap_or(digits);
        let short = plain.len() <= 15 && !plain.is_empty() && plain.bytes().all(|it| it.is_ascii_digit());
        if short {
            let canonical = (!plain.starts_with('0') || plain.len() == 1) && digits != "-0";
            return canonical.then(|| self.at += length);
        }
        let value: f64 = digits.parse().ok()?;
        let exact = value.is_finite() && (value.fract() != 0.0 || value.abs() <= INTEGER_MAX);
        (exact && ryu_js::Buffer::new().format(value) == digits).then(|| self.at += length)
    }
}

/// How many bytes at least stand for themselves in a string. Most strings are short, and are looked at in words, where the
/// end is found at once; what is longer is looked at by the block, without a branch for each byte.
fn plain(bytes: &[u8]) -> usize {
    const SHORT: usize = 16;
    const BLOCK: usize = 32;
    let Some((short, long)) = bytes.split_at_checked(SHORT) else { return words(bytes) };
    let at = words(short);
    if at < SHORT {
        return at;
    }
    let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    let blocks = long.chunks_exact(BLOCK);
    let at = BLOCK * blocks.take_while(|block| !block.iter().fold(false, |found, byte| found | special(byte))).count();
    SHORT + at + words(&long[at..])
}

/// The same, eight bytes at a time.
#[inline]
fn words(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let special = special(u64::from_le_bytes(*word));
        if special != 0 {
            return 8 * at + special.trailing_zeros() as usize / 8;
        }
    }
    8 * words.len()
}

/// Marks the bytes of a word that do not stand for themselves in a string. The lowest mark is right; those above it need not
/// be, since a byte that is taken from borrows from the next.
#[inline]
fn special(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let is = |letter: u8| below(word ^ (ONES * u64::from(letter)), 1);
    (below(word, 0x20) | is(b'"') | is(b'\\')) & HIGH
}

/// Whether one key sorts before another by UTF-16 code units, as they are written between quotes.
fn comes_before(left: &str, right: &str) -> bool {
    if left.is_ascii() && right.is_ascii() && !left.contains('\\') && !right.contains('\\') {
        return left < right;
    }
    let units =
        |text: &str| serde_json::from_str::<String>(&format!("\"{text}\"")).map(|it| it.encode_utf16().collect());
    match (units(left), units(right)) {
        (Ok::<Vec<u16>, _>(left), Ok::<Vec<u16>, _>(right)) => left < right,
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn what_another_writer_would_write_otherwise_is_refused() {
        let canonical = [
            r#"{"a":1,"b":[true,null,"é\n\u0001"]}"#,
            "{}",
            "-7",
            "0.1",
            "1e-7",
            "{\"😀\":1,\"\u{fb33}\":2}",
            "\"\u{7f}\"",
        ];
        let other = [
            "",
            "{",
            r#"{"b":1,"a":2}"#,
            r#"{"a":1,"a":2}"#,
            "{ }",
            "1.0",
            "01",
            "-0",
            "1E3",
            "1e3",
            r#""\u0041""#,
            r#""\u000a""#,
            r#""\/""#,
            r#""\u001F""#,
            "9007199254740993",
            "1 ",
            "nul",
            "[1,]",
            r#"{"a":}"#,
            "\"a\nb\"",
            "{\"\u{fb33}\":1,\"😀\":2}",
        ];
        for text in canonical {
            assert_eq!(fault(text), None, "{text}");
        }
        for text in other {
            assert!(fault(text).is_some(), "{text}");
        }
        assert_eq!(fault(&("[".repeat(65) + &"]".repeat(65))), Some(64));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-9_007_199_254_740_991i64..=9_007_199_254_740_991).prop_map(Value::from),
            (-1000i32..1000).prop_map(|it| json!(f64::from(it) / 64.0)),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(".{0,4}", inner, 0..5)
                    .prop_map(|it| Value::Object(it.into_iter().collect())),
            ]
        })
    }

    /// Each byte, at each place of strings around the lengths at which they are looked at in other steps.
    #[test]
    fn what_does_not_stand_for_itself_is_never_passed_over() {
        for length in [1, 7, 8, 9, 15, 16, 17, 24, 47, 48, 49, 56, 80] {
            for at in 0..length {
                for byte in 0..=255 {
                    let mut bytes = vec![b'x'; length];
                    bytes[at] = byte;
                    let special = byte < 0x20 || byte == b'"' || byte == b'\\';
                    let passed = plain(&bytes);
                    assert!(passed <= if special { at } else { length }, "{byte} at {at} of {length}");
                    assert!(special || passed + 8 > length, "{byte} at {at} of {length}: what is left is few");
                }
            }
        }
    }

    proptest! {
        /// An independent writer of RFC 8785 is the second opinion: its text is accepted, and any other is not.
        #[test]
        fn canonical_text_is_what_another_implementation_writes(value in any_json()) {
            let canonical = String::from_utf8(serde_json_canonicalizer::to_vec(&value).unwrap()).unwrap();
            prop_assert_eq!(fault(&canonical), None);
            let plain = serde_json::to_string(&value).unwrap();
            prop_assert_eq!(fault(&plain).is_none(), plain == canonical);
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(fault(&pretty).is_none(), pretty == canonical);
        }
    }
}
