use crate::delegation::action::Parameters;
use crate::delegation::payload::DelegationInstruction;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// A pull request leads from one branch into another. The same name in another owner's copy is another branch.
    ///
    /// ## Why
    /// The platform refuses it, since there is nothing to merge.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ACTION": {
    ///     "TYPE": "CREATE_PULL_REQUEST",
    ///     "PARAMETERS": {
    ///       "PR_NUMBER": null, "HEAD_BRANCH": "main", "BASE_BRANCH": "main", "TITLE": "fix", "BODY": "fix"
    ///     }
    ///   }
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "ACTION": {
    ///     "TYPE": "CREATE_PULL_REQUEST",
    ///     "PARAMETERS": {
    ///       "PR_NUMBER": null, "HEAD_BRANCH": "octocat:main", "BASE_BRANCH": "main", "TITLE": "fix", "BODY": "fix"
    ///     }
    ///   }
    /// }
    /// ```
    pub static PULL_REQUEST_INTO_ITSELF: DelegationInstruction = {
        id: "pull-request-into-itself",
        code: SchemaInvalid,
        severity: Error,
        summary: "head and base of a pull request are one branch",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    let Parameters::CreatePullRequest(request) = &it.record.action.parameters else { return };
    let (head, base) = (request.head_branch.as_str(), request.base_branch.as_str());
    let own = match head.split_once(':') {
        Some((owner, branch)) => owner.eq_ignore_ascii_case(it.record.requester.repository.owner()) && branch == base,
        None => head == base,
    };
    if own {
        report
            .add(
                Pointer::at("/ACTION/PARAMETERS/HEAD_BRANCH"),
                format!("the pull request leads from `{}` into itself", show(base)),
                "name the branch that has the changes",
            )
            .label(Pointer::at("/ACTION/PARAMETERS/BASE_BRANCH"), "the same branch");
    }
}
