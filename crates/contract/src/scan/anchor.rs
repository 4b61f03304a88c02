//! The anchors: for each matcher a fragment that is rare in ordinary documents and part of all that it
//! matches.
//!
//! All of them are searched for at once, without regard to case, by Teddy (`aho_corasick::packed`), which
//! compares 32 bytes at a time with eight groups of fragments, by the halves of their first three bytes. What
//! such a search costs is how often it stops at something that only looks like a fragment. Hence the groups:
//! fragments of one group have letters in common, so that the group lets little else through. They were found
//! by annealing, against JSON payloads and English prose; about six bytes in a thousand stop the search. The
//! order is a matter of speed alone. Before much was searched, tables do that need not be built (`table.rs`).

use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::packed::{Config, MatchKind, Searcher};
use aho_corasick::{AhoCorasick, AhoCorasickKind, Span};

use super::control::Lead as Control;
use super::dismissals::{IGNORE, OVERRIDE};
use super::fold::carrier;
use super::orders::{APPROVE, EVEN, EXPAND, MARK, SCHEMA, SCOPE, WHATEVER};
use super::phrase::Family;
use super::phrases::{ACT, PRETEND, ROLE, YOU};
use super::secret::{AWS, AWS_SESSION, GITHUB, GITHUB_FINE, GITLAB, GOOGLE, GOOGLE_OAUTH, NPM};
use super::secret::{Lead as Secret, SK, SLACK, SLACK_APP, STRIPE, Token};
use super::table::{Table, fold};

/// Whom a fragment calls.
#[derive(Clone, Copy)]
pub enum Lead {
    Secret(Secret),
    Control(Control),
}

const fn token(token: &'static Token) -> Lead {
    Lead::Secret(Secret::Token(token))
}
const fn word(families: &'static &'static [Family]) -> Lead {
    Lead::Control(Control::Word(families))
}
const NAME: Lead = Lead::Secret(Secret::Name);
const BEARER: Lead = Lead::Secret(Secret::Bearer);
const HOOK: Lead = Lead::Secret(Secret::Hook);
const INST: Lead = Lead::Control(Control::Inst);
const FIELD: Lead = Lead::Control(Control::Field);
const BAR: Lead = Lead::Control(Control::Bar);
const TAG: Lead = Lead::Control(Control::Tag);

/// Fragments in lower case, in groups of at most [`ROWS`]. None is the beginning of another, since only the
/// first of two that stand at one place is reported.
#[rustfmt::skip]
static GROUPS: [&[(&str, Lead)]; 2 * COLUMNS] = [
    &[("pprov", word(&APPROVE)), ("ghp_", token(&GITHUB)), ("ghr_", token(&GITHUB)), ("glpat-", token(&GITLAB))],
    &[("sia", token(&AWS_SESSION)), ("<|e", BAR), ("xapp-", token(&SLACK_APP)), ("sregard", word(&IGNORE))],
    &[("role", word(&ROLE)), ("rdless", word(&WHATEVER)), ("xox", token(&SLACK)), ("_locks", FIELD)],
    &[("even\\", word(&EVEN)), ("even ", word(&EVEN)),
      ("hub_pat_", token(&GITHUB_FINE)), ("--begin", Lead::Secret(Secret::Block))],
    &[("act\\", word(&ACT)), ("act as", word(&ACT)), ("act  ", word(&ACT)), ("retend", word(&PRETEND))],
    &[("/sys", TAG), ("st]", INST), ("_type", FIELD), ("<sys", TAG)],
    &[("sk-", token(&SK)), ("###", Lead::Control(Control::Heading)), ("_check", FIELD), ("schema", word(&SCHEMA))],
    &[("_level", FIELD), ("tter", word(&WHATEVER)), ("_version", FIELD), ("tever", word(&WHATEVER))],
    &[("orget", word(&IGNORE)), ("ssw", NAME), ("cope", word(&SCOPE))],
    &[("slack.com", HOOK), ("<|i", BAR), ("<|s", BAR), ("_live_", token(&STRIPE))],
    &[("you", word(&YOU)), ("key", NAME), ("aiza", token(&GOOGLE)), ("pm_", token(&NPM))],
    &[("lta_id", FIELD), ("gnor", word(&IGNORE)), ("gho_", token(&GITHUB))],
    &[("widen", word(&EXPAND)), ("erdict", FIELD), ("token", NAME), ("eyj", Lead::Secret(Secret::Jwt))],
    &[("ecret", NAME), ("ya29.", token(&GOOGLE_OAUTH)), ("mark", word(&MARK)), ("earer", BEARER)],
    &[("rrid", word(&OVERRIDE)), ("ypass", word(&IGNORE)), ("xpand", word(&EXPAND)), ("r_delta", FIELD)],
    &[("kia", token(&AWS)), ("ghu_", token(&GITHUB)), ("ghs_", token(&GITHUB)), ("ia_results", FIELD)],
];

/// Teddy puts its n-th fragment into the group n mod 8, and is fastest with at most 32.
pub const COLUMNS: usize = 8;
pub const ROWS: usize = 4;
/// How much is folded and searched at a time: small enough to stay in the first-level cache and to be cleared
/// for nothing.
const BLOCK: usize = 2048;
/// What a block repeats of the one before it: no fragment is longer, nor any character.
const OVERLAP: usize = 16;
/// Teddy refuses shorter texts; they are filled up.
const LEAST: usize = 64;
/// How many bytes are swept by tables before it is worth while to build Teddy.
const UNBUILT: usize = 16 * 1024;

/// What a sweep saw beside the anchors.
pub struct Swept {
    /// There are characters that hide text or disguise letters.
    pub carriers: bool,
}

enum Finder {
    Teddy(Searcher),
    /// Where the processor has no vectors that Teddy knows.
    Automaton(Box<AhoCorasick>),
    Table(&'static Table),
}

static TABLES: [Table; 2] = {
    let (one, other) = GROUPS.split_at(COLUMNS);
    [Table::of(one), Table::of(other)]
};
static UNBUILT_FINDERS: [Finder; 2] = [Finder::Table(&TABLES[0]), Finder::Table(&TABLES[1])];
static BUILT_FINDERS: OnceLock<Vec<Finder>> = OnceLock::new();
/// How much was swept without Teddy.
static SWEPT: AtomicUsize = AtomicUsize::new(0);

/// What finds fragments in the next so many bytes.
fn finders(length: usize) -> &'static [Finder] {
    if let Some(built) = BUILT_FINDERS.get() {
        return built;
    }
    if SWEPT.fetch_add(length, Ordering::Relaxed).saturating_add(length) <= UNBUILT {
        &UNBUILT_FINDERS
    } else {
        built()
    }
}

fn built() -> &'static [Finder] {
    BUILT_FINDERS.get_or_init(|| GROUPS.chunks(COLUMNS).filter_map(finder).collect())
}

/// The fragments of eight groups, row by row. A group that is too short repeats its first.
fn rows(groups: &[&[(&'static str, Lead)]]) -> Vec<Vec<u8>> {
    let row = |row: usize| groups.iter().filter_map(move |group| group.get(row).or(group.first()));
    (0..ROWS).flat_map(row).map(|(text, _)| text.bytes().map(fold).collect()).collect()
}

fn finder(groups: &[&[(&'static str, Lead)]]) -> Option<Finder> {
    let fragments = rows(groups);
    let teddy = Config::new().match_kind(MatchKind::LeftmostFirst).builder().extend(&fragments).build();
    teddy.map(Finder::Teddy).or_else(|| automaton(&fragments))
}

fn automaton(fragments: &[Vec<u8>]) -> Option<Finder> {
    let kind = aho_corasick::MatchKind::LeftmostFirst;
    let built = AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).match_kind(kind).build(fragments);
    built.ok().map(|it| Finder::Automaton(Box::new(it)))
}

impl Finder {
    /// The first fragment at or after `from`: which, and where.
    fn find(&self, block: &[u8], from: usize) -> Option<(usize, usize, usize)> {
        let span = Span::from(from..block.len());
        let found = match self {
            Finder::Teddy(teddy) => teddy.find_in(block, span),
            Finder::Automaton(automaton) => automaton.find(aho_corasick::Input::new(block).span(span)),
            Finder::Table(table) => return table.find(block, from),
        }?;
        Some((found.pattern().as_usize(), found.start(), found.end()))
    }
}

/// Calls `visit` with the place of every anchor in `bytes`, until it breaks. Anchors of one fragment come in
/// order.
pub fn sweep(bytes: &[u8], mut visit: impl FnMut(usize, Lead) -> ControlFlow<()>) -> Swept {
    if bytes.len() <= LEAST * 4 {
        sweep_by::<{ LEAST * 4 }>(bytes, &mut visit)
    } else {
        sweep_by::<BLOCK>(bytes, &mut visit)
    }
}

fn sweep_by<const SIZE: usize>(bytes: &[u8], visit: &mut impl FnMut(usize, Lead) -> ControlFlow<()>) -> Swept {
    let (mut swept, finders) = (Swept { carriers: false }, finders(bytes.len()));
    let mut buffer = [0; SIZE];
    let (mut start, mut seen) = (0, 0);
    loop {
        let end = bytes.len().min(start + SIZE);
        let source = bytes.get(start..end).unwrap_or_default();
        let (mut union, mut address) = (0, 0);
        for (to, from) in buffer.iter_mut().zip(source) {
            *to = fold(*from);
            union |= *from;
            address |= u8::from(*from == b'@');
        }
        let filled = source.len().max(LEAST);
        buffer.iter_mut().take(filled).skip(source.len()).for_each(|it| *it = 0);
        swept.carriers = swept.carriers || !union.is_ascii() && carrier(source);
        let block = buffer.get(..filled).unwrap_or_default();
        for (finder, groups) in finders.iter().zip(GROUPS.chunks(COLUMNS)) {
            let mut from = 0;
            while let Some((which, at, until)) = finder.find(block, from) {
                from = at + 1;
                let group = groups.get(which % COLUMNS).copied().unwrap_or_default();
                // What ends in the overlap was reported with the block before.
                if let Some((_, lead)) = group.get(which / COLUMNS).or(group.first())
                    && start + until > seen
                    && visit(start + at, *lead).is_break()
                {
                    return swept;
                }
            }
        }
        if address != 0 {
            for at in memchr::memchr_iter(b'@', source).map(|at| start + at).filter(|at| *at >= seen) {
                if visit(at, Lead::Secret(Secret::Url)).is_break() {
                    return swept;
                }
            }
        }
        if end == bytes.len() {
            return swept;
        }
        seen = end;
        start = end - OVERLAP;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection;
    use proptest::prelude::*;

    #[test]
    fn fragments_fit() {
        let all: Vec<&str> = GROUPS.iter().flat_map(|group| group.iter().map(|(text, _)| *text)).collect();
        assert!(GROUPS.iter().all(|group| (1..=ROWS).contains(&group.len())));
        for (index, one) in all.iter().enumerate() {
            assert!((3..OVERLAP).contains(&one.len()), "{one}");
            assert_eq!(*one, one.to_lowercase());
            for other in all.iter().skip(index + 1) {
                assert!(!one.starts_with(other) && !other.starts_with(one), "{one} {other}");
            }
        }
    }

    #[test]
    fn every_place_is_swept_once() {
        // A fragment at every offset around the seams of the blocks.
        for offset in (0..40).chain(BLOCK - 40..BLOCK + 40).chain(2 * BLOCK - 60..2 * BLOCK + 10) {
            let mut text = ".".repeat(offset);
            text.push_str("GLPAT-");
            text.push_str(&".".repeat(100));
            let mut found = Vec::new();
            sweep(text.as_bytes(), |at, _| {
                found.push(at);
                ControlFlow::Continue(())
            });
            assert_eq!(found, [offset]);
        }
    }

    #[test]
    fn automaton_and_table_find_what_teddy_finds() {
        for ((groups, teddy), table) in GROUPS.chunks(COLUMNS).zip(built()).zip(&TABLES) {
            let fragments = rows(groups);
            let automaton = automaton(&fragments).unwrap();
            for fragment in &fragments {
                let block = [&[b'.'; 70][..], fragment, &[b'.'; 70][..]].concat();
                let found = automaton.find(&block, 0);
                assert_eq!(found.map(|(_, at, end)| (at, end)), Some((70, 70 + fragment.len())));
                assert_eq!(found, teddy.find(&block, 0));
                assert_eq!(found, table.find(&block, 0));
                // Beginnings that lead nowhere, and what the block ends in the midst of.
                let cut = &block[..69 + fragment.len()];
                assert_eq!(table.find(cut, 0), None);
            }
        }
    }

    /// Which fragment, how much of it, and how many dots behind it: much then only looks like a fragment.
    fn pieces() -> impl Strategy<Value = Vec<(usize, usize, usize)>> {
        collection::vec((0..64_usize, 1..10_usize, 0..2_usize), 1..60)
    }

    proptest! {
        #[test]
        fn tables_find_what_teddy_finds_in_any_text(pieces in pieces()) {
            let all: Vec<&str> = GROUPS.iter().flat_map(|group| group.iter().map(|(text, _)| *text)).collect();
            let piece = |(which, length, dots): (usize, usize, usize)| {
                let text = all[which % all.len()].bytes().map(fold).take(length);
                text.chain(std::iter::repeat_n(b'.', dots)).collect::<Vec<u8>>()
            };
            let mut text: Vec<u8> = pieces.into_iter().flat_map(piece).collect();
            text.resize(text.len().max(LEAST), b' ');
            for (teddy, table) in built().iter().zip(&TABLES) {
                let mut from = 0;
                while let Some(found) = teddy.find(&text, from) {
                    prop_assert_eq!(table.find(&text, from), Some(found));
                    from = found.1 + 1;
                }
                prop_assert_eq!(table.find(&text, from), None);
            }
        }
    }
}
