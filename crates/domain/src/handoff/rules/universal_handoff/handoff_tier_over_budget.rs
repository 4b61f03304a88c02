use super::raised_by_another;
use crate::handoff::budget::{self, Measure, TIERS};
use crate::handoff::payload::UniversalHandoff;
use countersign_contract::{Report, Subject, rule};
use countersign_tokens::Encoding;

rule! {
    /// Each part of a handoff keeps to its budget: metadata 100 tokens, source and target 50, context 200, working
    /// payload 500, session payload 800, references 200, meta and tracing 150.
    ///
    /// ## Why
    /// The parts share one limit. One that grows past its share takes the room of another, and most often holds what
    /// belongs in a file. It is a warning: a handoff within the limit of the whole can still be read.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"handoff": {
    ///   "source": {"phase": "Phase 3: the decision is made, the architects want it simpler, the reviewers wait"},
    ///   "target": {"invocation": "/skill programming-pm, with the plan open in the editor beside it",
    ///     "expected_phase": "Phase 4: build what was decided, unless the architects win in the meantime"}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"handoff": {"source": {"phase": "Phase 3: Decision and review"}}}
    /// ```
    pub static HANDOFF_TIER_OVER_BUDGET: UniversalHandoff = {
        id: "handoff-tier-over-budget",
        code: TokenLimitExceeded,
        severity: Warning,
        summary: "a part of a handoff is larger than its budget",
        check: raised_by_another,
    }
}

/// Judges the parts; asked by `handoff-token-limit-exceeded`, which has measured them. A part that is within its
/// budget by its characters is not counted.
pub(super) fn weigh(it: &Subject<'_, UniversalHandoff>, measure: &Measure, encoding: Encoding, report: &mut Report) {
    for (index, (tier, size)) in TIERS.iter().zip(measure.tiers).enumerate() {
        if size.estimate() <= tier.tokens_max {
            continue;
        }
        let tokens = match encoding {
            Encoding::Chars4 => size.estimate(),
            exact => budget::members(it.root, index).map(|member| exact.count(&member.compact())).sum(),
        };
        let Some(at) = budget::members(it.root, index).next().filter(|_| tokens > tier.tokens_max) else { continue };
        let message = format!("the part `{}` has {tokens} tokens, its budget is {}", tier.name, tier.tokens_max);
        let help = "say it shorter, or put it in a file and refer to that";
        report.find(&HANDOFF_TIER_OVER_BUDGET.info, at, message, help);
    }
}
