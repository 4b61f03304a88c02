//! What is wrong with an instruction, in the words of a response.

use crate::delegation::action::{ACTIONS, Action, ActionType};
use crate::delegation::payload::{AuditContext, Authorization, DelegationInstruction, ExpectedOutcome, Requester};
use countersign_contract::diagnostic::{Diagnostic, Severity};
use countersign_contract::scan::control;
use serde_json::{Value, json};

/// The field that stands for the whole, where what is wrong is in none of its fields.
const WHOLE: &str = "DELEGATION_INSTRUCTION_VERSION";

/// Leaves the words out of errors that read like an order: what stands in an instruction is told to whoever sent it, and no response
/// passes that gives orders.
pub(super) fn leave_orders_out(errors: &mut [Value]) {
    for error in errors {
        for name in ["ERROR", "EXPECTED"] {
            if let Some(control) = error[name].as_str().and_then(control) {
                let said = "what stands there is not taken, and its words are left out, since they read like an order";
                error[name] = json!(format!("{said} ({})", control.kind));
            }
        }
    }
}

/// The errors among findings, each as `FIELD`, `ERROR` and `EXPECTED`.
pub(super) fn errors(findings: &[Diagnostic], action: Option<ActionType>) -> Vec<Value> {
    let errors = findings.iter().filter(|it| it.severity == Severity::Error);
    errors
        .map(|it| {
            let expected = if it.help.trim().is_empty() { "what the contract says" } else { it.help.as_str() };
            json!({ "FIELD": field(it.pointer.as_str(), action), "ERROR": it.message, "EXPECTED": expected })
        })
        .collect()
}

/// A place by the names of the fields on the way to it, as far as an instruction has them.
fn field(pointer: &str, action: Option<ActionType>) -> String {
    let mut path = String::new();
    let mut within: &[&str] = DelegationInstruction::FIELDS;
    for (depth, step) in pointer.split('/').skip(1).enumerate() {
        // In a list there are numbers; what is deeper than a parameter is not looked at.
        if let Ok(index) = step.parse::<u32>() {
            path.push_str(&format!("[{index}]"));
            continue;
        }
        let fits = match (depth, path.as_str()) {
            (0 | 1, _) => within.contains(&step),
            (2, "ACTION.PARAMETERS") => match action {
                Some(action) => action.info().parameters.contains(&step),
                None => ACTIONS.iter().any(|it| it.parameters.contains(&step)),
            },
            (2, _) => false,
            _ => step.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-')) && !step.is_empty(),
        };
        if !fits {
            break;
        }
        within = match step {
            "REQUESTER" => Requester::FIELDS,
            "ACTION" => Action::FIELDS,
            "AUTHORIZATION" => Authorization::FIELDS,
            "EXPECTED_OUTCOME" => ExpectedOutcome::FIELDS,
            "AUDIT_CONTEXT" => AuditContext::FIELDS,
            _ => &[],
        };
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(step);
    }
    if path.is_empty() { WHOLE.to_owned() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_named_as_far_as_an_instruction_has_it() {
        let tag = Some(ActionType::CreateTag);
        let cases = [
            ("", None, WHOLE),
            ("/ACTON", None, WHOLE),
            ("/AUTHORIZATION/QA_STATUS", None, "AUTHORIZATION.QA_STATUS"),
            ("/AUTHORIZATION/QA", None, "AUTHORIZATION"),
            ("/INSTRUCTION_ID/x", None, "INSTRUCTION_ID"),
            ("/ACTION/PARAMETERS/LABELS/0", None, "ACTION.PARAMETERS.LABELS[0]"),
            ("/ACTION/PARAMETERS/LABELS/0", tag, "ACTION.PARAMETERS"),
            ("/ACTION/PARAMETERS/TAG_NAME", tag, "ACTION.PARAMETERS.TAG_NAME"),
            ("/ACTION/PARAMETERS/INPUTS/a b", None, "ACTION.PARAMETERS.INPUTS"),
        ];
        for (pointer, action, wanted) in cases {
            assert_eq!(field(pointer, action), wanted, "{pointer}");
        }
    }
}
