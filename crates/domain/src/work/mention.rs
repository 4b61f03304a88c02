//! Which files a criterion asks to be changed.
//!
//! A criterion is prose, so this looks only for what can hardly mean anything else: an order (`update docs/api.md`,
//! `add a section to docs/api.md`) or a passive (`docs/api.md is updated`) whose object is a path. A sentence that
//! denies or sets a condition is left alone, and so is a path that is read, tested, or mentioned on the way.

use crate::work::scope;
use std::borrow::Cow;

/// Orders that change the file named right after them.
const CHANGE: &[&str] = &[
    "add",
    "change",
    "create",
    "delete",
    "edit",
    "extend",
    "fix",
    "modify",
    "move",
    "overwrite",
    "refactor",
    "remove",
    "rename",
    "replace",
    "rewrite",
    "update",
    "write",
];
/// Orders that change the file they put something into.
const PUT: &[&str] = &["add", "append", "create", "insert", "place", "put"];
/// What is done to a file, in the passive.
const CHANGED: &[&str] = &[
    "added",
    "changed",
    "created",
    "deleted",
    "edited",
    "extended",
    "modified",
    "moved",
    "overwritten",
    "refactored",
    "removed",
    "renamed",
    "replaced",
    "rewritten",
    "updated",
];
/// Words between an order and its file that change nothing.
const FILLERS: &[&str] =
    &["a", "an", "called", "existing", "file", "files", "folder", "module", "named", "new", "page", "script", "the"];
/// What an order in the middle of a sentence follows.
const ORDERING: &[&str] = &["also", "and", "must", "please", "shall", "should", "then"];
const INTO: &[&str] = &["at", "in", "inside", "into", "to", "under"];
const BEING: &[&str] = &["are", "be", "been", "gets", "is", "was", "were"];
const AUXILIARY: &[&str] = &["has", "have", "must", "shall", "should", "will"];
/// Words that turn a sentence into something else than an order.
const TURNING: &[&str] = &[
    "after",
    "although",
    "avoid",
    "before",
    "cannot",
    "except",
    "if",
    "instead",
    "neither",
    "never",
    "no",
    "none",
    "nor",
    "not",
    "nothing",
    "once",
    "unchanged",
    "unless",
    "until",
    "untouched",
    "when",
    "whenever",
    "whether",
    "while",
    "without",
];
/// Words after which what follows is no longer what is put.
const PARTING: &[&str] = &[
    "about", "against", "as", "because", "by", "covering", "for", "from", "like", "of", "on", "so", "that", "using",
    "via", "where", "which", "with",
];

/// How many words may stand between an order and what it puts something into.
const PUT_WORDS_MAX: usize = 12;

struct Word<'t> {
    text: &'t str,
    /// The path in normal form, if it is one.
    path: Option<Cow<'t, str>>,
}

/// Calls `found` with the normal form of every path that a criterion asks to be changed.
pub(crate) fn changed_paths(criterion: &str, mut found: impl FnMut(&str)) {
    if !may_ask(criterion) {
        return;
    }
    let mut clause: Vec<Word<'_>> = Vec::new();
    for (word, ends) in words(criterion) {
        clause.push(word);
        if ends {
            look(&clause, &mut found);
            clause.clear();
        }
    }
    look(&clause, &mut found);
}

/// Whether a path in the text has the neighbours that an order or a passive would give it. Most criteria name files
/// without asking for a change, and taking them apart word by word would cost more than the rest of the check. Only bytes
/// are looked at, and words between blanks; of a text that has other white space, or letters beyond ASCII, which may be
/// white space, the answer is yes.
fn may_ask(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_plain = bytes.iter().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~'));
    let mut from = 0;
    while let Some(slash) = memchr::memchr(b'/', &bytes[from..]).map(|at| from + at) {
        if !is_plain {
            return true;
        }
        let start = memchr::memrchr(b' ', &bytes[..slash]).map_or(0, |at| at + 1);
        let end = memchr::memchr(b' ', &bytes[slash..]).map_or(bytes.len(), |at| slash + at);
        let after = bytes[end..].split(is_blank).find(|word| !word.is_empty()).map(bare).unwrap_or_default();
        if BEING_SET.has(after) || AUXILIARY_SET.has(after) || follows_order(&bytes[..start]) {
            return true;
        }
        from = end;
    }
    false
}

fn follows_order(before: &[u8]) -> bool {
    let mut words = before.rsplit(is_blank).filter(|word| !word.is_empty()).map(bare);
    let Some(last) = words.find(|word| !FILLERS_SET.has(word)) else { return false };
    // One that goes on with the order of another path, after `and`, is seen with that other.
    CHANGE_SET.has(last) || (INTO_SET.has(last) && words.any(|word| PUT_SET.has(word)))
}

fn is_blank(byte: &u8) -> bool {
    *byte == b' '
}

/// A word without what clings to it.
fn bare(word: &[u8]) -> &[u8] {
    const CLINGING: &[u8] = b".,;:!?\"'`*_()[]{}";
    let clings = |byte: &u8| !byte.is_ascii_alphanumeric() && CLINGING.contains(byte);
    let start = word.iter().take_while(|byte| clings(byte)).count();
    let end = word.len() - word[start..].iter().rev().take_while(|byte| clings(byte)).count();
    &word[start..end]
}

/// Words, and the letters that they begin with, which rule most others out at once.
struct Set {
    words: &'static [&'static str],
    initials: u32,
}

const BEING_SET: Set = Set::of(BEING);
const AUXILIARY_SET: Set = Set::of(AUXILIARY);
const FILLERS_SET: Set = Set::of(FILLERS);
const CHANGE_SET: Set = Set::of(CHANGE);
const INTO_SET: Set = Set::of(INTO);
const PUT_SET: Set = Set::of(PUT);

impl Set {
    const fn of(words: &'static [&'static str]) -> Self {
        let (mut initials, mut index) = (0, 0);
        while index < words.len() {
            initials |= Self::bit(words[index].as_bytes()[0]);
            index += 1;
        }
        Self { words, initials }
    }

    /// Letters of either case have a bit of their own; what else shares one with a letter is told by the word.
    const fn bit(byte: u8) -> u32 {
        1 << (byte & 0x1F)
    }

    fn has(&self, word: &[u8]) -> bool {
        word.first().is_some_and(|first| self.initials & Self::bit(*first) != 0) && is_in(word, self.words)
    }
}

fn is_in(word: &[u8], list: &[&str]) -> bool {
    let first = word.first().map(u8::to_ascii_lowercase);
    let may_be = |it: &[u8]| it.len() == word.len() && it.first().copied() == first;
    list.iter().map(|it| it.as_bytes()).any(|it| may_be(it) && it.eq_ignore_ascii_case(word))
}

fn look(clause: &[Word<'_>], found: &mut impl FnMut(&str)) {
    // Asked last, because it looks at every word, and most paths are not the object of an order in the first place.
    let turned = || clause.iter().any(|word| word.path.is_none() && (is_one(word, TURNING) || is_denial(word.text)));
    let mut ordered = false;
    for (at, word) in clause.iter().enumerate() {
        let Some(path) = &word.path else { continue };
        // `update a/b.md and c/d.md`: the second is in the same order as the first.
        let goes_on = ordered && at >= 2 && clause[at - 2].path.is_some() && is_one(&clause[at - 1], &["and", "or"]);
        ordered = goes_on || is_ordered(&clause[..at]);
        if ordered || is_passive(&clause[at + 1..]) {
            if turned() {
                return;
            }
            found(path);
        }
    }
}

/// Whether the words before a path make it the object of an order.
fn is_ordered(before: &[Word<'_>]) -> bool {
    let end = before.iter().rposition(|word| !is_one(word, FILLERS)).map_or(0, |last| last + 1);
    let Some((last, rest)) = before[..end].split_last() else { return false };
    if is_one(last, CHANGE) {
        return is_order(rest);
    }
    if !is_one(last, INTO) {
        return false;
    }
    // An order is not far from its end, and a text without any end is not searched again for each of its paths.
    let rest = &rest[rest.len().saturating_sub(PUT_WORDS_MAX)..];
    let order = rest.iter().rposition(|word| is_one(word, PUT));
    order.is_some_and(|order| {
        let put = &rest[order + 1..];
        is_order(&rest[..order]) && !put.is_empty() && !put.iter().any(|word| is_one(word, PARTING))
    })
}

/// Whether a verb that follows these words is an order.
fn is_order(before: &[Word<'_>]) -> bool {
    before.last().is_none_or(|word| is_one(word, ORDERING))
}

/// Whether the words after a path say that it is changed.
fn is_passive(after: &[Word<'_>]) -> bool {
    let mut words = after.iter().peekable();
    let _ = words.next_if(|word| is_one(word, AUXILIARY));
    words.next().is_some_and(|word| is_one(word, BEING)) && words.next().is_some_and(|word| is_one(word, CHANGED))
}

fn is_one(word: &Word<'_>, list: &[&str]) -> bool {
    word.path.is_none() && is_in(word.text.as_bytes(), list)
}

fn is_denial(word: &str) -> bool {
    word.ends_with("n't") || word.ends_with("n\u{2019}t")
}

/// The words of a text, each with whether a clause ends with it. What stands between backticks is one word.
fn words(text: &str) -> impl Iterator<Item = (Word<'_>, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let quoted = rest.strip_prefix('`').and_then(|inner| inner.split_once('`'));
        if let Some((inner, after)) = quoted {
            let end = after.find(char::is_whitespace).unwrap_or(after.len());
            let ends = after[..end].ends_with(CLAUSE_ENDS);
            rest = &after[end..];
            return Some((Word { text: inner, path: path(inner, true) }, ends));
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        let ends = word.ends_with(CLAUSE_ENDS);
        let word = word.trim_matches(|letter: char| CLAUSE_ENDS.contains(&letter) || "\"'()[]{}*_".contains(letter));
        (!rest.is_empty() || !word.is_empty() || ends).then(|| (Word { text: word, path: path(word, false) }, ends))
    })
}

const CLAUSE_ENDS: [char; 6] = ['.', ',', ';', ':', '!', '?'];

/// The normal form of a word that looks like a path: with a `/` and an ending, or, in backticks, a folder with a `/`
/// behind it.
fn path(word: &str, quoted: bool) -> Option<Cow<'_, str>> {
    let plain = |letter: char| letter.is_alphanumeric() || "._-/@+".contains(letter);
    if !word.as_bytes().contains(&b'/') || word.starts_with('/') || !word.chars().all(plain) {
        return None;
    }
    let folder = quoted && word.ends_with('/');
    let file = word.rsplit('/').next().and_then(|name| name.rsplit_once('.')).is_some_and(|(stem, ending)| {
        let short = (1..=8).contains(&ending.len()) && ending.starts_with(|letter: char| letter.is_ascii_alphabetic());
        !stem.is_empty() && short && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    if folder || file { scope::normal(word).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_orders_to_change_a_file_are_found() {
        let cases: &[(&str, &[&str])] = &[
            ("Update docs/api.md", &["docs/api.md"]),
            ("Update `docs/api.md`.", &["docs/api.md"]),
            ("Create the new file src/a.rs and src/b.rs", &["src/a.rs", "src/b.rs"]),
            ("Update `docs/a.md` or `docs/b.md` and docs/c.md", &["docs/a.md", "docs/b.md", "docs/c.md"]),
            ("Update\u{2003}docs/api.md", &["docs/api.md"]),
            ("Update\tthe\nfile\tdocs/api.md", &["docs/api.md"]),
            ("Tests pass.\ndocs/api.md\tis updated", &["docs/api.md"]),
            ("Read docs/a.md and docs/b.md", &[]),
            ("Tests pass, then edit `src/api.py`", &["src/api.py"]),
            ("The worker must delete old/x.txt", &["old/x.txt"]),
            ("Add a section on rounding to docs/api.md", &[]),
            ("Add a new section to docs/api.md", &["docs/api.md"]),
            ("Create `src/money/`", &["src/money"]),
            ("`docs/api.md` is updated", &["docs/api.md"]),
            ("docs/api.md must be rewritten", &["docs/api.md"]),
            ("docs/api.md has been updated and src/a.rs compiles", &["docs/api.md"]),
            ("Read docs/api.md first", &[]),
            ("pytest tests/test_api.py passes", &[]),
            ("All tests in tests/test_api.py pass", &[]),
            ("Add tests for src/api.py", &[]),
            ("Add a test for the bug in src/api.py", &[]),
            ("Fix the failing test in tests/test_api.py", &[]),
            ("Do not edit src/api.py", &[]),
            ("Don't change src/api.py", &[]),
            ("src/api.py is not changed", &[]),
            ("src/api.py is unchanged", &[]),
            ("Nothing in src/api.py is changed", &[]),
            ("When src/api.py is changed the cache is dropped", &[]),
            ("Users can edit notes/today.md", &[]),
            ("The service writes to logs/app.log", &[]),
            ("Change the ratio and/or the 1.0/2.0 split", &[]),
            ("Update https://example.org/a.html", &[]),
            ("Rename `user/name` to `user/label`", &[]),
            ("Update `Cargo.toml`", &[]),
            ("", &[]),
            ("/ . , `", &[]),
        ];
        for (text, expected) in cases {
            let mut found = Vec::new();
            changed_paths(text, |path| found.push(path.to_owned()));
            assert_eq!(found, *expected, "{text}");
        }
    }
}
