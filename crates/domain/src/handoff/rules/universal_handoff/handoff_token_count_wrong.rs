use super::raised_by_another;
use crate::handoff::payload::UniversalHandoff;
use crate::handoff::tally::Tally;
use crate::handoff::upkeep::stated_count;
use countersign_contract::diagnostic::Repair;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// `token_count` is within 30 % of the number of tokens, counted exactly or as a quarter of the characters of the
    /// compact JSON.
    ///
    /// ## Why
    /// Whoever decides by this number whether there is room for the handoff must not be misled by it. It is allowed
    /// to be an estimate, because not every source can count. The field ends at 2000: a longer handoff says 2000, and
    /// is refused for its length.
    ///
    /// ## Rejected
    /// ```json rejected unsealed
    /// {"handoff": {"meta": {"token_count": 900}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted unsealed
    /// {"handoff": {"meta": {"token_count": 120}}}
    /// ```
    pub static HANDOFF_TOKEN_COUNT_WRONG: UniversalHandoff = {
        id: "handoff-token-count-wrong",
        code: IntegrityMismatch,
        severity: Error,
        summary: "the token count is not that of the handoff",
        check: raised_by_another,
    }
}

/// Judges the count; asked by `handoff-token-limit-exceeded`, which has measured the document. Tokens are counted
/// only where the estimate does not agree already.
pub(super) fn weigh(it: &Subject<'_, UniversalHandoff>, tally: &mut Tally<'_>, report: &mut Report) {
    let written = it.record.handoff.meta.token_count.get();
    let estimate = stated_count(tally.estimate());
    if is_near(written, estimate) || is_near(written, stated_count(tally.exact())) {
        return;
    }
    let meta = it.root.get("handoff").and_then(|handoff| handoff.get("meta"));
    let Some(at) = meta.and_then(|meta| meta.get("token_count")) else { return };
    let message = format!(
        "the token count is {written}; the handoff has {} ({}), or about {} by its characters",
        tally.exact(),
        tally.encoding(),
        tally.estimate(),
    );
    let found = report.find(&HANDOFF_TOKEN_COUNT_WRONG.info, at, message, format!("write {estimate}"));
    let pointer = found.pointer.clone();
    found.repair(Repair::replace(pointer, estimate, "count the tokens again"));
}

/// Whether a count is within 30 % of the number it is given for.
fn is_near(written: i64, actual: i64) -> bool {
    (written - actual).abs() * 10 <= actual * 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_percent_is_near_and_more_is_not() {
        for (written, near) in [(100, true), (130, true), (131, false), (70, true), (69, false), (0, false)] {
            assert_eq!(is_near(written, 100), near, "{written}");
        }
    }
}
