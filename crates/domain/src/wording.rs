//! Whether a text that is given as evidence says anything: more than that it is fine, more than the criterion itself.

/// Words that assert and show nothing.
const EMPTY: &[&str] = &[
    "a",
    "acceptance",
    "all",
    "and",
    "as",
    "been",
    "checked",
    "complete",
    "completed",
    "confirmed",
    "correct",
    "correctly",
    "criterion",
    "done",
    "expected",
    "fine",
    "fulfilled",
    "good",
    "has",
    "implemented",
    "is",
    "it",
    "looks",
    "me",
    "met",
    "na",
    "n",
    "none",
    "nothing",
    "ok",
    "okay",
    "pass",
    "passed",
    "passes",
    "passing",
    "pending",
    "satisfied",
    "success",
    "successful",
    "successfully",
    "tbd",
    "the",
    "this",
    "to",
    "todo",
    "true",
    "validated",
    "verified",
    "was",
    "working",
    "works",
    "yes",
];

/// Longer texts are not looked at word by word: they say something, if only much.
const LENGTH_MAX: usize = 4096;

/// Whether a text shows nothing: it has no words, or none but those that merely assert.
pub(crate) fn says_nothing(text: &str) -> bool {
    text.len() <= LENGTH_MAX && words(text).all(is_empty_word)
}

/// Whether `evidence` merely repeats `claim`: it has no word of its own beside those that merely assert.
pub(crate) fn repeats(evidence: &str, claim: &str) -> bool {
    let looked_at = evidence.len() <= LENGTH_MAX && claim.len() <= LENGTH_MAX;
    looked_at && words(evidence).all(|word| is_empty_word(word) || words(claim).any(|it| same(it, word)))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn is_empty_word(word: &str) -> bool {
    EMPTY.iter().any(|it| it.eq_ignore_ascii_case(word))
}

fn same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other) || (!one.is_ascii() && one.to_lowercase() == other.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_that_only_asserts_is_told_from_evidence() {
        for (text, expected) in [
            ("n/a", true),
            ("N/A", true),
            ("✅", true),
            ("-", true),
            ("Yes, it works as expected.", true),
            ("Verified!", true),
            ("TODO", true),
            ("12 tests pass", false),
            ("see src/cart.rs:41", false),
            ("已验证：返回400", false),
            ("port 3000 answered", false),
        ] {
            assert_eq!(says_nothing(text), expected, "{text}");
        }
    }

    #[test]
    fn a_repetition_is_told_from_an_observation() {
        let claim = "An empty cart is answered with status 400";
        for (evidence, expected) in [
            ("An empty cart is answered with status 400", true),
            ("verified: empty cart answered with status 400", true),
            ("Status 400 is answered with an empty cart. Done.", true),
            ("POST /checkout answered 400", false),
            ("tests/cart.rs:41 asserts status 400", false),
        ] {
            assert_eq!(repeats(evidence, claim), expected, "{evidence}");
        }
        assert!(repeats("Größe geprüft GRÖSSE größe", "größe geprüft grösse"));
    }
}
