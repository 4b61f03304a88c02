//! What an event of a promise says, in a few words for a list.

use crate::deciding::Happened;
use crate::validation::event::*;
use countersign_contract::show;
use serde_json::Value;

/// What an event says. Nothing, if it is of another domain.
pub fn summary(event: &Happened<'_>) -> Option<String> {
    let text = |field: &str| show(event.facts[field].as_str().unwrap_or("?"));
    // A task's promise is known by the task.
    let name = || show(event.facts["task"].as_str().or(event.facts["promise"].as_str()).unwrap_or("?"));
    let failures = || {
        let failures = event.facts["failures"].as_array().into_iter().flatten().filter_map(Value::as_str);
        failures.collect::<Vec<_>>().join(", ")
    };
    Some(match event.kind {
        PROMISE_MADE => format!("{} `{}`", name(), text("title")),
        PROMISE_STARTED | PROMISE_RELEASED | PROMISE_ADOPTED => format!("{} by {}", name(), show(event.actor)),
        CRITERION_MET => format!("{} {}", name(), text("criterion")),
        PROMISE_CANCELLED => format!("{}: {}", name(), text("reason")),
        PROMISE_VERIFIED => format!("{} ({})", name(), text("assurance")),
        EVIDENCE_COLLECTED => format!("{} {} {} {}", name(), text("criterion"), text("kind"), text("status")),
        VERDICT_GIVEN => format!("{} {} by {}", name(), text("verdict"), text("validator")),
        JUDGED => format!("{} {} by {}", name(), text("verdict"), text("by")),
        FAILURES_ACCEPTED => format!("{} {} by {}", name(), failures(), show(event.actor)),
        GATES_STALE => format!("{}: {} is there now", name(), text("found")),
        _ => return None,
    })
}
