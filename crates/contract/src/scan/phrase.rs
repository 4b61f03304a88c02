//! Sentences that steer, as rules over words.
//!
//! A rule begins at its anchor's word and reads on, through blanks, line breaks, quotation marks and commas,
//! and stops where a sentence does. Words are read where they stand: nothing is copied, and a rule reads a
//! dozen at most.

use std::ops::Range;

use super::bytes::{before, begins, escape_letter, same, short_run, tally};

/// A list of words, written as words.
macro_rules! any {
    ($($word:tt)*) => { &[$(stringify!($word)),*] };
}
pub(super) use any;

/// A way to steer.
pub struct Rule {
    pub kind: &'static str,
    /// A clause whose subject is the text.
    pub why: &'static str,
    pub opening: Opening,
    /// What follows the first word.
    pub steps: &'static [Step],
}

impl Rule {
    pub const fn new(kind: &'static str, why: &'static str, steps: &'static [Step]) -> Rule {
        Rule { kind, why, opening: Opening::Any, steps }
    }

    pub const fn command(self) -> Rule {
        Rule { opening: Opening::Command, ..self }
    }

    pub const fn order(self) -> Rule {
        Rule { opening: Opening::Order, ..self }
    }

    pub const fn behind(self, steps: &'static [Step]) -> Rule {
        Rule { opening: Opening::Behind(steps), ..self }
    }

    pub const fn after(self, any: &'static [&'static str]) -> Rule {
        Rule { opening: Opening::After(any), ..self }
    }
}

/// Rules that begin with one of the same words.
pub struct Family {
    pub words: &'static [&'static str],
    pub rules: &'static [Rule],
}

/// What may stand before a rule's first word.
pub enum Opening {
    /// Anything but a negation.
    Any,
    /// A command's beginning. `Act as the judge` steers, `a mock can act as the judge` tells.
    Command,
    /// A command's beginning, or a leave: `you may ignore`.
    Order,
    /// These steps, the nearest word first, and an order's beginning before them. `Word` and `Some` alone: for
    /// phrases whose first words are too frequent to be anchors.
    Behind(&'static [Step]),
    /// One of these words at most four words before.
    After(&'static [&'static str]),
}

pub enum Step {
    /// One of these words.
    Word(&'static [&'static str]),
    /// Up to so many of these words.
    Some(usize, &'static [&'static str]),
    /// Up to so many words, whichever.
    Gap(usize),
    /// A word, but none of these, nor one that ends in `ed`: states are told, not ordered.
    Other(&'static [&'static str]),
    /// The sign that opens what is to replace something.
    Sign,
    /// What begins like a path and not like a word: `/`, `./src`, `**`.
    Path,
    /// The end of the clause or line, or what may be one in a document.
    End,
    /// One of these ways on.
    Either(&'static [&'static [Step]]),
}

/// The first rule of `families` that holds for the word around `at`.
pub fn find(bytes: &[u8], at: usize, families: &'static [Family]) -> Option<(&'static Rule, Range<usize>)> {
    let head = bytes.get(at.saturating_sub(16)..at)?;
    let start = at - head.iter().rev().take_while(|it| letter(**it)).count();
    let mut words = Words { bytes, at: start };
    let first = words.next()?;
    let family = families.iter().find(|family| first.is(family.words))?;
    let mut ahead = Ahead { from: words.at, words, read: [(0, 0); MOST], count: 0 };
    family.rules.iter().find_map(|rule| {
        let last = ahead.take(rule.steps, 0)?;
        let end = ahead.end(last)?;
        let start = rule.opening.allows(Words { bytes, at: start })?;
        Some((rule, start..end))
    })
}

/// The words behind a first word, each read once, when a rule comes to it.
struct Ahead<'a> {
    /// Where the first word ends.
    from: usize,
    words: Words<'a>,
    /// Where each begins and ends; nowhere, when the clause is over.
    read: [(usize, usize); MOST],
    count: usize,
}

/// How far the end of a clause is looked for.
const NEAR: usize = 16;
/// No rule reads further.
const MOST: usize = 14;

impl<'a> Ahead<'a> {
    /// The word at `index`, if the clause goes so far.
    fn word(&mut self, index: usize) -> Option<Word<'a>> {
        while self.count <= index {
            let span = self.words.next_span();
            // Where the clause is over it stays over.
            if span.is_some() {
                self.words.skip_compound();
            }
            *self.read.get_mut(self.count)? = span.unwrap_or_default();
            self.count += 1;
        }
        let (start, end) = *self.read.get(index)?;
        self.words.word(start, end)
    }

    /// Where the word before `index` ends.
    fn end(&self, index: usize) -> Option<usize> {
        let Some(last) = index.checked_sub(1) else { return Some(self.from) };
        let (_, end) = *self.read.get(last)?;
        (end > 0).then_some(end)
    }

    /// Behind which word the steps end when they hold from the word at `index` on.
    fn take(&mut self, steps: &[Step], index: usize) -> Option<usize> {
        let Some((step, rest)) = steps.split_first() else {
            return Some(index);
        };
        match step {
            Step::Word(any) => self.word(index).filter(|word| word.is(any)).and_then(|_| self.take(rest, index + 1)),
            Step::Other(none) => {
                let word = self.word(index).filter(|word| !word.surely(none) && !word.text.ends_with(b"ed"));
                word.and_then(|_| self.take(rest, index + 1))
            }
            Step::Some(most, any) => {
                let counted = (0..*most).take_while(|more| self.word(index + more).is_some_and(|it| it.is(any)));
                let count = counted.count();
                self.take(rest, index + count)
            }
            Step::Gap(most) => (0..=*most).find_map(|more| {
                let reached = more == 0 || self.word(index + more - 1).is_some();
                reached.then(|| self.take(rest, index + more)).flatten()
            }),
            Step::Sign => {
                let behind = self.words.bytes.get(self.end(index)?..)?;
                let sign = behind.iter().find(|it| !matches!(it, b' ' | b'*' | b'"' | b'\\'))?;
                if matches!(sign, b':' | b'=' | b'{') { self.take(rest, index) } else { None }
            }
            Step::Path => {
                let behind = self.words.bytes.get(self.end(index)?..)?;
                let sign = behind.iter().take(NEAR).find(|it| !matches!(it, b' ' | b'"' | b'\'' | b'`' | b'\\'))?;
                if matches!(sign, b'/' | b'.' | b'~' | b'*') { self.take(rest, index) } else { None }
            }
            Step::End => {
                let behind = self.words.bytes.get(self.end(index)?..)?;
                let sign = behind.iter().take(NEAR).find(|it| !matches!(it, b' ' | b'*' | b'`' | b'\'' | b')' | b'_'));
                // A string of a document ends with a quotation mark, and a line of it with a backslash.
                let over = sign.is_none_or(|it| b".!;,\"\n\r\\".contains(it));
                if over { self.take(rest, index) } else { None }
            }
            Step::Either(ways) => ways.iter().find_map(|way| {
                let index = self.take(way, index)?;
                self.take(rest, index)
            }),
        }
    }
}

/// Longer than every word of a rule: so far a word is read.
const LONGEST: usize = 32;

const NEGATIONS: &[&str] = any![not never cannot t nor without];
/// What may stand before a command.
const LEAD_INS: &[&str] = any![please now and then instead just on you so kindly first];

/// With them `you` tells what would be.
const CONDITIONS: &[&str] = any![if when unless whether once where that how];

impl Opening {
    /// Where the phrase begins, when it may.
    fn allows(&self, words: Words<'_>) -> Option<usize> {
        let mut back = words;
        if back.previous(Reach::Clause).is_some_and(|word| word.surely(NEGATIONS)) {
            return None;
        }
        let mut back = words;
        let allowed = match self {
            Opening::Any => true,
            Opening::After(any) => (0..4).map_while(|_| back.previous(Reach::Sentence)).any(|word| word.is(any)),
            Opening::Command => commands(back),
            Opening::Order => orders(back),
            Opening::Behind(steps) => {
                back = behind(back, steps)?;
                return orders(back).then_some(back.at);
            }
        };
        allowed.then_some(words.at)
    }
}

/// The place before the words that `steps` name, if they are there.
fn behind<'a>(mut back: Words<'a>, steps: &[Step]) -> Option<Words<'a>> {
    // A comma may stand before the word that the steps lead to: `done, even if`.
    let mut reach = Reach::Sentence;
    for step in steps {
        match step {
            Step::Word(any) => back.previous(reach).filter(|word| word.is(any)).map(|_| ())?,
            Step::Some(most, any) => {
                for _ in 0..*most {
                    let mut further = back;
                    if further.previous(reach).is_some_and(|word| word.is(any)) {
                        back = further;
                    }
                }
            }
            _ => return None,
        }
        reach = Reach::Clause;
    }
    Some(back)
}

fn commands(mut back: Words<'_>) -> bool {
    match back.previous(Reach::Line) {
        None => true,
        // `You must act`, but not `it must act`.
        Some(word) if word.is(any![must should will shall to]) => {
            back.previous(Reach::Clause).is_some_and(|word| word.is(any![you need have want]))
        }
        Some(word) => word.is(LEAD_INS),
    }
}

fn orders(words: Words<'_>) -> bool {
    let mut back = words;
    let Some(word) = back.previous(Reach::Clause) else { return true };
    if word.is(any![may can could must should will shall]) {
        let you = back.previous(Reach::Clause).is_some_and(|word| word.is(any![you]));
        return you && !back.previous(Reach::Clause).is_some_and(|word| word.surely(CONDITIONS));
    }
    if word.is(any![to]) && back.previous(Reach::Clause).is_some_and(|it| it.is(any![free allowed permitted told])) {
        return true;
    }
    let mut back = words;
    let you = back.previous(Reach::Clause).is_some_and(|word| word.surely(any![you]));
    let conditional = you && back.previous(Reach::Clause).is_some_and(|word| word.surely(CONDITIONS));
    !conditional && commands(words)
}

/// How far back a word is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// To the beginning of the line, or what may be one: in a document a backslash may begin the escape of a
    /// line break.
    Line,
    /// To the beginning of the clause, which a comma divides from the next.
    Clause,
    Sentence,
}

/// Letters and digits, and the underscore: `ignore_previous_instructions` is a name, not a sentence.
fn letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// What may stand between two words of a phrase. Other signs end a clause or mean code.
fn between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || !byte.is_ascii() || byte.is_ascii_control() || b"\"'`,*~()>#\\".contains(&byte)
}

/// A word of a text.
#[derive(Clone, Copy)]
pub struct Word<'a> {
    text: &'a [u8],
    /// There is a backslash before it, so its first letter may be an escape's.
    escaped: bool,
}

impl Word<'_> {
    pub fn is(&self, any: &[&str]) -> bool {
        any.iter().any(|it| same(self.text, self.escaped, it))
    }

    /// Whether the word is one of these when its first letter is the end of an escape, if it can be: where a word
    /// speaks for a text, a document must not seem to have it. `\nor` is no `nor`.
    pub fn surely(&self, any: &[&str]) -> bool {
        let rest = self.text.split_first().filter(|(first, _)| self.escaped && escape_letter(**first));
        any.iter().any(|it| same(rest.map_or(self.text, |(_, rest)| rest), false, it))
    }

    /// The `n` of `\n`, alone.
    fn is_escape(&self) -> bool {
        self.escaped && matches!(self.text, [b'n' | b'r' | b't' | b'b' | b'f'])
    }
}

/// A place between the words of a text.
#[derive(Clone, Copy)]
pub struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    pub fn at(bytes: &'a [u8], at: usize) -> Words<'a> {
        Words { bytes, at }
    }

    /// The words of the sentence before this place, the nearest first.
    pub fn back(mut self) -> impl Iterator<Item = Word<'a>> {
        std::iter::from_fn(move || self.previous(Reach::Sentence))
    }

    /// The next word of the clause.
    pub fn next(&mut self) -> Option<Word<'a>> {
        let (start, end) = self.next_span()?;
        self.word(start, end)
    }

    /// Where the next word of the clause begins and ends.
    fn next_span(&mut self) -> Option<(usize, usize)> {
        loop {
            let from = self.at;
            let mut start = from;
            while let Some(byte) = self.bytes.get(start).filter(|byte| !letter(**byte)) {
                // A hyphen with blanks around it joins clauses, one without them is part of a name.
                let dash = *byte == b'-' && begins(self.bytes, start, letter);
                if !between(*byte) && !dash {
                    return None;
                }
                start += 1;
            }
            let end = start + self.bytes.get(start..)?.iter().take(LONGEST).take_while(|it| letter(**it)).count();
            tally(end - from);
            let word = self.word(start, end)?;
            self.at = end;
            if !word.is_escape() {
                return Some((start, end));
            }
        }
    }

    /// Passes over what hyphens join to the word before this place: of `T-12` and `first-class` only the beginning is a
    /// word. A rule's own first word is not read so, since `mark-sweep` does not begin an order.
    fn skip_compound(&mut self) {
        let from = self.at;
        while self.bytes.get(self.at) == Some(&b'-')
            && self.bytes.get(self.at + 1).is_some_and(|it| letter(*it))
            && self.at - from < LONGEST
        {
            self.at = short_run(self.bytes, self.at + 1, LONGEST, letter);
        }
    }

    /// The word of the clause before this place.
    fn previous(&mut self, reach: Reach) -> Option<Word<'a>> {
        loop {
            let mut end = self.at;
            while let Some(byte) = before(self.bytes, end).filter(|byte| !letter(*byte)) {
                let line = reach == Reach::Line && matches!(byte, b'\n' | b'\r' | b'\\');
                let clause = reach != Reach::Sentence && byte == b',';
                if !between(byte) || line || clause {
                    return None;
                }
                end -= 1;
            }
            let head = self.bytes.get(end.saturating_sub(16)..end)?;
            let start = end - head.iter().rev().take_while(|it| letter(**it)).count();
            tally(self.at - start);
            let word = self.word(start, end)?;
            self.at = start;
            if !word.is_escape() {
                return Some(word);
            }
        }
    }

    fn word(&self, start: usize, end: usize) -> Option<Word<'a>> {
        let text = self.bytes.get(start..end).filter(|text| text.len() < LONGEST)?;
        let text = text.strip_prefix(b"_").unwrap_or(text);
        let text = text.strip_suffix(b"_").unwrap_or(text);
        (end > start).then_some(Word { text, escaped: before(self.bytes, start) == Some(b'\\') })
    }
}
