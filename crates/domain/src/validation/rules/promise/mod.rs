//! Rules for promises: whether one holds in itself, and what may have changed since an earlier copy.

mod promise_changed_unowned;
mod promise_criteria_alike;
mod promise_criteria_misnumbered;
mod promise_criterion_changed;
mod promise_evidence_placeholder;
mod promise_evidence_repeats;
mod promise_final_rewritten;
mod promise_met_by_stranger;
mod promise_met_undone;
mod promise_met_while_pending;
mod promise_met_without_evidence;
mod promise_met_without_record;
mod promise_of_another_id;
mod promise_origin_rewritten;
mod promise_owner_half_named;
mod promise_owner_jumped;
mod promise_pending_with_record;
mod promise_time_disordered;
mod promise_transition_illegal;
mod promise_unowned;
mod promise_verified_unmet;

use crate::validation::payload::{Promise, PromisedCriterion};
use countersign_contract::{Rule, Subject};

/// In the order in which they are checked.
pub static RULES: &[&Rule<Promise>] = &[
    &promise_criteria_misnumbered::PROMISE_CRITERIA_MISNUMBERED,
    &promise_criteria_alike::PROMISE_CRITERIA_ALIKE,
    &promise_met_without_evidence::PROMISE_MET_WITHOUT_EVIDENCE,
    &promise_met_without_record::PROMISE_MET_WITHOUT_RECORD,
    &promise_pending_with_record::PROMISE_PENDING_WITH_RECORD,
    &promise_verified_unmet::PROMISE_VERIFIED_UNMET,
    &promise_met_while_pending::PROMISE_MET_WHILE_PENDING,
    &promise_evidence_placeholder::PROMISE_EVIDENCE_PLACEHOLDER,
    &promise_evidence_repeats::PROMISE_EVIDENCE_REPEATS,
    &promise_time_disordered::PROMISE_TIME_DISORDERED,
    &promise_owner_half_named::PROMISE_OWNER_HALF_NAMED,
    &promise_unowned::PROMISE_UNOWNED,
    &promise_met_by_stranger::PROMISE_MET_BY_STRANGER,
    &promise_of_another_id::PROMISE_OF_ANOTHER_ID,
    &promise_transition_illegal::PROMISE_TRANSITION_ILLEGAL,
    &promise_final_rewritten::PROMISE_FINAL_REWRITTEN,
    &promise_criterion_changed::PROMISE_CRITERION_CHANGED,
    &promise_met_undone::PROMISE_MET_UNDONE,
    &promise_origin_rewritten::PROMISE_ORIGIN_REWRITTEN,
    &promise_owner_jumped::PROMISE_OWNER_JUMPED,
    &promise_changed_unowned::PROMISE_CHANGED_UNOWNED,
];

/// The earlier copy of a promise, if one was given and is of the same promise.
fn earlier<'a>(it: &Subject<'a, Promise>) -> Option<&'a Promise> {
    it.older.and_then(<[_]>::first).filter(|older| older.id == it.record.id)
}

/// Each criterion of the earlier copy, with what it is called by the same id in the newer one.
fn criteria_of_both<'a>(
    older: &'a Promise,
    newer: &'a Promise,
) -> impl Iterator<Item = (&'a PromisedCriterion, Option<(usize, &'a PromisedCriterion)>)> {
    older.acceptance_criteria.iter().enumerate().map(|(index, before)| {
        // The n-th criterion is AC-n in both, or the numbering is refused.
        let after = newer.acceptance_criteria.get(index).filter(|after| after.id == before.id);
        (before, after.map(|after| (index, after)))
    })
}
