//! What an event of an instruction says, in a few words for a list.

use crate::deciding::Happened;
use crate::delegation::event::*;
use countersign_contract::show;

/// What an event says. Nothing, if it is of another domain.
pub fn summary(event: &Happened<'_>) -> Option<String> {
    let text = |field: &str| show(event.facts[field].as_str().unwrap_or("?"));
    let id = text("instruction_id");
    Some(match event.kind {
        DELEGATION_RECEIVED if event.facts["valid"] == true => {
            format!("{id} {} in {}", text("action"), text("repository"))
        }
        DELEGATION_RECEIVED => format!("{id} {}, which is invalid", text("action")),
        DELEGATION_STARTED if event.facts["again"] == true => format!("{id} again"),
        DELEGATION_STARTED => id,
        DELEGATION_AUDITED => format!("{id} as {}", text("audit_entry_id")),
        DELEGATION_ANSWERED => format!("{id} {} as {}", text("status"), text("response_id")),
        DELEGATION_OBSERVED if event.facts["about"] == "outcome" => {
            format!("{id} is {}there", if event.facts["holds"] == true { "" } else { "not " })
        }
        DELEGATION_OBSERVED => {
            format!("{id} is {}barred", if event.facts["holds"] == true { "" } else { "no longer " })
        }
        DELEGATION_PLANNED => format!("{id} {} in {} as {}", text("action"), text("repository"), text("task")),
        DELEGATION_APPROVED | DELEGATION_REFUSED | DELEGATION_ESCALATED => format!("{id} of {}", text("task")),
        DELEGATION_RESOLVED => format!("{id}: {}", text("decision")),
        _ => return None,
    })
}
