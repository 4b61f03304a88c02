//! The second rung: take out what can be read later, in order, and no more of it than needed.

use super::SESSION;
use super::chain::cut_long_chain;
use super::keep::Keeper;
use super::shorten;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::fix::Climb;
use countersign_contract::serde_json::Value;

/// What a target can do without, in the order in which it goes. The session has a step of its own. Nothing stands here that
/// decides whether a handoff may be received: who it is for, until when, of which trace, and by which hash.
pub(super) const OPTIONAL: &[&str] = &[
    "/handoff/target/invocation",
    "/handoff/target/expected_phase",
    "/handoff/context/original_prompt",
    "/handoff/context/success_criteria",
    "/handoff/tracing/tags",
];
const SUMMARY: &str = "/handoff/context/summary";
pub(super) const WORKING: &str = "/handoff/payload/working";

/// How many characters a summary may have.
const SUMMARY_CHARS_MAX: usize = 500;
/// How many tokens a summary may keep.
const SUMMARY_TOKENS_MAX: usize = 100;
/// How many characters a text of the working payload may keep.
const TEXT_CHARS_MAX: usize = 500;
/// The longest token of any encoding that is counted. A document longer than its limit times this cannot fit.
pub(super) const TOKEN_BYTES_MAX: usize = 128;

/// Does as much of it as is needed.
pub(super) fn climb(document: &mut Value, climb: &mut Climb<'_>) -> Vec<String> {
    let Some(mut keeper) = Keeper::new(document, climb) else { return Vec::new() };
    cut_long_chain(&mut keeper);
    shorten_long_summary(&mut keeper);
    if !(keeper.fits() || take_optional(&mut keeper) || take_session(&mut keeper)) {
        shorten_texts(&mut keeper);
    }
    keeper.into_changes()
}

/// A summary beyond its length is cut however few tokens the handoff has.
fn shorten_long_summary(keeper: &mut Keeper<'_, '_>) {
    let Some(summary) = keeper.document.pointer(SUMMARY).and_then(Value::as_str).map(str::to_owned) else { return };
    if summary.chars().count() <= SUMMARY_CHARS_MAX {
        return;
    }
    let given = (keeper.climb.summarize)(&summary, SUMMARY_CHARS_MAX);
    let given = given.filter(|it| shorten::is_shorter(it, SUMMARY_CHARS_MAX));
    let shorter = given.unwrap_or_else(|| shorten::cut(&summary, SUMMARY_CHARS_MAX));
    keeper.shorten(&Pointer::at(SUMMARY), shorter.into());
}

/// Whether the handoff fits after it.
fn take_optional(keeper: &mut Keeper<'_, '_>) -> bool {
    for pointer in OPTIONAL {
        if keeper.document.pointer(pointer).is_none() {
            continue;
        }
        keeper.take(&Pointer::at(*pointer));
        if keeper.fits() {
            return true;
        }
    }
    false
}

/// Whether the handoff fits after it.
fn take_session(keeper: &mut Keeper<'_, '_>) -> bool {
    if keeper.document.pointer(SESSION).is_none() {
        return false;
    }
    keeper.take(&Pointer::at(SESSION));
    keeper.fits()
}

fn shorten_texts(keeper: &mut Keeper<'_, '_>) {
    if let Some(shorter) = shorter_summary(keeper) {
        keeper.shorten(&Pointer::at(SUMMARY), shorter.into());
        if keeper.fits() {
            return;
        }
    }
    let mut long = Vec::new();
    if let Some(working) = keeper.document.pointer(WORKING) {
        find_long(working, Pointer::at(WORKING), &mut long);
    }
    let bytes_max = keeper.limit.saturating_mul(TOKEN_BYTES_MAX);
    let mut bytes = keeper.document.to_string().len();
    for (pointer, text) in long {
        let summary =
            (keeper.climb.summarize)(&text, TEXT_CHARS_MAX).filter(|it| shorten::is_shorter(it, TEXT_CHARS_MAX));
        let shorter = summary.unwrap_or_else(|| shorten::cut(&text, TEXT_CHARS_MAX));
        bytes = bytes.saturating_sub(text.len().saturating_sub(shorter.len()));
        keeper.shorten(&pointer, shorter.into());
        // Counting after each text would take long where there are many, and cannot succeed while this holds.
        if bytes <= bytes_max && keeper.fits() {
            return;
        }
    }
}

/// A summary of under [`SUMMARY_TOKENS_MAX`] tokens, if it is longer than that.
fn shorter_summary(keeper: &mut Keeper<'_, '_>) -> Option<String> {
    const CHARS_FIRST: usize = 400;
    const CHARS_LAST: usize = 25;
    let summary = keeper.document.pointer(SUMMARY)?.as_str()?.to_owned();
    let encoding = keeper.encoding;
    let fits = |text: &str| encoding.count_within(text, SUMMARY_TOKENS_MAX - 1).is_some();
    if encoding.count_within(&summary, SUMMARY_TOKENS_MAX).is_some() {
        return None;
    }
    let given = (keeper.climb.summarize)(&summary, CHARS_FIRST);
    if let Some(given) = given.filter(|it| shorten::is_shorter(it, summary.chars().count() - 1) && fits(it)) {
        return Some(given);
    }
    // Few characters can be many tokens, so what is kept shrinks until it fits.
    let sizes = std::iter::successors(Some(CHARS_FIRST), |chars| Some(chars * 3 / 4));
    let mut cuts = sizes.take_while(|chars| *chars >= CHARS_LAST).map(|chars| shorten::cut(&summary, chars));
    cuts.find(|cut| fits(cut))
}

/// The texts that are longer than [`TEXT_CHARS_MAX`], in the order of the document.
fn find_long(value: &Value, at: Pointer, found: &mut Vec<(Pointer, String)>) {
    match value {
        // A text has at most as many characters as bytes, so most need no counting.
        Value::String(text) if text.len() > TEXT_CHARS_MAX && text.chars().count() > TEXT_CHARS_MAX => {
            found.push((at, text.clone()));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                find_long(item, at.clone().item(index), found);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                find_long(member, at.clone().key(key), found);
            }
        }
        _ => {}
    }
}
