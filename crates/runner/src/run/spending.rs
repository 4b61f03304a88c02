//! What a run has spent, and whether it may spend more.

use super::Run;
use std::time::Duration;

/// What was spent so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    /// How long the run has been carried out this time.
    pub elapsed: Duration,
    /// How often a task was begun.
    pub attempts: u64,
    /// Tokens that agents say they used: those who worked, validated and judged.
    pub tokens: u64,
    /// Money, in US dollars, likewise.
    pub usd: f64,
}

/// What was spent so far.
pub(super) fn so_far(run: &Run<'_>) -> Result<Spent, String> {
    let shown = run.desk.look("run.show", &run.desk.of_run())?;
    Ok(Spent {
        elapsed: run.began.elapsed(),
        attempts: run.board().attempts(),
        tokens: shown["spent_tokens"].as_u64().unwrap_or(0),
        usd: shown["spent_usd"].as_f64().unwrap_or(0.0),
    })
}

/// The budget that is used up, if one is, so that agents have to stop. Attempts are not among them: what was begun goes
/// on to its end.
pub(super) fn over(run: &Run<'_>, spent: &Spent) -> Option<UsedUp> {
    let budgets = run.setup.plan.budgets.as_ref()?;
    if let Some(limit) = budgets.wall_time.as_ref().map(|span| span.seconds().unsigned_abs())
        && spent.elapsed.as_secs() >= limit
    {
        // It begins anew with whoever goes on.
        return Some(UsedUp { what: format!("the wall time of {limit} s is over"), more: None });
    }
    if let Some(limit) = budgets.tokens.as_ref().map(|limit| limit.get().unsigned_abs())
        && spent.tokens >= limit
    {
        let what = format!("{} tokens were used, and {limit} are allowed", spent.tokens);
        return Some(UsedUp { what, more: Some(format!("tokens={}", twice(limit.max(spent.tokens)))) });
    }
    let limit = budgets.money.filter(|limit| spent.usd >= *limit)?;
    let what = format!("{:.2} dollars were spent, and {limit:.2} are allowed", spent.usd);
    Some(UsedUp { what, more: Some(format!("money={:.2}", limit.max(spent.usd) * 2.0)) })
}

/// A budget that is used up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedUp {
    /// Which, and how much of it.
    pub what: String,
    /// What allows as much again, as it is typed. None, if nothing must be said for that.
    pub more: Option<String>,
}

/// That tasks may not be begun any more.
pub(super) fn no_attempts(begun: u64, limit: u64) -> UsedUp {
    let what = format!("tasks were begun {begun} times, and {limit} are allowed");
    UsedUp { what, more: Some(format!("attempts={}", twice(limit.max(begun)))) }
}

fn twice(count: u64) -> u64 {
    count.saturating_mul(2)
}
