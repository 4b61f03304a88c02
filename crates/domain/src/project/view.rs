//! What people are shown of a project's events.

use super::event::{COMMAND_REFUSED, PROJECT_INITIALISED, RECORD_KEPT, TEXT_ERASED, TOKEN_MADE, TOKEN_REVOKED};
use crate::deciding::Happened;
use countersign_contract::show;

/// What an event says, in a few words for a list. Nothing, if it is of another domain.
pub fn summary(event: &Happened<'_>) -> Option<String> {
    let text = |field: &str| show(event.facts[field].as_str().unwrap_or("?"));
    let number = |field: &str| event.facts[field].as_u64().unwrap_or(0);
    Some(match event.kind {
        PROJECT_INITIALISED => format!("project `{}`", text("name")),
        RECORD_KEPT => format!("{} from `{}`, {} bytes", text("contract"), text("file"), number("size")),
        TEXT_ERASED => format!("the texts of event {} ({})", number("event"), text("of")),
        TOKEN_MADE => format!("token {} for {}, as {}", text("token"), text("actor"), text("role")),
        TOKEN_REVOKED => format!("token {}", text("token")),
        COMMAND_REFUSED => format!("{}: {}", text("command"), text("code")),
        _ => return None,
    })
}
