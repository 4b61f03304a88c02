use crate::work::mention::changed_paths;
use crate::work::payload::Assignment;
use crate::work::reach::Reach;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};
use std::cell::OnceCell;

rule! {
    /// A criterion must be within reach: a file that it orders to be changed lies inside the lock scope and outside the
    /// forbidden scope. The task's own worklog is always within reach.
    ///
    /// ## Why
    /// A worker that is told to change a file and forbidden to touch it can only fail or disobey. Only plain orders are
    /// looked for (`update docs/api.md`, `add a section to docs/api.md`, `docs/api.md is updated`); files that are
    /// read, run or mentioned are not meant. A path counts when it has a `/` and an ending.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"task": {"lock_scope": ["src/money"], "acceptance_criteria": ["Update `docs/rounding.md`"]}}
    /// ```
    /// ```json rejected
    /// {
    ///   "task": {
    ///     "lock_scope": ["src/money"], "forbidden_scope": ["src/api"],
    ///     "acceptance_criteria": ["src/api/totals.rs is changed to call the new function"]
    ///   }
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "task": {
    ///     "lock_scope": ["src/money"], "forbidden_scope": ["src/api"],
    ///     "acceptance_criteria": [
    ///       "Create src/money/round.rs as docs/rounding.md describes",
    ///       "Tests in src/api/totals_test.rs pass",
    ///       "Do not edit src/api/totals.rs"
    ///     ]
    ///   }
    /// }
    /// ```
    pub static CRITERION_OUTSIDE_SCOPE: Assignment = {
        id: "criterion-outside-scope",
        code: ScopeViolation,
        severity: Error,
        summary: "a criterion asks for a change that the scope does not allow",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    let task = &it.record.task;
    let reach = OnceCell::new();
    for (index, criterion) in task.acceptance_criteria.iter().enumerate() {
        criterion.inspect(|text| {
            changed_paths(text, |path| {
                if let Some(why) = reach.get_or_init(|| Reach::new(task)).refuses(path) {
                    report.add(
                        Pointer::at("/task/acceptance_criteria").item(index),
                        format!("this asks for a change to `{}`, but {why}", show(path)),
                        "widen the scope, give that part to another task, or say that the file is only read",
                    );
                }
            });
        });
    }
}
