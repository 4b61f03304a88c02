use crate::delegation::payload::{Completed, DelegationInstruction, names_evidence};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Where `ESCALATION_COMPLETED` is `YES`, `ESCALATION_EVIDENCE` says where its resolution is to be found.
    /// `NOT_APPLICABLE` is not a place.
    ///
    /// ## Why
    /// The next reader must be able to see what was decided, and by whom.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"AUTHORIZATION": {"ESCALATION_COMPLETED": "YES"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"AUTHORIZATION": {"ESCALATION_COMPLETED": "YES", "ESCALATION_EVIDENCE": "issue 130, resolved"}}
    /// ```
    pub static ESCALATION_EVIDENCE_MISSING: DelegationInstruction = {
        id: "escalation-evidence-missing",
        code: MissingRequiredInput,
        severity: Error,
        summary: "a resolved escalation without its evidence",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    let authorization = &it.record.authorization;
    if authorization.escalation_completed == Completed::Yes
        && !names_evidence(authorization.escalation_evidence.as_ref())
    {
        report
            .add(
                Pointer::at("/AUTHORIZATION/ESCALATION_EVIDENCE"),
                "an escalation is called completed, and its evidence is not named",
                "name where its resolution is to be found",
            )
            .label(Pointer::at("/AUTHORIZATION/ESCALATION_COMPLETED"), "claimed here");
    }
}
