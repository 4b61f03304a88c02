use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The budget of a handoff lies between what the smallest one takes and what the contract allows.
    ///
    /// ## Why
    /// Ids, times, hashes and one criterion have some 380 tokens. With a smaller budget nothing could ever be handed over; a larger one
    /// than the contract's would promise what is refused later.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Describe it", "agent": "coder", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ], "handoffs": [{"from": "T-1", "to": "T-2", "max_tokens": 100}]}
    /// ```
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Describe it", "agent": "coder", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ], "handoffs": [{"from": "T-1", "to": "T-2", "max_tokens": 2001}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Describe it", "agent": "coder", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ], "handoffs": [{"from": "T-1", "to": "T-2", "max_tokens": 1500}]}
    /// ```
    pub static PLAN_HANDOFF_BUDGET_UNUSABLE: Plan = {
        id: "plan-handoff-budget-unusable",
        code: TokenLimitExceeded,
        severity: Error,
        summary: "the budget of a handoff is not one that it can have",
        check: check,
    }
}

/// What the handoff of the smallest task takes: 370 to 385 were measured, since ids and hashes count differently each time.
const TOKENS_MIN: i64 = 420;
/// What the contract of a handoff allows.
const TOKENS_MAX: i64 = 2000;

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    let most = i64::try_from(it.settings.tokens_max).unwrap_or(TOKENS_MAX).min(TOKENS_MAX);
    for (index, edge) in it.record.edges().iter().enumerate() {
        let Some(tokens) = edge.max_tokens.map(|tokens| tokens.get()) else { continue };
        if !(TOKENS_MIN..=most).contains(&tokens) {
            let message = format!("a handoff of at most {tokens} tokens cannot be; it has from {TOKENS_MIN} to {most}");
            let help = "name a number in between, or leave it out for the most there may be";
            report.add(Pointer::at("/handoffs").item(index).key("max_tokens"), message, help);
        }
    }
}
