//! What an action hands over: how it was answered, and where that is on record.

use crate::run::Run;
use countersign_domain::plan::payload::HandoffEdge;
use serde_json::{Value, json};

/// What the working payload of an action's handoff is, and what it is about in a sentence.
pub(super) fn of(run: &Run<'_>, edge: &HandoffEdge) -> Result<(Value, String), String> {
    let task = edge.from.as_str();
    let shown = run.desk.look("delegation.task", &run.desk.of_task(task))?;
    let id = shown["instruction_id"].as_str().unwrap_or_default();
    let instruction = run.desk.look("delegation.show", &json!({ "instruction_id": id }))?;
    let response: Value =
        instruction["response"].as_str().and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default();
    if !response.is_object() {
        return Err(format!("the response to {id} was erased, and with it what {task} could hand over"));
    }
    let (action, repository) = (&instruction["action"], &instruction["repository"]);
    let evidence = &response["PLATFORM_EVIDENCE"];
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let summary = format!(
        "{task}: {} in {} is done; the {} is {}",
        word(action),
        word(repository),
        word(&evidence["RESOURCE_TYPE"]).replace('_', " "),
        word(&evidence["RESOURCE_STATE"]),
    );
    let working = json!({
        "task": task, "action": action, "repository": repository, "instruction_id": id, "status": response["STATUS"],
        "platform_evidence": evidence, "response_id": response["RESPONSE_ID"],
        "audit_entry": response["AUDIT_ENTRY_PATH"],
    });
    Ok((working, summary))
}
