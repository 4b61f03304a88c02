//! What a person was shown before they answered: an answer counts for that, once, and not for ever.

use super::gates::Standing;
use super::row::PromiseRow;
use super::subject::refusal;
use crate::deciding::Refusal;
use countersign_contract::diagnostic::Code;
use countersign_contract::sha256_hex;
use serde_json::json;

/// How long an answer may take after something was shown, in minutes.
const MINUTES_MAX: i64 = 24 * 60;

/// The mark of how a promise stands, as somebody sees it now. It is given back with the answer.
pub fn mark(row: &PromiseRow, now_ms: i64) -> String {
    format!("{}.{}", digest(row), now_ms.div_euclid(60_000))
}

/// Everything that an answer is about.
fn digest(row: &PromiseRow) -> String {
    let results: Vec<(String, &str)> = row.results().into_iter().map(|(id, it)| (id, it.as_str())).collect();
    let verdicts: Vec<(&String, u64)> = row.verdicts.iter().map(|(who, it)| (who, it.seq)).collect();
    let about = json!({
        "bound": row.bound, "claim": row.claim, "judgement": row.judgement, "acceptance": row.acceptance, "promise": row.promise,
        "results": results, "round": row.round, "verdicts": verdicts,
    });
    sha256_hex(countersign_contract::canonical(&about).as_bytes())[..16].to_owned()
}

/// Refuses an answer to something else than what stands there now, or one that comes too late.
pub(crate) fn must_be_current(row: &PromiseRow, given: &str, now_ms: i64) -> Result<(), Refusal> {
    let help = "look at it again with `countersign gate status`, and answer what you see there";
    let (shown, minute) = given.split_once('.').unwrap_or((given, ""));
    if shown != digest(row) {
        let reason = "what was shown is not how it stands now".to_owned();
        return Err(refusal(row, Code::IntegrityMismatch, reason, help));
    }
    let age = minute.parse::<i64>().ok().and_then(|minute| now_ms.div_euclid(60_000).checked_sub(minute));
    // A clock that stands a little behind may have shown it.
    if !age.is_some_and(|age| (-1..=MINUTES_MAX).contains(&age)) {
        let reason = format!("it was shown more than {} hours ago", MINUTES_MAX / 60);
        return Err(refusal(row, Code::IntegrityMismatch, reason, help));
    }
    Ok(())
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
