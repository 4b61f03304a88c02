use crate::delegation::action::Parameters;
use crate::delegation::payload::DelegationInstruction;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A link leads from one issue to another.
    ///
    /// ## Why
    /// An issue that blocks itself can never be closed.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ACTION": {
    ///     "TYPE": "LINK_ISSUES",
    ///     "PARAMETERS": {
    ///       "PR_NUMBER": null, "SOURCE_ISSUE_NUMBER": 7, "TARGET_ISSUE_NUMBER": 7, "RELATIONSHIP": "blocks"
    ///     }
    ///   }
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "ACTION": {
    ///     "TYPE": "LINK_ISSUES",
    ///     "PARAMETERS": {
    ///       "PR_NUMBER": null, "SOURCE_ISSUE_NUMBER": 7, "TARGET_ISSUE_NUMBER": 8, "RELATIONSHIP": "blocks"
    ///     }
    ///   }
    /// }
    /// ```
    pub static ISSUE_LINKED_TO_ITSELF: DelegationInstruction = {
        id: "issue-linked-to-itself",
        code: SchemaInvalid,
        severity: Error,
        summary: "an issue is linked to itself",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    let Parameters::LinkIssues(link) = &it.record.action.parameters else { return };
    if link.source_issue_number == link.target_issue_number {
        report
            .add(
                Pointer::at("/ACTION/PARAMETERS/TARGET_ISSUE_NUMBER"),
                format!("issue {} is linked to itself", link.target_issue_number.get()),
                "name the other issue",
            )
            .label(Pointer::at("/ACTION/PARAMETERS/SOURCE_ISSUE_NUMBER"), "the same issue");
    }
}
