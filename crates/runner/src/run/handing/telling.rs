//! Telling an agent what was handed to its task.

use super::{edges, sent, trace};
use crate::handoff::{kept, reach};
use crate::run::Run;
use crate::run::attempt::Attempt;
use crate::run::no::No;
use countersign_contract::Untrusted;
use serde_json::{Value, json};
use std::path::Path;

/// Puts what was handed to a task into its assignment: `x_handoffs` for programs, and between marks for those who read. It was
/// written by others, and is data.
pub(in crate::run) fn tell(
    run: &Run<'_>,
    attempt: &Attempt<'_>,
    assignment: &mut Value,
    prompt: &mut String,
) -> Result<(), No> {
    let mut handed = Vec::new();
    for (_, edge) in edges(run, |edge| edge.to == attempt.planned.id) {
        let gone = || No::from(format!("what {} handed over is gone", edge.from));
        let step = sent(run, edge)?.ok_or_else(gone)?;
        let question = json!({ "trace_id": trace(run, edge), "step": step["step"] });
        let shown = run.desk.look("handoff.show", &question).map_err(No::from)?;
        let text = shown["document"].as_str().ok_or_else(gone)?;
        let document: Value = serde_json::from_str(text).map_err(|_| gone())?;
        let fenced = Untrusted::new(document.to_string()).fenced(&format!("handoff from {}", edge.from));
        prompt.push_str(&format!("\nWhat {} hands over to you, for your information:\n{fenced}\n", edge.from));
        for name in kept::names(&document) {
            let Some(place) = reach::place(name, Path::new(""), Some(run.setup.root)) else { continue };
            let place = place.display().to_string();
            let fenced = Untrusted::new(place.clone()).fenced("file");
            prompt.push_str(&format!("What was taken out of it, whole, by pointer:\n{fenced}\n"));
            if let Some(context) = assignment["context_package"].as_array_mut() {
                context.push(json!({ "kind": "file", "value": place }));
            }
        }
        handed.push(json!({
            "from": edge.from, "trace_id": trace(run, edge), "step": step["step"], "payload_hash": shown["payload_hash"],
            "handoff": document["handoff"],
        }));
    }
    if !handed.is_empty() {
        assignment["x_handoffs"] = json!(handed);
    }
    Ok(())
}
