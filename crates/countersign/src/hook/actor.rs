//! In whose name a session acts.

use super::{Asker, Event};
use countersign_ledger::Hash;

/// How many letters stand for a session or an agent in a name.
const LETTERS: usize = 8;

/// Who acts: what `--as` or the environment says, or else a name made from the client, the session and the agent. The same
/// session always has the same.
pub(super) fn name(asker: &Asker<'_>, event: &Event) -> String {
    if let Some(actor) = &asker.global.actor {
        return actor.clone();
    }
    let brief = |id: &str| Hash::of(id.as_bytes()).hex()[..LETTERS].to_owned();
    let session = brief(&event.session);
    match &event.agent {
        Some(agent) => format!("{}:{session}.{}", asker.harness.as_str(), brief(agent)),
        None => format!("{}:{session}", asker.harness.as_str()),
    }
}
