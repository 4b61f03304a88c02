use super::{handoff_tier_over_budget, handoff_token_count_wrong, payload_size_mismatch};
use crate::handoff::budget::{self, Measure, TIERS};
use crate::handoff::payload::UniversalHandoff;
use crate::handoff::tally::Tally;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A handoff has at most 2000 tokens, or as many as the configuration says, counted over the compact JSON of the
    /// whole document.
    ///
    /// ## Why
    /// What is handed over is read whole by every target down the chain. Past about two thousand tokens it crowds out
    /// the work it was meant to help. `countersign fix` takes out what can be read later, keeps it in a file, and
    /// refers to it.
    ///
    /// ## Rejected
    /// With a limit of 100 tokens:
    /// ```json rejected tokens_max=100
    /// {}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {}
    /// ```
    pub static HANDOFF_TOKEN_LIMIT_EXCEEDED: UniversalHandoff = {
        id: "handoff-token-limit-exceeded",
        code: TokenLimitExceeded,
        severity: Error,
        summary: "a handoff has more tokens than are allowed",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    let limit = it.settings.tokens_max;
    let measure = Measure::of(it.root);
    let mut tally = Tally::new(it.root, measure.total, budget::encoding(it.settings));
    if let Some(tokens) = tally.beyond(limit) {
        let message = format!("the handoff has {tokens} tokens ({}), {limit} are allowed", tally.encoding());
        let help =
            "leave out what the target can read from files, and refer to those; `countersign fix` does it step by step";
        let found = report.add(Pointer::at("/handoff"), message, help);
        let largest = TIERS.iter().zip(measure.tiers).max_by_key(|(_, size)| size.chars);
        if let Some((tier, size)) = largest {
            let text = format!("the largest part is `{}`, with about {} tokens", tier.name, size.estimate());
            found.label(Pointer::at(tier.pointer), text);
        }
    }
    payload_size_mismatch::weigh(it, &measure, report);
    handoff_tier_over_budget::weigh(it, &measure, tally.encoding(), report);
    handoff_token_count_wrong::weigh(it, &mut tally, report);
}
