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
pub(super) fn over(run: &Run<'_>, spent: &Spent) -> Option<String> {
    let budgets = run.setup.plan.budgets.as_ref()?;
    if let Some(limit) = budgets.wall_time.as_ref().map(|span| span.seconds().unsigned_abs())
        && spent.elapsed.as_secs() >= limit
    {
        return Some(format!("the wall time of {limit} s is over"));
    }
    if let Some(limit) = budgets.tokens.as_ref().map(|limit| limit.get().unsigned_abs())
        && spent.tokens >= limit
    {
        return Some(format!("{} tokens were used, and {limit} are allowed", spent.tokens));
    }
    let limit = budgets.money.filter(|limit| spent.usd >= *limit)?;
    Some(format!("{:.2} dollars were spent, and {limit:.2} are allowed", spent.usd))
}
