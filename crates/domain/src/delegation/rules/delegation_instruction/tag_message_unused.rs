use crate::delegation::action::Parameters;
use crate::delegation::parameters::TagType;
use crate::delegation::payload::DelegationInstruction;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A lightweight tag is a bare name and keeps no message.
    ///
    /// ## Why
    /// The message would be lost without anyone being told.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ACTION": {
    ///     "TYPE": "CREATE_TAG",
    ///     "PARAMETERS": {
    ///       "PR_NUMBER": null, "TAG_NAME": "v1.2.0", "TARGET_SHA": "1f0c3a5b7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80",
    ///       "TAG_TYPE": "lightweight", "MESSAGE": "release 1.2.0"
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
    ///       "TAG_TYPE": "lightweight"
    ///     }
    ///   }
    /// }
    /// ```
    pub static TAG_MESSAGE_UNUSED: DelegationInstruction = {
        id: "tag-message-unused",
        code: SchemaInvalid,
        severity: Warning,
        summary: "a lightweight tag with a message",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    let Parameters::CreateTag(tag) = &it.record.action.parameters else { return };
    if tag.tag_type == TagType::Lightweight && tag.message.is_some() {
        report
            .add(
                Pointer::at("/ACTION/PARAMETERS/MESSAGE"),
                "a lightweight tag keeps no message",
                "make the tag annotated, or leave the message out",
            )
            .label(Pointer::at("/ACTION/PARAMETERS/TAG_TYPE"), "lightweight");
    }
}
