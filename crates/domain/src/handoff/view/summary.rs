//! What an event of a handoff says, in a few words for a list.

use crate::deciding::Happened;
use crate::handoff::event::{HANDOFF_NOTED, HANDOFF_RECEIVED, HANDOFF_SENT};
use countersign_contract::show;

/// What an event says. Nothing, if it is of another domain.
pub fn summary(event: &Happened<'_>) -> Option<String> {
    let text = |field: &str| show(event.facts[field].as_str().unwrap_or("?"));
    let number = |field: &str| event.facts[field].as_u64().unwrap_or(0);
    Some(match event.kind {
        HANDOFF_SENT => {
            let (source, target) = (text("source"), text("target"));
            format!("{} #{} `{source}` → `{target}`, {} tokens", text("trace"), number("step"), number("tokens"))
        }
        HANDOFF_RECEIVED => format!("{} #{} by `{}`", text("trace"), number("step"), text("skill")),
        HANDOFF_NOTED => {
            let code = event.facts["code"].as_str().map(|code| format!(" [{}]", show(code))).unwrap_or_default();
            format!("{} #{} {} by `{}`{code}", text("trace"), number("step"), text("event"), text("skill"))
        }
        _ => return None,
    })
}
