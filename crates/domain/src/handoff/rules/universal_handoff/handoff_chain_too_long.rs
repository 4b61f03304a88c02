use crate::handoff::payload::UniversalHandoff;
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::serde_json::Value;
use countersign_contract::{Name, Report, Subject, rule};

/// How many workflows a chain may name.
const CHAIN_MAX: usize = 10;

rule! {
    /// A chain names at most ten workflows. The repair cuts its middle and keeps both ends.
    ///
    /// ## Why
    /// A longer chain says little about where the work is and takes room from what the target needs. An entry of the
    /// target is never cut: it is what shows a circle.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"handoff": {"meta": {"user_approved": true,
    ///   "handoff_chain": ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "skill-editor"]}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"handoff": {"meta": {"user_approved": true,
    ///   "handoff_chain": ["a", "b", "c", "d", "e", "f", "g", "h", "i", "skill-editor"]}}}
    /// ```
    pub static HANDOFF_CHAIN_TOO_LONG: UniversalHandoff = {
        id: "handoff-chain-too-long",
        code: CircularHandoff,
        severity: Error,
        summary: "a chain names more than ten workflows",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    let handoff = &it.record.handoff;
    let chain = handoff.chain();
    if chain.len() <= CHAIN_MAX {
        return;
    }
    let list = Pointer::at("/handoff/meta/handoff_chain");
    let message = format!("the chain names {} workflows, {CHAIN_MAX} are allowed", chain.len());
    let found =
        report.add(list.clone(), message, "leave out the middle of the chain, and ask whether the work gets anywhere");
    // The end of a chain that does not end in the source is another rule's to mend, and both would touch this list.
    if chain.last() == Some(&handoff.source.skill) {
        let shorter: Vec<Value> = cut(chain, &handoff.target.skill).map(|skill| skill.as_str().into()).collect();
        found.repair(Repair::replace(list, shorter, "cut the middle of the chain"));
    }
}

/// Both ends of a chain that is too long, half of the places each. An entry of `target` that would be cut takes the
/// last place of the first half.
fn cut<'c>(chain: &'c [Name], target: &'c Name) -> impl Iterator<Item = &'c Name> {
    const HALF: usize = CHAIN_MAX / 2;
    let (head, rest) = chain.split_at(HALF);
    let (middle, tail) = rest.split_at(rest.len() - HALF);
    let seen = |part: &[Name]| part.contains(target);
    let cut_away = (seen(middle) && !seen(head) && !seen(tail)).then_some(target);
    let head = &head[..HALF - usize::from(cut_away.is_some())];
    head.iter().chain(cut_away).chain(tail)
}
