use crate::plan::payload::{Criterion, Plan};
use crate::work::places::Placed;
use crate::work::scope::{contains, normal};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Who may change the file by which they are tested can make it pass.
    ///
    /// ## Why
    /// Often a worker writes the tests, too, so it is no fault. Where the tests are there before the work, pin them: they then
    /// count as they were. Where they are new, `red_before_green` shows that they tell anything.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing", "tests"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest", "-q", "tests/test_round.py"]}}]}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing", "tests"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest", "-q", "tests/test_round.py"]},
    ///                    "pin": "tests/test_round.py"}]}
    /// ]}
    /// ```
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing", "tests"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest", "-q", "tests/test_round.py"]},
    ///                    "red_before_green": true}]}
    /// ]}
    /// ```
    pub static PLAN_TEST_EDITABLE: Plan = {
        id: "plan-test-editable",
        code: AcceptanceFailed,
        severity: Note,
        summary: "a worker may change the file by which it is tested",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (task, planned) in it.record.tasks.iter().enumerate() {
        let may_change = |path: &str| planned.lock_scope.iter().any(|scope| contains(scope.place(), path));
        for (number, criterion) in planned.acceptance.iter().enumerate() {
            let Some(path) = tested_by(criterion).find(|path| may_change(path) && !is_held(criterion, path)) else {
                continue;
            };
            let message = format!("{} may change {path}, by which it is tested", planned.id);
            let help = "pin it where it is there before the work, or say `red_before_green: true`";
            report.add(Pointer::at("/tasks").item(task).key("acceptance").item(number), message, help);
        }
    }
}

/// The files that the programs of a criterion name.
fn tested_by(criterion: &Criterion) -> impl Iterator<Item = &str> {
    let programs = criterion.check.iter().flat_map(|checks| checks.iter()).filter_map(|check| check.program());
    let words = programs.flat_map(|words| words.iter()).map(|word| word.as_str());
    // With a folder or an ending it is a file, and not a word of the program.
    words.filter(|word| word.contains(['/', '.']) && normal(word).is_ok_and(|path| path == *word))
}

fn is_held(criterion: &Criterion, path: &str) -> bool {
    let pins = criterion.pin.iter().flat_map(|pins| pins.iter());
    criterion.red_before_green == Some(true) || pins.into_iter().any(|pin| contains(pin.place(), path))
}
