use crate::plan::payload::{FileCheck, Plan};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, Text, rule, show};

rule! {
    /// What a file check asks for can be true of one file, and `diff` asks for something.
    ///
    /// ## Why
    /// No work could ever meet the criterion.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"], "acceptance": [
    ///     {"text": "no float is left", "check": {"file": {"path": "billing/round.py", "contains": "float(x)", "not_contains": "float("}}}]}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"], "acceptance": [
    ///     {"text": "it is short", "check": {"file": {"path": "billing/round.py", "min_size": 200, "max_size": 100}}}]}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"], "acceptance": [
    ///     {"text": "it is gone", "check": [{"diff": true}, {"file": {"path": "billing/round.py", "exists": false, "contains": "round"}}]}]}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"], "acceptance": [
    ///     {"text": "it is set", "check": {"file": {"path": "billing/round.json", "json_pointer": "mode", "equals": "even"}}}]}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"], "acceptance": [
    ///     {"text": "it is as declared", "check": {"diff": false}}]}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"], "acceptance": [
    ///     {"text": "no float is left", "check": {"file": {
    ///       "path": "billing/round.py", "contains": "float", "not_contains": "float(", "min_size": 100, "max_size": 100}}}]}
    /// ]}
    /// ```
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"], "acceptance": [
    ///     {"text": "it is gone", "check": {"file": {"path": "billing/round.py", "exists": false}}}]}
    /// ]}
    /// ```
    pub static PLAN_CHECK_CONTRADICTORY: Plan = {
        id: "plan-check-contradictory",
        code: AcceptanceFailed,
        severity: Error,
        summary: "nothing can be what a check asks for",
        check: check,
    }
}

/// How many texts of a list are held against those of the other.
const TEXTS_MAX: usize = 100;

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (task, planned) in it.record.tasks.iter().enumerate() {
        for (criterion, wanted) in planned.acceptance.iter().enumerate() {
            let Some(checks) = &wanted.check else { continue };
            for (n, check) in checks.iter().enumerate() {
                let at = || Pointer::at("/tasks").item(task).key("acceptance").item(criterion).key("check");
                if check.diff == Some(false) {
                    let message = "`diff: false` asks for nothing, and so nothing shows that the criterion holds";
                    report.add(
                        checks.place_of(n, at()).key("diff"),
                        message,
                        "say `diff: true`, or leave the check out",
                    );
                }
                let Some((fault, help)) = check.file.as_ref().and_then(fault) else { continue };
                report.add(checks.place_of(n, at()).key("file"), fault, help);
            }
        }
    }
}

/// Why no file can be all of this, and what to do.
fn fault(file: &FileCheck) -> Option<(String, &'static str)> {
    let path = show(file.path.as_str());
    if let Some(field) = presupposes(file).filter(|_| file.exists == Some(false)) {
        let help = "leave `exists: false` out, or what is asked of the content";
        return Some((format!("`{path}` must not be there, and `{field}` asks for what it holds"), help));
    }
    let (least, most) = (file.min_size.map_or(0, |it| it.get()), file.max_size.map(|it| it.get()));
    if let Some(most) = most.filter(|most| *most < least) {
        let message = format!("`{path}` cannot have at least {least} bytes and at most {most}");
        return Some((message, "make `max_size` larger, or `min_size` smaller"));
    }
    let wanted = || file.contains.iter().flat_map(|texts| texts.iter()).map(Text::as_str).take(TEXTS_MAX);
    let unwanted = || file.not_contains.iter().flat_map(|texts| texts.iter()).map(Text::as_str).take(TEXTS_MAX);
    if let Some((one, other)) =
        wanted().find_map(|one| Some((one, unwanted().find(|unwanted| one.contains(unwanted))?)))
    {
        let message = format!("`{path}` must contain `{}`, and must not contain `{}`", show(one), show(other));
        return Some((message, "leave one of them out"));
    }
    if let Some((text, most)) = most.and_then(|most| Some((wanted().find(|text| longer(text, most))?, most))) {
        let message = format!("`{path}` must contain `{}`, which has more than {most} bytes", show(text));
        return Some((message, "make `max_size` larger"));
    }
    let pointer = file.json_pointer.as_deref().filter(|pointer| !pointer.is_empty() && !pointer.starts_with('/'))?;
    Some((format!("`{}` is no JSON pointer, so nothing is found there", show(pointer)), "begin it with `/`"))
}

/// A field that only a file which is there can meet.
fn presupposes(file: &FileCheck) -> Option<&'static str> {
    let fields = [
        ("contains", file.contains.is_some()),
        ("min_size", file.min_size.is_some()),
        ("max_size", file.max_size.is_some()),
        ("sha256", file.sha256.is_some()),
        ("json_pointer", file.json_pointer.is_some()),
        ("equals", file.equals.is_some()),
    ];
    fields.into_iter().find(|(_, given)| *given).map(|(field, _)| field)
}

fn longer(text: &str, most: i64) -> bool {
    i64::try_from(text.len()).unwrap_or(i64::MAX) > most
}
