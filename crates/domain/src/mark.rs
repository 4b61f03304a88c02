//! Marks of what a person was shown: an answer counts for that, once, and not for ever.

use crate::deciding::Refusal;
use countersign_contract::diagnostic::Code;
use countersign_contract::{canonical, sha256_hex};
use serde_json::Value;

/// How long an answer may take after something was shown, in minutes.
const MINUTES_MAX: i64 = 24 * 60;

/// The mark of something as somebody sees it now. It is given back with the answer.
pub(crate) fn mark(about: &Value, now_ms: i64) -> String {
    let minute = now_ms.div_euclid(60_000).to_string();
    format!("{}.{minute}", digest(about, &minute))
}

/// Of both, so that an old mark is not renewed by writing another minute into it.
fn digest(about: &Value, minute: &str) -> String {
    sha256_hex(format!("{minute} {}", canonical(about)).as_bytes())[..16].to_owned()
}

/// Refuses an answer to something else than what stands there now, or one that comes too late. `look` shows it as it is now.
pub(crate) fn must_be_current(about: &Value, given: &str, now_ms: i64, look: &str) -> Result<(), Refusal> {
    let help = format!("look at it again with `{look}`, and answer what you see there");
    stale(about, given, now_ms).map_or(Ok(()), |reason| Err(Refusal::new(Code::IntegrityMismatch, reason, help)))
}

/// Why a mark does not count: it is of something else than what stands there now, or is too old.
fn stale(about: &Value, given: &str, now_ms: i64) -> Option<String> {
    let (shown, minute) = given.split_once('.').unwrap_or((given, ""));
    if shown != digest(about, minute) {
        return Some("what was shown is not how it stands now".to_owned());
    }
    let age = minute.parse::<i64>().ok().and_then(|minute| now_ms.div_euclid(60_000).checked_sub(minute));
    // A clock that stands a little behind may have shown it.
    let fresh = age.is_some_and(|age| (-1..=MINUTES_MAX).contains(&age));
    (!fresh).then(|| format!("it was shown more than {} hours ago", MINUTES_MAX / 60))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_mark_counts_for_what_was_shown_and_for_a_day() {
        const MINUTE: i64 = 60_000;
        let (about, now) = (json!({ "task": "T-1" }), 30_000_000 * MINUTE);
        let given = mark(&about, now);
        let digest = given.split_once('.').map(|(digest, _)| digest).unwrap_or_default();
        for (what, about, given, at, counts) in [
            ("at once", &about, given.clone(), now, true),
            ("within a day", &about, given.clone(), now + MINUTES_MAX * MINUTE, true),
            ("after a day", &about, given.clone(), now + (MINUTES_MAX + 1) * MINUTE, false),
            ("by a clock that is behind", &about, given.clone(), now - MINUTE, true),
            ("before it was shown", &about, given.clone(), now - 2 * MINUTE, false),
            ("of something else", &json!({ "task": "T-2" }), given.clone(), now, false),
            ("with another minute", &about, format!("{digest}.30000001"), now + MINUTE, false),
            ("without one", &about, digest.to_owned(), now, false),
            ("garbage", &about, "x.y".to_owned(), now, false),
        ] {
            assert_eq!(stale(about, &given, at).is_none(), counts, "{what}");
        }
    }
}
