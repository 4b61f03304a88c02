use crate::delegation::action::{ACTIONS, Action, ActionType};
use crate::delegation::payload::{
    AuditContext, Authorization, DelegationInstruction, DelegationResponse, ExpectedOutcome, Requester,
};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// `FIELD` names a field of the instruction. With the instruction given, a parameter is one that its action
    /// takes.
    ///
    /// ## Why
    /// The requester corrects the field that is named. A name that is not there leads nowhere.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "STATUS": "INVALID_REQUEST",
    ///   "PLATFORM_EVIDENCE": null,
    ///   "VALIDATION_ERRORS": [
    ///     {
    ///       "FIELD": "AUTHORISATION.QA_STATUS",
    ///       "ERROR": "is red",
    ///       "EXPECTED": "GREEN"
    ///     }
    ///   ]
    /// }
    /// ```
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json rejected
    /// {
    ///   "STATUS": "INVALID_REQUEST",
    ///   "PLATFORM_EVIDENCE": null,
    ///   "VALIDATION_ERRORS": [
    ///     {
    ///       "FIELD": "ACTION.PARAMETERS.HEAD_BRANCH",
    ///       "ERROR": "does not exist",
    ///       "EXPECTED": "a branch"
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json accepted
    /// {
    ///   "STATUS": "INVALID_REQUEST",
    ///   "PLATFORM_EVIDENCE": null,
    ///   "VALIDATION_ERRORS": [
    ///     {
    ///       "FIELD": "ACTION.PARAMETERS.PR_NUMBER",
    ///       "ERROR": "there is no pull request 42",
    ///       "EXPECTED": "a pull request that is there"
    ///     }
    ///   ]
    /// }
    /// ```
    pub static VALIDATION_FIELD_UNKNOWN: DelegationResponse = {
        id: "validation-field-unknown",
        code: SchemaInvalid,
        severity: Warning,
        summary: "a validation error names a field that an instruction does not have",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(errors) = &it.record.validation_errors else { return };
    let instruction = it.other::<DelegationInstruction>(it.record.instruction_id.as_str());
    let action = instruction.map(|it| it.action.kind());
    for (index, error) in errors.iter().enumerate() {
        let path = error.field.as_str();
        if is_field(path, action) {
            continue;
        }
        let pointer = Pointer::at("/VALIDATION_ERRORS").item(index).key("FIELD");
        let message = match action {
            Some(action) => format!("an instruction for {action} has no field `{}`", show(path)),
            None => format!("an instruction has no field `{}`", show(path)),
        };
        report.add(pointer, message, "name the field as the instruction does, such as `AUTHORIZATION.QA_STATUS`");
    }
}

/// Whether a path with dots leads to a field of an instruction. Of a parameter only the name is looked at.
fn is_field(path: &str, action: Option<ActionType>) -> bool {
    let mut steps = path.split('.').map(|step| step.split('[').next().unwrap_or(step));
    let (first, second, third) = (steps.next().unwrap_or_default(), steps.next(), steps.next());
    let Some(second) = second else { return DelegationInstruction::FIELDS.contains(&first) };
    let fields = match first {
        "REQUESTER" => Requester::FIELDS,
        "ACTION" => Action::FIELDS,
        "AUTHORIZATION" => Authorization::FIELDS,
        "EXPECTED_OUTCOME" => ExpectedOutcome::FIELDS,
        "AUDIT_CONTEXT" => AuditContext::FIELDS,
        _ => return false,
    };
    match (second, third) {
        ("PARAMETERS", Some(parameter)) if first == "ACTION" => match action {
            Some(action) => action.info().parameters.contains(&parameter),
            None => ACTIONS.iter().any(|it| it.parameters.contains(&parameter)),
        },
        (_, Some(_)) => false,
        (second, None) => fields.contains(&second),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_fields_of_an_instruction() {
        let merge = Some(ActionType::MergePullRequest);
        let cases = [
            ("AUTHORIZATION", None, true),
            ("AUTHORIZATION.QA_STATUS", None, true),
            ("AUTHORIZATION.QA_STATUS.X", None, false),
            ("INSTRUCTION_ID", None, true),
            ("INSTRUCTION_ID.X", None, false),
            ("QA_STATUS", None, false),
            ("ACTION.PARAMETERS", merge, true),
            ("ACTION.PARAMETERS.HEAD_BRANCH", None, true),
            ("ACTION.PARAMETERS.HEAD_BRANCH", merge, false),
            ("ACTION.PARAMETERS.MERGE_METHOD", merge, true),
            ("ACTION.PARAMETERS.LABELS[0]", None, true),
            ("ACTION.PARAMETERS.PROTECTION_RULES.RESTRICTIONS", None, true),
        ];
        for (path, action, good) in cases {
            assert_eq!(is_field(path, action), good, "{path}");
        }
    }
}
