//! What an event of a run says, in a few words for a list.

use crate::deciding::Happened;
use crate::work::event::*;
use countersign_contract::show;

/// What an event says. Nothing, if it is of another domain.
pub fn summary(event: &Happened<'_>) -> Option<String> {
    let text = |field: &str| show(event.facts[field].as_str().unwrap_or("?"));
    let number = |field: &str| event.facts[field].as_u64().unwrap_or(0);
    let task = || text("task");
    Some(match event.kind {
        RUN_OPENED => format!("`{}`", text("objective")),
        RUN_CLOSED | RUN_CANCELED => text("reason"),
        RUN_LED => event.facts["by"].as_str().map_or("by nobody".to_owned(), |by| format!("by {}", show(by))),
        RUN_ACCEPTED => format!("{}: {}", text("content"), text("reason")),
        RUN_RESUMED => format!("by {}", show(event.actor)),
        ENVELOPE_APPLIED => {
            format!(
                "{} changes, {} known before, {} assignments",
                number("deltas"),
                number("known"),
                number("assignments")
            )
        }
        DELTA_APPLIED => format!("`{}`", text("delta")),
        TASK_ADDED | TASK_REPLANNED => {
            format!("{} `{}`", task(), show(event.facts["spec"]["title"].as_str().unwrap_or("?")))
        }
        TASK_CLAIMED => format!("{} by {}, lease {}, attempt {}", task(), text("owner"), event.seq, number("attempt")),
        TASK_EXTENDED => format!("{} to {} s of silence", task(), number("timeout_seconds")),
        TASK_BLOCKED | TASK_TIMED_OUT | TASK_FAILED => format!("{} {}: {}", task(), text("code"), text("reason")),
        TASK_REQUEUED | TASK_CANCELED | TASK_ASSERTED => format!("{}: {}", task(), text("reason")),
        TASK_COMPLETED => format!("{} done ({})", task(), text("assurance")),
        RESULT_SUBMITTED if event.facts["late"] == true => format!("{} {}, too late to count", task(), text("status")),
        RESULT_SUBMITTED => format!("{} {}", task(), text("status")),
        EFFECT_STARTED => format!("{} {}", task(), text("kind")),
        EFFECT_FINISHED => format!("{} {}: {}", task(), text("kind"), text("outcome")),
        WORKLOG_ADDED => format!("{} {}", task(), text("action")),
        _ => return None,
    })
}
