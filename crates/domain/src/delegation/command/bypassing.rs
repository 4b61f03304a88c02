//! Nobody goes around a plan: what stands in one that is open is carried out there, as it is approved there.

use crate::deciding::{Desk, Key, Need, Range, Refusal, Seen};
use crate::delegation::row::planned_of;
use crate::delegation::state::plans;
use crate::delegation::trying::{first_id, is_try_of};
use crate::work::row::{run_key, run_of};
use countersign_contract::diagnostic::Code;

/// How many plans are looked at that have an instruction, or do the same.
const PLANS_MAX: usize = 100;

/// The run and the task in the name of an action.
fn of_task(key: &Key) -> Option<(&str, &str)> {
    key.id.split_once('/')
}

/// What must be seen of the plans that have an instruction, or that do the same.
pub(super) fn needs(seen: &Seen, id: &str, deeds: &[String]) -> Vec<Need> {
    let names = deeds.iter().cloned().chain([first_id(id)]);
    let ranges: Vec<Range> = names.map(|name| plans(&name, PLANS_MAX + 1)).collect();
    let hits = ranges.iter().flat_map(|range| seen.range_so_far(range).into_iter().flatten());
    let of_hit = |(_, key): &(_, Key)| {
        let run = of_task(key).map(|(run, _)| Need::Entity(run_key(run)));
        [Need::Entity(key.clone())].into_iter().chain(run).collect::<Vec<_>>()
    };
    let rows: Vec<Need> = hits.flat_map(of_hit).collect();
    rows.into_iter().chain(ranges.into_iter().map(Need::Range)).collect()
}

/// Refuses an instruction by itself that stands in an open plan, and one that does what a person is to approve there.
pub(super) fn must_not_bypass(desk: &Desk, id: &str, deeds: &[String]) -> Result<(), Refusal> {
    for name in [first_id(id)].iter().chain(deeds) {
        let range = plans(name, PLANS_MAX + 1);
        if desk.range(&range).count() > PLANS_MAX {
            let reason = format!("more than {PLANS_MAX} plans have {id}, or do what it does");
            return Err(Refusal::new(Code::AuthorizationMissing, reason, "let it be carried out in a plan"));
        }
        for (_, key) in desk.range(&range) {
            let (Some((run, task)), Some(row)) = (of_task(key), planned_of(desk.entity(key))) else { continue };
            let is_open = run_of(desk.entity(&run_key(run))).is_some_and(|run| run.is_open());
            let is_its = is_try_of(id, &row.instruction_id);
            let is_asked =
                row.asks && [&row.deed, &row.deed_here].into_iter().flatten().any(|deed| deeds.contains(deed));
            if is_open && (is_its || is_asked) {
                let what = if is_its { format!("{id} is") } else { format!("{id} does what is") };
                let reason = format!("{what} for {task} of run {run} to do, which is open, and is not done beside it");
                let help = "go on with that run: `countersign run --resume`; a person approves what needs that";
                return Err(Refusal::new(Code::AuthorizationMissing, reason, help).of_run(run));
            }
        }
    }
    Ok(())
}
