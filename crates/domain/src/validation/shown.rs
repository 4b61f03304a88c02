//! What a person was shown before they answered: an answer counts for that, once, and not for ever.

use super::gates::Standing;
use super::row::PromiseRow;
use super::subject::refusal;
use crate::deciding::{Desk, Refusal};
use crate::mark;
use crate::work;
use crate::work::row::{TaskRow, task_key, task_of};
use countersign_contract::diagnostic::Code;
use serde_json::{Value, json};

/// The mark of how a promise stands, as somebody sees it now. It is given back with the answer. Where a task waits for a
/// person, it is the mark of the task: whatever they answer, it is to the same thing.
pub fn mark(row: &PromiseRow, task: Option<&TaskRow>, now_ms: i64) -> String {
    mark::mark(&about(row, task), now_ms)
}

/// Everything that an answer is about.
fn about(row: &PromiseRow, task: Option<&TaskRow>) -> Value {
    if let Some(about) = task.and_then(work::shown::about) {
        return about;
    }
    let results: Vec<(String, &str)> = row.results().into_iter().map(|(id, it)| (id, it.as_str())).collect();
    let verdicts: Vec<(&String, u64)> = row.verdicts.iter().map(|(who, it)| (who, it.seq)).collect();
    json!({
        "bound": row.bound, "claim": row.claim, "judgement": row.judgement, "acceptance": row.acceptance, "promise": row.promise,
        "results": results, "round": row.round, "verdicts": verdicts,
    })
}

/// Refuses an answer to something else than what stands there now, or one that comes too late.
pub(crate) fn must_be_current(row: &PromiseRow, given: &str, desk: &Desk) -> Result<(), Refusal> {
    let task = row.of_task.as_ref().and_then(|(run, task)| task_of(desk.entity(&task_key(run, task))));
    let current =
        mark::must_be_current(&about(row, task.as_ref()), given, desk.moment().now_ms, "countersign gate status");
    current.map_err(|it| refusal(row, it.code, it.reason, &it.help))
}

/// Refuses an answer that nobody asked for.
pub(crate) fn must_ask(row: &PromiseRow, asked: bool, what: &str) -> Result<Standing, Refusal> {
    let standing = row.standing();
    if asked {
        return Ok(standing);
    }
    let reason = format!("{} does not ask for {what}: {}", row.id, standing.says());
    Err(refusal(row, Code::InvalidTransition, reason, "`countersign gate status` shows how it stands"))
}
