//! Rules for universal handoffs.
//!
//! Three of them speak of length. One walk over the document measures it for all three: `handoff_token_limit_exceeded`
//! takes the walk and asks the other two. In the same way `payload_hash_mismatch` has the hash in hand that
//! `payload_hash_not_canonical` judges.

mod artifact_checksum_contradicted;
mod handoff_chain_ends_elsewhere;
mod handoff_chain_stutters;
mod handoff_chain_too_long;
mod handoff_chain_unapproved;
mod handoff_expired;
mod handoff_expires_before_it_begins;
mod handoff_file_missing;
mod handoff_file_temporary;
mod handoff_path_unusable;
mod handoff_reentry_unexplained;
mod handoff_reference_duplicate;
mod handoff_tier_over_budget;
mod handoff_time_in_future;
mod handoff_to_itself;
mod handoff_token_count_wrong;
mod handoff_token_limit_exceeded;
mod handoff_url_executable;
mod payload_hash_mismatch;
mod payload_hash_not_canonical;
mod payload_size_mismatch;
mod trace_events_unordered;
mod trace_id_not_v4;

pub(in crate::handoff) use handoff_chain_too_long::HANDOFF_CHAIN_TOO_LONG;

use crate::handoff::payload::UniversalHandoff;
use countersign_contract::{Report, Rule, Subject};

/// In the order in which they are checked.
pub static RULES: &[&Rule<UniversalHandoff>] = &[
    &trace_id_not_v4::TRACE_ID_NOT_V4,
    &handoff_expires_before_it_begins::HANDOFF_EXPIRES_BEFORE_IT_BEGINS,
    &handoff_expired::HANDOFF_EXPIRED,
    &handoff_time_in_future::HANDOFF_TIME_IN_FUTURE,
    &trace_events_unordered::TRACE_EVENTS_UNORDERED,
    &handoff_to_itself::HANDOFF_TO_ITSELF,
    &handoff_reentry_unexplained::HANDOFF_REENTRY_UNEXPLAINED,
    &handoff_chain_ends_elsewhere::HANDOFF_CHAIN_ENDS_ELSEWHERE,
    &handoff_chain_stutters::HANDOFF_CHAIN_STUTTERS,
    &handoff_chain_unapproved::HANDOFF_CHAIN_UNAPPROVED,
    &handoff_chain_too_long::HANDOFF_CHAIN_TOO_LONG,
    &handoff_path_unusable::HANDOFF_PATH_UNUSABLE,
    &handoff_file_missing::HANDOFF_FILE_MISSING,
    &handoff_file_temporary::HANDOFF_FILE_TEMPORARY,
    &handoff_reference_duplicate::HANDOFF_REFERENCE_DUPLICATE,
    &handoff_url_executable::HANDOFF_URL_EXECUTABLE,
    &artifact_checksum_contradicted::ARTIFACT_CHECKSUM_CONTRADICTED,
    &payload_hash_mismatch::PAYLOAD_HASH_MISMATCH,
    &payload_hash_not_canonical::PAYLOAD_HASH_NOT_CANONICAL,
    &payload_size_mismatch::PAYLOAD_SIZE_MISMATCH,
    &handoff_token_limit_exceeded::HANDOFF_TOKEN_LIMIT_EXCEEDED,
    &handoff_tier_over_budget::HANDOFF_TIER_OVER_BUDGET,
    &handoff_token_count_wrong::HANDOFF_TOKEN_COUNT_WRONG,
];

/// The check of a rule that another one raises, because it has already done the work.
fn raised_by_another(_: &Subject<'_, UniversalHandoff>, _: &mut Report) {}
