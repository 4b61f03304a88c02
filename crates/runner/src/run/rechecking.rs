//! What was checked on the claimed commit is checked once more on what would land, where others have landed since: two
//! changes that do not touch the same files can still break each other.

use super::answering::shown;
use super::attempt::Attempt;
use super::checking::look;
use super::checkouts::Checkouts;
use super::desk::No;
use super::validating::not_stopped;
use super::work::Claimed;
use super::{Note, Run, gates};
use crate::landing::{self, Claim, Prepared};
use countersign_domain::plan::machine_checks;
use serde_json::{Value, json};

/// What may land.
pub(super) enum Rechecked {
    /// The claimed commit, as it was checked; or the plan does not ask for more.
    AsClaimed,
    /// This one, on which everything holds.
    Holds(Prepared),
    /// Nothing: something does not hold on top of the others, and the attempt is over.
    Broken,
}

/// Has the checks look at what would land, if that is not what they have seen.
pub(super) fn recheck(
    run: &Run<'_>,
    attempt: &Attempt<'_>,
    claimed: &Claimed,
    claim: &Claim<'_>,
) -> Result<Rechecked, No> {
    let is_asked = run.setup.plan.gates.as_ref().and_then(|gates| gates.recheck) != Some(false);
    let has_checks = attempt.planned.acceptance.iter().any(|criterion| machine_checks(criterion).next().is_some());
    if !is_asked || !has_checks {
        return Ok(Rechecked::AsClaimed);
    }
    let Some(prepared) = landing::prepare(claim).map_err(No::from)? else { return Ok(Rechecked::AsClaimed) };
    let head = prepared.head.get(..10).unwrap_or(&prepared.head);
    let text = format!("others have landed since; it is checked once more on top of {head}");
    run.note(&Note::Flag { task: attempt.task(), text: &text });
    let (bound, base) = (prepared.commit.clone(), Some(prepared.head.clone()));
    let merged = Claimed { bound, base, ..claimed.clone() };
    let (_, found) = look(run, attempt, &merged, &mut Checkouts::new(run, attempt, &merged))?;
    not_stopped(run)?;
    let mut request = run.desk.of_task(attempt.task());
    request["lease"] = json!(attempt.lease);
    request["bound"] = json!(claimed.bound);
    request["merged"] = json!(merged.bound);
    request["evidence"] = found.iter().map(shown).collect::<Vec<Value>>().into();
    let after = run.desk.ask("gate.recheck", &request)?;
    Ok(if gates::is_over(run, attempt, &after) { Rechecked::Broken } else { Rechecked::Holds(prepared) })
}
