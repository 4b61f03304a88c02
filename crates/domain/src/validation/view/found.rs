//! What was found that keeps work from being done, for whoever decides how it goes on: about what is claimed now, or, where that
//! counts no more, about the attempt before.

use crate::deciding::{Need, Seen};
use crate::validation::row::PromiseRow;
use crate::validation::verdict::CriterionStatus;
use countersign_contract::{Form, SIZE_MAX, Untrusted, parse, shape};
use serde_json::Value;

/// How much of each is shown; all of it stands in the event.
const SAYS_MAX: usize = 1000;

shape! {
    /// A criterion that somebody did not find to hold.
    pub struct FoundShown {
        /// `AC-n`.
        pub criterion: String,
        /// `FAIL` or `BLOCKED`.
        pub status: String,
        /// Who says so.
        pub by: String,
        /// What they saw.
        pub says: Untrusted<String>,
    }
}

/// The events that say what was found, each with who is named there; none for the attempt before, whose responses say it.
fn events(row: &PromiseRow) -> Vec<(Option<&str>, u64)> {
    let now: Vec<_> = row.verdicts.iter().map(|(by, verdict)| (Some(by.as_str()), verdict.seq)).collect();
    let before = row.last.iter().filter(|_| row.claim.is_none()).flat_map(|last| &last.verdicts);
    if now.is_empty() { before.map(|seq| (None, *seq)).collect() } else { now }
}

/// The event in which the judge did not let it pass.
fn judgement(row: &PromiseRow) -> Option<u64> {
    let now = row.judgement.as_ref().filter(|it| !matches!(it.verdict.as_str(), "PASS" | "WARN")).map(|it| it.seq);
    now.or_else(|| row.last.as_ref().filter(|_| row.claim.is_none())?.judgement)
}

/// What must be seen.
pub(super) fn needs(row: &PromiseRow) -> impl Iterator<Item = Need> {
    events(row).into_iter().map(|(_, seq)| seq).chain(judgement(row)).map(Need::Texts).collect::<Vec<_>>().into_iter()
}

/// What was found that does not hold, or could not be looked at.
pub(super) fn found(row: &PromiseRow, seen: &Seen) -> Vec<FoundShown> {
    let of = |(by, seq): (Option<&str>, u64)| {
        let text = seen.text(seq, 0).map(|text| text.inspect(read)).unwrap_or_default();
        let by = by.or(text["validator_id"].as_str()).unwrap_or_default().to_owned();
        let results = ["criteria_results", "results"].into_iter().find_map(|name| text[name].as_array());
        results.into_iter().flatten().filter_map(|result| one(result, &by)).collect::<Vec<_>>()
    };
    events(row).into_iter().flat_map(of).collect()
}

/// Why the judge did not let it pass.
pub(super) fn reasoning(row: &PromiseRow, seen: &Seen) -> Option<Untrusted<String>> {
    seen.text(judgement(row)?, 0).map(|text| text.inspect(cut))
}

/// A response was checked when it was given; one that was erased says nothing.
fn read(text: &str) -> Value {
    parse(text, Form::of_text(text), SIZE_MAX).map(|document| document.root().to_value()).unwrap_or_default()
}

fn one(result: &Value, by: &str) -> Option<FoundShown> {
    let status = result["status"].as_str().and_then(CriterionStatus::parse)?;
    let is_wrong = matches!(status, CriterionStatus::Fail | CriterionStatus::Blocked);
    let criterion = ["criterion_id", "criterion"].into_iter().find_map(|name| result[name].as_str())?;
    let says = cut(result["evidence"].as_str().unwrap_or_default());
    is_wrong.then(|| FoundShown {
        criterion: criterion.to_owned(),
        status: status.as_str().to_owned(),
        by: by.to_owned(),
        says,
    })
}

fn cut(text: &str) -> Untrusted<String> {
    Untrusted::new(text.chars().take(SAYS_MAX).collect())
}
