use crate::delegation::payload::DelegationInstruction;
use crate::delegation::ref_name;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// Names of branches and tags are names that git takes, by the rules of `git check-ref-format`. The head of a
    /// pull request may be written `owner:branch`.
    ///
    /// ## Why
    /// The platform would refuse the name, or worse, take it for something else: an option, a range of commits, a
    /// pattern.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"ACTION": {"TYPE": "DELETE_BRANCH", "PARAMETERS": {"PR_NUMBER": null, "BRANCH_NAME": "feature..old"}}}
    /// ```
    /// ```json rejected
    /// {"ACTION": {"TYPE": "DELETE_TAG", "PARAMETERS": {"PR_NUMBER": null, "TAG_NAME": "--force"}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"ACTION": {"TYPE": "DELETE_BRANCH", "PARAMETERS": {"PR_NUMBER": null, "BRANCH_NAME": "feature/old"}}}
    /// ```
    /// ```json accepted
    /// {
    ///   "ACTION": {
    ///     "TYPE": "CREATE_PULL_REQUEST",
    ///     "PARAMETERS": {
    ///       "PR_NUMBER": null, "HEAD_BRANCH": "octocat:fix", "BASE_BRANCH": "main", "TITLE": "fix", "BODY": "fix"
    ///     }
    ///   }
    /// }
    /// ```
    pub static REF_NAME_INVALID: DelegationInstruction = {
        id: "ref-name-invalid",
        code: SchemaInvalid,
        severity: Error,
        summary: "git would not take the name of a branch or tag",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    for (field, name, kind) in it.record.action.parameters.refs().into_iter().flatten() {
        if let Some(fault) = ref_name::fault(kind, name) {
            report.add(
                Pointer::at("/ACTION/PARAMETERS").key(field),
                format!("git takes no name like `{}`: it {fault}", show(name)),
                "write the name as git shows it",
            );
        }
    }
}
