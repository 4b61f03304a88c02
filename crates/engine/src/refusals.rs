//! Refusals are recorded, but nobody can fill the ledger with them: past a number in a minute they are counted, each under its
//! code, and the counts stand in the next one that is recorded.

use crate::meant::Meant;
use countersign_contract::Untrusted;
use countersign_contract::diagnostic::{Code, Severity};
use countersign_domain::deciding::{Happening, Refusal};
use countersign_domain::project::COMMAND_REFUSED;
use countersign_domain::work::row::{SUBMIT, is_unfit};
use countersign_ledger::{Command, Result, Tally, Transaction};
use serde_json::{Map, Value, json};

/// How many refusals of one actor are recorded in a minute, of each run and of what is of none.
const RECORDED_MAX: u64 = 20;
const MINUTE_MS: i64 = 60_000;
/// How many findings of a refused result are recorded.
const FINDINGS_MAX: usize = 5;
/// How many letters each of them may have.
const FINDING_LETTERS_MAX: usize = 400;

/// Records a refusal, or counts it.
pub(crate) fn record(
    transaction: &mut Transaction<'_>,
    asked: &Command,
    refusal: &Refusal,
    meant: &Meant,
) -> Result<()> {
    let run = meant.run(refusal.run.as_deref(), transaction)?;
    let counts = Counts { name: format!("refused {} {}", run.as_deref().unwrap_or("-"), asked.actor) };
    let now = transaction.now();
    let tally = transaction.tally(&counts.name)?.unwrap_or(Tally { since: now, count: 0 });
    // A clock that went back begins a new minute, too.
    let same_minute = (0..MINUTE_MS).contains(&now.0.saturating_sub(tally.since.0));
    let is_unfit_result = asked.name == SUBMIT && is_unfit(refusal.code.as_str());
    // Evidence is never only counted.
    if same_minute && tally.count >= RECORDED_MAX && refusal.kept.is_empty() {
        counts.add(transaction, refusal.code.as_str())?;
        if is_unfit_result {
            counts.add(transaction, RESULTS)?;
        }
        return transaction.set_tally(&counts.name, Tally { count: tally.count + 1, ..tally });
    }
    let mut facts = json!({ "code": refusal.code.as_str(), "command": asked.name });
    let left_out = if same_minute { Map::new() } else { counts.take(transaction, tally.count)? };
    facts["unrecorded"] = json!(left_out.values().filter_map(Value::as_u64).sum::<u64>());
    if !left_out.is_empty() {
        facts["unrecorded_by"] = Value::Object(left_out);
        facts["unrecorded_results"] = json!(counts.take_one(transaction, RESULTS)?);
    }
    let next = if same_minute { Tally { count: tally.count + 1, ..tally } } else { Tally { since: now, count: 1 } };
    transaction.set_tally(&counts.name, next)?;
    let mut texts = vec![Untrusted::new(refusal.reason.clone())];
    if let Some(run) = &run {
        facts["run"] = json!(run);
        if let (true, Some(task)) = (asked.name == SUBMIT, meant.task(run, &asked.actor, transaction)?) {
            facts["task"] = json!(task);
            texts.extend(findings(refusal));
        }
    }
    let mut refused = Happening { run, ..Happening::new(COMMAND_REFUSED, facts) };
    refused.texts = texts;
    // A refusal does not bind the key: the same call may be allowed later.
    let unbound = Command { once: None, under: None, ..asked.clone() };
    let drafts = crate::road::drafts(transaction, refusal.kept.iter().cloned().chain([refused]))?;
    transaction.append(&unbound, drafts)?;
    Ok(())
}

/// What was wrong with a result, the first of it: what, where, and what to do.
fn findings(refusal: &Refusal) -> Vec<Untrusted<String>> {
    let errors = refusal.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let said = errors.take(FINDINGS_MAX).map(|finding| {
        let pointer = finding.pointer.to_string();
        let place = if pointer.is_empty() { String::new() } else { format!(" at {pointer}") };
        let said = format!("{}{place}: {}", finding.message, finding.help);
        said.chars().take(FINDING_LETTERS_MAX).collect::<String>()
    });
    said.map(Untrusted::new).collect()
}

/// What results are counted under that are refused for what they are.
const RESULTS: &str = "results";

/// What was counted and not recorded, by code. Like every tally it may be lost without harm.
struct Counts {
    name: String,
}

impl Counts {
    fn of(&self, what: &str) -> String {
        format!("{} {what}", self.name)
    }

    fn add(&self, transaction: &mut Transaction<'_>, what: &str) -> Result<()> {
        let now = transaction.now();
        let tally = transaction.tally(&self.of(what))?.unwrap_or(Tally { since: now, count: 0 });
        transaction.set_tally(&self.of(what), Tally { since: now, count: tally.count + 1 })
    }

    /// How many were counted of something; from here on none.
    fn take_one(&self, transaction: &mut Transaction<'_>, what: &str) -> Result<u64> {
        match transaction.tally(&self.of(what))? {
            Some(tally) if tally.count > 0 => {
                transaction.set_tally(&self.of(what), Tally { count: 0, ..tally })?;
                Ok(tally.count)
            }
            _ => Ok(0),
        }
    }

    /// The same of every code, if there were more refusals than are recorded.
    fn take(&self, transaction: &mut Transaction<'_>, refused: u64) -> Result<Map<String, Value>> {
        let mut all = Map::new();
        if refused > RECORDED_MAX {
            for code in Code::ALL {
                let count = self.take_one(transaction, code.as_str())?;
                if count > 0 {
                    all.insert(code.as_str().to_owned(), json!(count));
                }
            }
        }
        Ok(all)
    }
}
