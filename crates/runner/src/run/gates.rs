//! The gates of a claim, one after the other, until it is through or cannot go on.

use super::attempt::{Attempt, stopped};
use super::desk::No;
use super::work::Claimed;
use super::{Note, Run, judging, landing, validating};
use serde_json::Value;

/// How often the gates are looked at. Each look settles one of them, and what goes stale is looked at again.
const LOOKS_MAX: usize = 8;

/// Takes a claim through its gates.
pub(super) fn pass(run: &Run<'_>, attempt: &Attempt<'_>, claimed: &Claimed) -> Result<(), No> {
    for _ in 0..LOOKS_MAX {
        let gate = run.desk.look("gate.status", &run.desk.of_task(attempt.task()));
        let gate = gate.map_err(|reason| No { code: None, reason })?;
        let after = match gate["gate"].as_u64() {
            Some(2) => validating::validate(run, attempt, claimed, &gate)?,
            Some(3) => judging::judge(run, attempt, claimed, &gate)?,
            None => return landing::land(run, attempt, claimed),
            _ => return Err(No { code: None, reason: "nothing is claimed".to_owned() }),
        };
        if is_over(run, attempt, &after) {
            return Ok(());
        }
    }
    Err(No { code: None, reason: "its gates did not come to an end".to_owned() })
}

/// Whether what was said at a gate has ended the attempt.
fn is_over(run: &Run<'_>, attempt: &Attempt<'_>, after: &Value) -> bool {
    let reason = after["reason"].as_str().unwrap_or_default();
    match after["status"].as_str() {
        Some("todo") => {
            let gate = run.desk.look("gate.status", &run.desk.of_task(attempt.task())).unwrap_or_default();
            let why = gate["last"].as_str().unwrap_or(reason);
            run.note(&Note::Again { task: attempt.task(), reason: why });
            true
        }
        Some("blocked") => {
            stopped(run, attempt.task(), reason);
            true
        }
        _ => false,
    }
}
