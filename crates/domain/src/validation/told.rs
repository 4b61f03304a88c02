//! What those who look were told beside the evidence: which files that test were changed by the worker, and what does not fit
//! together in its claim. The built-in validator writes it into its response; people are shown the same as other validators.

use super::row::{BUILTIN, PromiseRow};
use crate::deciding::{Need, Seen};
use countersign_contract::Untrusted;
use serde_json::Value;

/// The field of a response that names edited tests.
pub const TEST_EDITS: &str = "x_test_edits";
/// The field of a response that has what does not fit together.
pub const FLAGS: &str = "x_flags";

/// The events whose texts have it: the response about what is claimed now, or those about the attempt before.
fn events(row: &PromiseRow) -> Vec<u64> {
    match row.verdicts.get(BUILTIN) {
        Some(verdict) => vec![verdict.seq],
        None => row.last.iter().filter(|_| row.verdicts.is_empty()).flat_map(|last| last.verdicts.clone()).collect(),
    }
}

/// What must be seen.
pub(crate) fn needs(row: &PromiseRow) -> impl Iterator<Item = Need> {
    events(row).into_iter().map(Need::Texts)
}

/// What was told under a name.
pub(crate) fn told(row: &PromiseRow, seen: &Seen, name: &str) -> Vec<Untrusted<String>> {
    let responses = events(row).into_iter().filter_map(|seq| seen.text(seq, 0));
    let responses = responses.filter_map(|text| text.inspect(|text| serde_json::from_str::<Value>(text).ok()));
    let responses = responses.filter(|response| response["validator_id"] == BUILTIN);
    let of = |response: Value| {
        let told = response[name].as_array().into_iter().flatten().filter_map(Value::as_str);
        told.map(|it| Untrusted::new(it.to_owned())).collect::<Vec<_>>()
    };
    responses.flat_map(of).collect()
}
