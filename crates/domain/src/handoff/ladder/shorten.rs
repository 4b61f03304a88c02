//! Cutting a text where a reader would pause.

/// What stands at the end of a text that was cut.
const ELLIPSIS: char = '…';

/// Whether a text says something in at most so many characters.
pub(super) fn is_shorter(text: &str, chars_max: usize) -> bool {
    !countersign_contract::is_blank(text) && text.chars().count() <= chars_max
}

/// The beginning of a text, in at most `chars_max` characters with the ellipsis: up to the end of a sentence, or else
/// of a word, if one lies in the second half; or else as far as it goes. A text that is short enough stays as it is.
pub(super) fn cut(text: &str, chars_max: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(chars_max.saturating_sub(1)) else { return text.to_owned() };
    if text.chars().nth(chars_max).is_none() {
        return text.to_owned();
    }
    let head = &text[..end];
    let half = head.char_indices().nth(chars_max / 2).map_or(0, |(at, _)| at);
    let sentence = last_sentence(text, end).filter(|at| *at >= half);
    let word = if text[end..].starts_with(char::is_whitespace) { Some(end) } else { head.rfind(char::is_whitespace) };
    let kept = head[..sentence.or(word.filter(|at| *at >= half)).unwrap_or(end)].trim_end();
    format!("{kept}{ELLIPSIS}")
}

/// Where the last whole sentence before `end` ends.
fn last_sentence(text: &str, end: usize) -> Option<usize> {
    let mut marks = text[..end].char_indices().rev();
    marks.find_map(|(at, letter)| {
        let after = at + letter.len_utf8();
        let pauses = match letter {
            '.' | '!' | '?' => text[after..].starts_with(char::is_whitespace),
            '。' | '！' | '？' => true,
            '\n' => return Some(at),
            _ => false,
        };
        pauses.then_some(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_is_cut_at_a_sentence_or_a_word_or_where_it_must_be() {
        let cases = [
            ("One two. Three four five", 12, "One two.…"),
            ("One two three four five", 12, "One two…"),
            ("A. bcdefghijklmnop", 10, "A. bcdefg…"),
            ("abcdefghijklmnop", 10, "abcdefghi…"),
            ("version 1.2.3 is out and about", 14, "version 1.2.3…"),
            ("short", 10, "short"),
            ("exactly ten", 11, "exactly ten"),
            ("一二三。四五六七八", 7, "一二三。…"),
        ];
        for (text, chars_max, expected) in cases {
            assert_eq!(cut(text, chars_max), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_cut_text_is_short_enough_and_is_the_beginning(text in "\\PC{0,80}", chars_max in 2usize..60) {
            let cut = cut(&text, chars_max);
            prop_assert!(cut.chars().count() <= chars_max.max(text.chars().count().min(chars_max)));
            let kept = cut.strip_suffix(ELLIPSIS).unwrap_or(&cut);
            prop_assert!(text.starts_with(kept) || cut == text);
        }
    }
}
