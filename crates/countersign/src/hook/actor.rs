//! In whose name a session acts.

use super::{Asker, Event};
use crate::session;

/// Who acts: what `--as` or the environment says, or else the name of the session or of the agent inside of it.
pub(super) fn name(asker: &Asker<'_>, event: &Event) -> String {
    let named = || session::name(asker.harness.as_str(), &event.session, event.agent.as_deref());
    asker.global.actor.clone().unwrap_or_else(named)
}
