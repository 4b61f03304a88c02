use crate::delegation::action::Parameters;
use crate::delegation::parameters::TagType;
use crate::delegation::payload::DelegationInstruction;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// An annotated tag has a message.
    ///
    /// ## Why
    /// The message is what makes it annotated; git makes no such tag without one.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ACTION": {
    ///     "TYPE": "CREATE_TAG",
    ///     "PARAMETERS": {
    ///       "PR_NUMBER": null, "TAG_NAME": "v1.2.0", "TARGET_SHA": "1f0c3a5b7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80",
    ///       "TAG_TYPE": "annotated"
    ///     }
    ///   }
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "ACTION": {
    ///     "TYPE": "CREATE_TAG",
    ///     "PARAMETERS": {
    ///       "PR_NUMBER": null, "TAG_NAME": "v1.2.0", "TARGET_SHA": "1f0c3a5b7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80",
    ///       "TAG_TYPE": "annotated", "MESSAGE": "release 1.2.0"
    ///     }
    ///   }
    /// }
    /// ```
    pub static TAG_MESSAGE_MISSING: DelegationInstruction = {
        id: "tag-message-missing",
        code: MissingRequiredInput,
        severity: Error,
        summary: "an annotated tag without a message",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    let Parameters::CreateTag(tag) = &it.record.action.parameters else { return };
    if tag.tag_type == TagType::Annotated && tag.message.is_none() {
        report
            .add(
                Pointer::at("/ACTION/PARAMETERS/MESSAGE"),
                "an annotated tag has no message",
                "add `MESSAGE`, or make the tag lightweight",
            )
            .label(Pointer::at("/ACTION/PARAMETERS/TAG_TYPE"), "annotated");
    }
}
