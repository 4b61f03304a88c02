//! Handoff: work that goes from one workflow to another, small enough to be read and whole enough to go on from.
//!
//! ```text
//!            check                       fix, at most three attempts
//! written ──────────▶ allowed ──▶ the target takes over
//!    │                   ▲
//!    │ refused           │ within budget
//!    ▼                   │
//! repairs ──▶ compression ──▶ simplified payload ──▶ a person decides
//!             (what is taken out is kept in a file that the handoff refers to)
//! ```
//!
//! Between allowed and taken over stands the ledger:
//!
//! ```text
//! (none) ──handoff.send──▶ sent ──handoff.receive──▶ received ──handoff.send──▶ the next one of the trace
//!                            └── expired, changed on the way, or for somebody else: refused, and recorded
//! ```
//!
//! `payload/` has the contract, `rules/` what is refused. `measure` and `budget` know how long a handoff is and how
//! long its parts should be, `upkeep` renews what it says about itself, `ladder/` shortens it, `location` says where
//! files lie, `targets/` ranks who could take over. `route` knows where a trace has been, `noting` writes down in a document
//! what happened to it.
//!
//! **Invariant:** nothing is taken out of a handoff that is not kept, and a handoff from which something was taken
//! refers to where it is. The reference is the record of what was done: no event is added to the trace, because none
//! of its words means this, and it would speak in the name of a workflow that did nothing.
//! **Invariant:** the keys of the working payload stay; only long texts in it are shortened.
//! **Invariant:** a handoff never goes to its own source, and comes back to an earlier one only with a reason.
//! **Invariant:** what arrives is what was sent, or is refused; the chain that counts is the recorded one.
//! **Invariant:** document and hash of what was sent are texts of the event, so that erasing leaves nothing to guess against.
//! **Invariant:** counts are over the compact JSON of the whole document, however it is written.

pub mod budget;
pub mod command;
pub mod event;
pub mod ladder;
pub mod location;
pub mod measure;
pub mod noting;
pub mod payload;
mod repeats;
pub mod route;
pub mod row;
pub mod rules;
mod state;
pub mod tally;
pub mod targets;
mod upkeep;
pub mod view;

use countersign_contract::ContractInfo;
use payload::UniversalHandoff;

pub use state::{evolve, touched};

/// The contracts of this domain.
pub const CONTRACTS: &[ContractInfo] = &[ContractInfo::of::<UniversalHandoff>()];
