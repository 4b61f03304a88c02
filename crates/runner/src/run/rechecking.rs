//! What was checked on the claimed commit is checked once more on what would land, where others have landed since: two
//! changes that do not touch the same files can still break each other.

use super::answering::shown;
use super::attempt::Attempt;
use super::checking::{Look, look};
use super::checkouts::Checkouts;
use super::no::{No, Work};
use super::validating::not_stopped;
use super::work::Claimed;
use super::{Note, Run, gates, vouched};
use crate::landing::{self, Claim, Landing, Prepared};
use countersign_domain::plan::machine_checks;
use serde_json::{Value, json};

/// What may land.
pub(super) enum Rechecked {
    /// This commit and no other: everything was seen to hold on it that the plan asks for.
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
    let prepared = match landing::prepare(claim) {
        Ok(prepared) => prepared,
        Err(landing) => {
            // What is there already, or in the way, counts only where somebody answers for how it came there.
            let head = run.ground.head()?.unwrap_or_default();
            vouched::must_be(run, attempt.task(), &head, Work::Kept)?;
            return Ok(Rechecked::Settled(landing));
        }
    };
    vouched::must_be(run, attempt.task(), &prepared.head, Work::Kept)?;
    let is_asked = run.setup.plan.gates.as_ref().and_then(|gates| gates.recheck) != Some(false);
    let has_checks = attempt.planned.acceptance.iter().any(|criterion| machine_checks(criterion).next().is_some());
    if !is_asked || !has_checks || prepared.commit == claimed.bound {
        return Ok(Rechecked::Holds(prepared));
    }
    let head = prepared.head.get(..10).unwrap_or(&prepared.head);
    let text = format!("others have landed since; it is checked once more on top of {head}");
    run.note(&Note::Flag { task: attempt.task(), text: &text });
    let (bound, base) = (prepared.commit.clone(), Some(prepared.head.clone()));
    let merged = Claimed { bound, base, ..claimed.clone() };
    let (_, found) = look(run, attempt, &merged, Look::Again, &mut Checkouts::new(run, attempt, &merged))?;
    not_stopped(attempt)?;
    let mut request = run.desk.of_task(attempt.task());
    request["lease"] = json!(attempt.lease);
    request["bound"] = json!(claimed.bound);
    request["merged"] = json!(merged.bound);
    request["evidence"] = found.iter().map(shown).collect::<Vec<Value>>().into();
    let after = run.desk.ask("gate.recheck", &request)?;
    Ok(if gates::is_over(run, attempt, &after) { Rechecked::Broken } else { Rechecked::Holds(prepared) })
}
