//! The project: what a ledger is about, what was kept in it as evidence, and what was erased from it.
//!
//! ```text
//! project   (none) ──project.init──▶ open
//! record    (none) ──record.keep──▶ kept ──text.erase──▶ erased
//! token     (none) ──token.make──▶ made ──token.revoke──▶ revoked
//! ```
//!
//! **Invariant:** a project is initialised once, by the first event of its ledger.
//! **Invariant:** no fact, entity or index holds a hash that a guess at an erased text could be compared with; the hash of a
//! record's bytes is a text, and goes with them.
//! **Invariant:** what is erased is named by an event with a reason, and by whom.

mod command;
mod event;
mod state;
mod token;
mod view;

pub use command::{Erase, Init, Keep, Payload};
pub use event::{COMMAND_REFUSED, PROJECT_INITIALISED, RECORD_KEPT, TEXT_ERASED, TOKEN_MADE, TOKEN_REVOKED};
pub use state::{evolve, places, project_key, record_key, token_key, touched};
pub use token::{MakeToken, RevokeToken, TokenAnswer};
pub use view::summary;
