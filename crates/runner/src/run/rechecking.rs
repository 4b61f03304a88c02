//! What was checked on the claimed commit is checked once more on what would land, where others have landed since: two
//! changes that do not touch the same files can still break each other.

use super::answering::shown;
use super::attempt::Attempt;
use super::checking::{Look, look};
use super::checkouts::Checkouts;
use super::desk::No;
use super::validating::not_stopped;
use super::work::Claimed;
use super::{Note, Run, gates, vouched};
use crate::landing::{self, Claim, Landing, Prepared};
use countersign_domain::plan::machine_checks;
use serde_json::{Value, json};

/// What may land.
pub(super) enum Rechecked {
    /// Whatever the claim becomes on top of the others: the plan does not ask for more.
    Anything,
    /// This commit and no other: everything was seen to hold on it.
    Holds(Prepared),
    /// Nothing, and that is what the landing came to.
    Settled(Landing),
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
        return Ok(Rechecked::Anything);
    }
    let prepared = match landing::prepare(claim) {
        Ok(prepared) if prepared.commit == claimed.bound => return Ok(Rechecked::Holds(prepared)),
        Ok(prepared) => prepared,
        Err(landing) => return Ok(Rechecked::Settled(landing)),
    };
    // The tests of the claim would follow to whatever somebody else has made of them.
    if let Some(why) = vouched::strange(run, attempt, &prepared.head).map_err(No::from)? {
        return Ok(Rechecked::Settled(Landing::Failed(why)));
    }
    let head = prepared.head.get(..10).unwrap_or(&prepared.head);
    let text = format!("others have landed since; it is checked once more on top of {head}");
    run.note(&Note::Flag { task: attempt.task(), text: &text });
    let (bound, base) = (prepared.commit.clone(), Some(prepared.head.clone()));
    let merged = Claimed { bound, base, ..claimed.clone() };
    let (_, found) = look(run, attempt, &merged, Look::Again, &mut Checkouts::new(run, attempt, &merged))?;
    not_stopped(run)?;
    let mut request = run.desk.of_task(attempt.task());
    request["lease"] = json!(attempt.lease);
    request["bound"] = json!(claimed.bound);
    request["merged"] = json!(merged.bound);
    request["evidence"] = found.iter().map(shown).collect::<Vec<Value>>().into();
    let after = run.desk.ask("gate.recheck", &request)?;
    Ok(if gates::is_over(run, attempt, &after) { Rechecked::Broken } else { Rechecked::Holds(prepared) })
}
