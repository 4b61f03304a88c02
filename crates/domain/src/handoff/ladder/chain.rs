//! A chain that names too many workflows: its middle says least.

use super::keep::Keeper;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::serde_json::Value;

/// How many workflows a chain may name.
pub(in crate::handoff) const CHAIN_MAX: usize = 10;

const CHAIN: &str = "/handoff/meta/handoff_chain";

/// Cuts the middle of a chain that is too long. The whole is kept.
pub(super) fn cut_long_chain(keeper: &mut Keeper<'_, '_>) {
    let named = |pointer: &str| keeper.document.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (source, target) = (named("/handoff/source/skill"), named("/handoff/target/skill"));
    let Some(chain) = keeper.document.pointer(CHAIN).and_then(Value::as_array) else { return };
    // The end of a chain that does not end in the source is a person's to mend: it may be another chain altogether.
    if chain.len() <= CHAIN_MAX || chain.last().and_then(Value::as_str) != Some(&source) {
        return;
    }
    let shorter: Vec<Value> = cut(chain, &Value::String(target)).cloned().collect();
    keeper.shorten(&Pointer::at(CHAIN), shorter.into());
}

/// Both ends of a chain that is too long, half of the places each. An entry of `target` that would be cut takes the last place of
/// the first half: it is what shows a circle.
fn cut<'c>(chain: &'c [Value], target: &'c Value) -> impl Iterator<Item = &'c Value> {
    const HALF: usize = CHAIN_MAX / 2;
    let (head, rest) = chain.split_at(HALF);
    let (middle, tail) = rest.split_at(rest.len() - HALF);
    let seen = |part: &[Value]| part.contains(target);
    let cut_away = (seen(middle) && !seen(head) && !seen(tail)).then_some(target);
    let head = &head[..HALF - usize::from(cut_away.is_some())];
    head.iter().chain(cut_away).chain(tail)
}
