//! What a person was shown before they answered: an answer counts for that, once, and not for ever.

use super::gates::Standing;
use super::row::PromiseRow;
use super::subject::refusal;
use crate::deciding::Refusal;
use crate::mark;
use countersign_contract::diagnostic::Code;
use serde_json::{Value, json};

/// The mark of how a promise stands, as somebody sees it now. It is given back with the answer.
pub fn mark(row: &PromiseRow, now_ms: i64) -> String {
    mark::mark(&about(row), now_ms)
}

/// Everything that an answer is about.
fn about(row: &PromiseRow) -> Value {
    let results: Vec<(String, &str)> = row.results().into_iter().map(|(id, it)| (id, it.as_str())).collect();
    let verdicts: Vec<(&String, u64)> = row.verdicts.iter().map(|(who, it)| (who, it.seq)).collect();
    json!({
        "bound": row.bound, "claim": row.claim, "judgement": row.judgement, "acceptance": row.acceptance, "promise": row.promise,
        "results": results, "round": row.round, "verdicts": verdicts,
    })
}

/// Refuses an answer to something else than what stands there now, or one that comes too late.
pub(crate) fn must_be_current(row: &PromiseRow, given: &str, now_ms: i64) -> Result<(), Refusal> {
    let help = "look at it again with `countersign gate status`, and answer what you see there";
    let stale = mark::stale(&about(row), given, now_ms);
    stale.map_or(Ok(()), |reason| Err(refusal(row, Code::IntegrityMismatch, reason, help)))
}

/// Refuses an answer that nobody asked for.
pub(crate) fn must_ask(row: &PromiseRow, asked: bool, what: &str) -> Result<Standing, Refusal> {
    let standing = row.standing();
    if asked {
        return Ok(standing);
    }
    let reason = format!("{} does not ask for {what}: {}", row.id, standing.says());
    Err(refusal(row, Code::InvalidTransition, reason, "`countersign gate status` shows how it stands"))
}
