use crate::delegation::payload::DelegationInstruction;
use crate::delegation::ref_name::RefKind;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// A branch or a tag is called by its own name, without `refs/heads/` or `refs/tags/` before it.
    ///
    /// ## Why
    /// Git takes such a name and makes a branch `refs/heads/refs/heads/…` of it, which is hardly ever what was
    /// meant. No repair is offered: what was approved is the name as written, and another name is another branch.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"ACTION": {"TYPE": "DELETE_BRANCH", "PARAMETERS": {"PR_NUMBER": null, "BRANCH_NAME": "refs/heads/old"}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"ACTION": {"TYPE": "DELETE_BRANCH", "PARAMETERS": {"PR_NUMBER": null, "BRANCH_NAME": "old"}}}
    /// ```
    pub static REF_NAME_QUALIFIED: DelegationInstruction = {
        id: "ref-name-qualified",
        code: SchemaInvalid,
        severity: Warning,
        summary: "the name of a branch or tag begins with refs/",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    for (field, name, kind) in it.record.action.parameters.refs().into_iter().flatten() {
        let prefix = if kind == RefKind::Tag { "refs/tags/" } else { "refs/heads/" };
        if let Some(short) = name.strip_prefix(prefix)
            && kind != RefKind::Either
        {
            let pointer = Pointer::at("/ACTION/PARAMETERS").key(field);
            let help = format!("write `{}`, and have it approved as that", show(short));
            report.add(pointer, format!("`{}` begins with `{prefix}`", show(name)), help);
        }
    }
}
