//! What an action of a plan comes to: a task that only whoever carries the run out takes, and the instruction beside it.

use super::payload::{Instructed, Plan, PlannedTask, Written};
use crate::deciding::{Desk, Happening, Refusal};
use crate::delegation::command::ExecutorKind;
use crate::delegation::event::DELEGATION_PLANNED;
use crate::delegation::trying::{deed, deed_here, digest, digests};
use crate::delegation::view::RETRIES_MAX;
use crate::work::command::exists;
use countersign_contract::diagnostic::Code;
use countersign_contract::{Untrusted, canonical};
use serde_json::{Value, json};

/// How long an action may take, with everything that is waited for on the way.
const TIMEOUT_SECONDS: i64 = 2 * 60 * 60;

/// Refuses a plan that leaves instructions in files: what is in a file can be changed after it was looked at.
pub(super) fn must_be_written(plan: &Plan) -> Result<(), Refusal> {
    let file = plan.tasks.iter().find_map(|task| match &task.instruction {
        Some(Instructed::File(path)) => Some((task, path)),
        _ => None,
    });
    let Some((task, path)) = file else { return Ok(()) };
    let reason =
        format!("the instruction of {} is in a file, `{}`", task.id, countersign_contract::show(path.as_str()));
    let help = "write it into the plan; `countersign run PLAN` does that by itself";
    Err(Refusal::new(Code::MissingRequiredInput, reason, help))
}

/// What the task of an action asks for. What it holds while it is carried out is a name for its instruction in the audit trail.
pub(super) fn spec(task: &PlannedTask) -> Value {
    let Some(Written { record, .. }) = task.instructed() else { return Value::Null };
    let (id, action, repository) = (&record.instruction_id, record.action.kind(), &record.requester.repository);
    json!({
        "task_id": task.id, "title": task.title, "type": "parallelizable",
        "lock_scope": [format!(".evidence/platform-actions/{id}")],
        "acceptance_criteria": [format!("{id} is answered with SUCCESS: {} in {repository}", action.as_str())],
        "dependencies": task.depends_on.as_deref(), "timeout_seconds": TIMEOUT_SECONDS, "priority": task.priority,
    })
}

/// Adds the task of an action, and the instruction that is acted on.
pub(super) fn add(
    desk: &mut Desk,
    run: &str,
    plan: &Plan,
    task: &PlannedTask,
    written: &Written,
) -> Result<(), Refusal> {
    let mut definition = super::parts::spec(task)?.definition();
    definition.spec.led = true;
    // Whether an action is tried again is for what it was answered with to say.
    definition.spec.retries = Some(0);
    exists(desk, run, task.id.as_str(), definition, true)?;
    let retries = task.retries.map_or(RETRIES_MAX, |retries| retries.get().unsigned_abs().min(RETRIES_MAX));
    let record = &written.record;
    let agents: Vec<&str> = plan.agents.iter().map(|(name, _)| name.as_str()).collect();
    let mut facts = json!({
        "action": record.action.kind().as_str(), "agents": agents, "asks": task.asks_a_person(),
        "deed": deed(&written.value), "digest": digest(&written.value), "digests": digests(&written.value),
        "executor": task.executor().map(|it| it.as_str()), "instruction_id": record.instruction_id,
        "repository": record.requester.repository, "retries": retries, "run": run, "task": task.id,
    });
    if task.executor() == Some(ExecutorKind::Git) {
        facts["deed_here"] = json!(deed_here(&written.value));
    }
    let text = Untrusted::new(canonical(&written.value));
    desk.record(Happening::of_run(DELEGATION_PLANNED, run, facts).with_texts(vec![text]));
    Ok(())
}
