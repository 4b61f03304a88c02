//! The gates of a claim, one after the other, until it is through or cannot go on.

use super::attempt::{Attempt, stopped};
use super::no::{No, Work};
use super::work::Claimed;
use super::{Note, Run, judging, landing, validating, vouched};
use serde_json::Value;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long a worker may be silent where the plan does not say so, in seconds.
const TIMEOUT: u64 = 20 * 60;
/// How often the gates are looked at. Each look settles one of them, and what goes stale is looked at again.
const LOOKS_MAX: usize = 8;

/// Takes a claim through its gates. The worker has done its part; its lease lasts while others look.
pub(super) fn pass(run: &Run<'_>, attempt: &Attempt<'_>, claimed: &Claimed) -> Result<(), No> {
    // What it is tested with is what was there before it.
    if let Some(base) = &claimed.base {
        vouched::must_be(run, attempt.task(), base, Work::Lost)?;
    }
    let over = Over::default();
    std::thread::scope(|scope| {
        scope.spawn(|| while_others_look(run, attempt, &over));
        let _end = End(&over);
        one_by_one(run, attempt, claimed)
    })
}

/// Rung when the gates have come to an end.
#[derive(Default)]
struct Over {
    is_over: Mutex<bool>,
    bell: Condvar,
}

/// Rings when it is dropped, however that comes about.
struct End<'o>(&'o Over);

impl Drop for End<'_> {
    fn drop(&mut self) {
        *self.0.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.bell.notify_all();
    }
}

/// Gives signs of life, often enough.
fn while_others_look(run: &Run<'_>, attempt: &Attempt<'_>, over: &Over) {
    let timeout = attempt.planned.timeout.as_ref().map_or(TIMEOUT, |span| span.seconds().unsigned_abs());
    let pause = Duration::from_secs((timeout / 4).max(1));
    let mut is_over = over.is_over.lock().unwrap_or_else(PoisonError::into_inner);
    while !*is_over {
        let (next, waited) = over.bell.wait_timeout(is_over, pause).unwrap_or_else(PoisonError::into_inner);
        is_over = next;
        if waited.timed_out() && !*is_over {
            drop(is_over);
            validating::keep_alive(run, attempt);
            is_over = over.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn one_by_one(run: &Run<'_>, attempt: &Attempt<'_>, claimed: &Claimed) -> Result<(), No> {
    for _ in 0..LOOKS_MAX {
        let gate = run.desk.look("gate.status", &run.desk.of_task(attempt.task()));
        let gate = gate.map_err(No::from)?;
        let after = match gate["gate"].as_u64() {
            Some(2) => validating::validate(run, attempt, claimed, &gate)?,
            Some(3) => judging::judge(run, attempt, claimed, &gate)?,
            None => return landing::land(run, attempt, claimed),
            _ => return Err(No::from("nothing is claimed".to_owned())),
        };
        if is_over(run, attempt, &after) {
            return Ok(());
        }
    }
    Err(No::from("its gates did not come to an end".to_owned()))
}

/// Whether what was said at a gate has ended the attempt.
pub(super) fn is_over(run: &Run<'_>, attempt: &Attempt<'_>, after: &Value) -> bool {
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
