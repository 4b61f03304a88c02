//! What must not be inside a text: secrets, and words meant to steer whoever reads it.
//!
//! ```text
//! document ─suspicions─▶ nothing (nearly always: the way ends here)
//!                  └───▶ secret or control ─▶ each string: secrets, redact, control
//! ```
//!
//! Every matcher hangs on an *anchor*, a rare fragment that its matches must contain (`anchor.rs`). One sweep
//! finds the anchors of a whole document, each is looked at where it stands, and only a document in which
//! something stood the look has its strings searched one by one.
//!
//! **Invariant:** a matcher is reached through its anchor alone, in the sweep over a document and in the
//! search of a string. What the sweep cannot see, the search cannot find, so the sweep is never wrongly
//! silent.
//! **Invariant:** everything is linear in its input: an anchor that fails has cost a bounded look, or a
//! stretch that no other anchor of its kind looks at again.
//! **Invariant:** texts are read as they are and as a JSON document spells them with two-character escapes
//! (`\n`, `\"`, `\/`). Whoever holds a document with `\u` escapes hands over the decoded strings.

mod anchor;
mod assignment;
mod bytes;
mod control;
mod dismissals;
mod field;
mod fold;
mod lookalike;
mod mask;
mod orders;
mod phrase;
mod phrases;
mod quotation;
mod secret;
mod table;
#[cfg(test)]
mod tests;
mod value;
mod words;

use std::ops::ControlFlow;

pub use assignment::secret_member;
pub use control::{Control, control};
pub use fold::{plain_name, same_name};
pub use mask::mask;
pub(crate) use secret::PRIVATE_KEY;
pub use secret::{Secret, redact, secrets};

use anchor::{Lead, sweep};
use field::Own;

/// What a document may hold. `false` is certain, `true` is a reason to look at each string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Suspicions {
    pub secret: bool,
    pub control: bool,
}

/// What the strings and keys of a JSON document may hold, in one pass.
///
/// The document's own keys are not held against it: `"lock_scope":` is a field, `\"lock_scope\":` is a text
/// that carries one. Nothing but the backslash tells them apart, hence this is for JSON alone; of a YAML document
/// the scalars are asked about one by one, with [`may_hold_secret`] and [`may_hold_control`] or at once with
/// [`secrets`] and [`control`], which are as fast.
pub fn suspicions(json: &[u8]) -> Suspicions {
    look(json, Own::Document, Suspicions::default())
}

/// Whether [`secrets`] may find something in `bytes`, or in a string of the document that `bytes` are, or
/// whether a key there may name a secret and its value be one. May be wrong when it says yes, never when it
/// says no.
pub fn may_hold_secret(bytes: &[u8]) -> bool {
    look(bytes, Own::Either, Suspicions { control: true, secret: false }).secret
}

/// Whether [`control`] may find something in `bytes`, or in a string of the document that `bytes` are. May be
/// wrong when it says yes, never when it says no.
pub fn may_hold_control(bytes: &[u8]) -> bool {
    look(bytes, Own::Either, Suspicions { secret: true, control: false }).control
}

/// Sweeps until there is nothing left to learn beyond what is `known`.
fn look(bytes: &[u8], own: Own, known: Suspicions) -> Suspicions {
    let mut found = known;
    let swept = sweep(bytes, |at, lead| {
        match lead {
            Lead::Secret(lead) => found.secret = found.secret || secret::stands(bytes, at, lead),
            Lead::Control(lead) => found.control = found.control || control::stands(bytes, at, lead, own),
        }
        if found.secret && found.control { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found.control = found.control || swept.carriers;
    found
}
