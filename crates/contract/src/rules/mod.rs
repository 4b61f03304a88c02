//! The rules that hold for every contract: how a document is written, what shape its values have, and what its texts must
//! not hold. The reader applies the first kind itself; `texts.rs` looks through the texts.

mod choice_unknown;
mod companion_contested;
mod companion_unmatched;
mod companion_unreadable;
mod companion_unused;
mod contract_ambiguous;
mod contract_undetected;
mod control_in_text;
mod control_in_untrusted_text;
mod field_empty;
mod field_missing;
mod field_not_allowed;
mod field_unknown;
mod findings_cut;
mod form_unfit;
mod format_invalid;
mod key_duplicate;
mod kind_mismatch;
mod length_exceeded;
mod limit_exceeded;
mod null_for_absent;
mod range_exceeded;
mod schema_violated;
mod secret_in_text;
mod syntax_invalid;
mod texts;
mod version_newer;
mod version_unknown;
mod yaml_feature_refused;

pub use choice_unknown::CHOICE_UNKNOWN;
pub use companion_contested::COMPANION_CONTESTED;
pub use companion_unmatched::COMPANION_UNMATCHED;
pub use companion_unreadable::COMPANION_UNREADABLE;
pub use companion_unused::COMPANION_UNUSED;
pub use contract_ambiguous::CONTRACT_AMBIGUOUS;
pub use contract_undetected::CONTRACT_UNDETECTED;
pub use control_in_text::CONTROL_IN_TEXT;
pub use control_in_untrusted_text::CONTROL_IN_UNTRUSTED_TEXT;
pub use field_empty::FIELD_EMPTY;
pub use field_missing::FIELD_MISSING;
pub use field_not_allowed::FIELD_NOT_ALLOWED;
pub use field_unknown::FIELD_UNKNOWN;
pub use findings_cut::FINDINGS_CUT;
pub use form_unfit::FORM_UNFIT;
pub use format_invalid::FORMAT_INVALID;
pub use key_duplicate::KEY_DUPLICATE;
pub use kind_mismatch::KIND_MISMATCH;
pub use length_exceeded::LENGTH_EXCEEDED;
pub use limit_exceeded::LIMIT_EXCEEDED;
pub use null_for_absent::NULL_FOR_ABSENT;
pub use range_exceeded::RANGE_EXCEEDED;
pub use schema_violated::SCHEMA_VIOLATED;
pub use secret_in_text::SECRET_IN_TEXT;
pub use syntax_invalid::SYNTAX_INVALID;
pub(crate) use texts::check_texts;
pub use version_newer::VERSION_NEWER;
pub use version_unknown::VERSION_UNKNOWN;
pub use yaml_feature_refused::YAML_FEATURE_REFUSED;

use crate::rule::RuleInfo;

/// Every rule that holds for any contract, in the order in which a document meets them.
pub static RULES: &[&RuleInfo] = &[
    &SYNTAX_INVALID,
    &KEY_DUPLICATE,
    &LIMIT_EXCEEDED,
    &YAML_FEATURE_REFUSED,
    &CONTRACT_UNDETECTED,
    &CONTRACT_AMBIGUOUS,
    &FORM_UNFIT,
    &COMPANION_UNREADABLE,
    &COMPANION_UNMATCHED,
    &COMPANION_CONTESTED,
    &COMPANION_UNUSED,
    &FIELD_MISSING,
    &FIELD_EMPTY,
    &FIELD_UNKNOWN,
    &FIELD_NOT_ALLOWED,
    &NULL_FOR_ABSENT,
    &KIND_MISMATCH,
    &CHOICE_UNKNOWN,
    &FORMAT_INVALID,
    &LENGTH_EXCEEDED,
    &RANGE_EXCEEDED,
    &VERSION_UNKNOWN,
    &VERSION_NEWER,
    &FINDINGS_CUT,
    &SCHEMA_VIOLATED,
    &SECRET_IN_TEXT,
    &CONTROL_IN_UNTRUSTED_TEXT,
    &CONTROL_IN_TEXT,
];
