//! Marks of what a person was shown: an answer counts for that, once, and not for ever.

use crate::deciding::Refusal;
use countersign_contract::diagnostic::Code;
use countersign_contract::{canonical, sha256_hex};
use serde_json::Value;

/// How long an answer may take after something was shown, in minutes.
const MINUTES_MAX: i64 = 24 * 60;

/// The mark of something as somebody sees it now. It is given back with the answer.
pub(crate) fn mark(about: &Value, now_ms: i64) -> String {
    format!("{}.{}", digest(about), now_ms.div_euclid(60_000))
}

fn digest(about: &Value) -> String {
    sha256_hex(canonical(about).as_bytes())[..16].to_owned()
}

/// Refuses an answer to something else than what stands there now, or one that comes too late. `look` shows it as it is now.
pub(crate) fn must_be_current(about: &Value, given: &str, now_ms: i64, look: &str) -> Result<(), Refusal> {
    let help = format!("look at it again with `{look}`, and answer what you see there");
    stale(about, given, now_ms).map_or(Ok(()), |reason| Err(Refusal::new(Code::IntegrityMismatch, reason, help)))
}

/// Why a mark does not count: it is of something else than what stands there now, or is too old.
fn stale(about: &Value, given: &str, now_ms: i64) -> Option<String> {
    let (shown, minute) = given.split_once('.').unwrap_or((given, ""));
    if shown != digest(about) {
        return Some("what was shown is not how it stands now".to_owned());
    }
    let age = minute.parse::<i64>().ok().and_then(|minute| now_ms.div_euclid(60_000).checked_sub(minute));
    // A clock that stands a little behind may have shown it.
    let fresh = age.is_some_and(|age| (-1..=MINUTES_MAX).contains(&age));
    (!fresh).then(|| format!("it was shown more than {} hours ago", MINUTES_MAX / 60))
}
