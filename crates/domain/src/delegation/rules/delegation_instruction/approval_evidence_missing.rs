use crate::delegation::payload::{DelegationInstruction, YesNo, names_evidence};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Where `HUMAN_APPROVAL` is `YES`, `HUMAN_APPROVAL_EVIDENCE` says where the approval is to be found.
    /// `NOT_APPLICABLE` is not a place, and neither is `none` or `yes`.
    ///
    /// ## Why
    /// An approval that nobody can look up is a word of the one who wants it.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "REQUESTER": {"AUTHORIZATION_LEVEL": "AUTONOMOUS"},
    ///   "ACTION": {"TYPE": "COMMENT_ON_PR", "PARAMETERS": {"COMMENT_BODY": "57 replaces this one"}},
    ///   "AUTHORIZATION": {"HUMAN_APPROVAL": "YES", "HUMAN_APPROVAL_EVIDENCE": null}
    /// }
    /// ```
    /// ```json rejected
    /// {
    ///   "REQUESTER": {"AUTHORIZATION_LEVEL": "AUTONOMOUS"},
    ///   "ACTION": {"TYPE": "COMMENT_ON_PR", "PARAMETERS": {"COMMENT_BODY": "57 replaces this one"}},
    ///   "AUTHORIZATION": {"HUMAN_APPROVAL": "YES", "HUMAN_APPROVAL_EVIDENCE": "none"}
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"AUTHORIZATION": {"HUMAN_APPROVAL": "YES", "HUMAN_APPROVAL_EVIDENCE": "comment of the owner on issue 123"}}
    /// ```
    pub static APPROVAL_EVIDENCE_MISSING: DelegationInstruction = {
        id: "approval-evidence-missing",
        code: MissingRequiredInput,
        severity: Error,
        summary: "an approval without its evidence",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    let authorization = &it.record.authorization;
    if authorization.human_approval == YesNo::Yes && !names_evidence(authorization.human_approval_evidence.as_ref()) {
        report
            .add(
                Pointer::at("/AUTHORIZATION/HUMAN_APPROVAL_EVIDENCE"),
                "an approval is claimed, and its evidence is not named",
                "name where the approval is to be found",
            )
            .label(Pointer::at("/AUTHORIZATION/HUMAN_APPROVAL"), "claimed here");
    }
}
