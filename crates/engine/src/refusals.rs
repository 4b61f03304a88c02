//! Refusals are recorded, but nobody can fill the ledger with them: past a number in a minute they are counted, and the
//! count stands in the next one that is recorded.

use countersign_domain::deciding::{Happening, Refusal};
use countersign_domain::project::COMMAND_REFUSED;
use countersign_ledger::{Command, Result, Tally, Transaction};
use serde_json::json;

/// How many refusals of one actor are recorded in a minute.
const RECORDED_MAX: u64 = 20;
const MINUTE_MS: i64 = 60_000;

/// Records a refusal, or counts it.
pub(crate) fn record(transaction: &mut Transaction<'_>, asked: &Command, refusal: &Refusal) -> Result<()> {
    let name = format!("refused {}", asked.actor);
    let now = transaction.now();
    let tally = transaction.tally(&name)?.unwrap_or(Tally { since: now, count: 0 });
    // A clock that went back begins a new minute, too.
    let same_minute = (0..MINUTE_MS).contains(&now.0.saturating_sub(tally.since.0));
    // Evidence is never only counted.
    if same_minute && tally.count >= RECORDED_MAX && refusal.kept.is_empty() {
        return transaction.set_tally(&name, Tally { count: tally.count + 1, ..tally });
    }
    let unrecorded = if same_minute { 0 } else { tally.count.saturating_sub(RECORDED_MAX) };
    let next = if same_minute { Tally { count: tally.count + 1, ..tally } } else { Tally { since: now, count: 1 } };
    transaction.set_tally(&name, next)?;
    let mut facts = json!({ "code": refusal.code.as_str(), "command": asked.name, "unrecorded": unrecorded });
    if let Some(run) = &refusal.run {
        facts["run"] = json!(run);
    }
    let mut refused = Happening { run: refusal.run.clone(), ..Happening::new(COMMAND_REFUSED, facts) };
    refused.texts = vec![countersign_contract::Untrusted::new(refusal.reason.clone())];
    // A refusal does not bind the key: the same call may be allowed later.
    let unbound = Command { once: None, under: None, ..asked.clone() };
    let drafts = crate::road::drafts(transaction, refusal.kept.iter().cloned().chain([refused]))?;
    transaction.append(&unbound, drafts)?;
    Ok(())
}
