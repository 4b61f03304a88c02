use crate::work::payload::Assignment;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// An entry of a lock scope is a path, and no pattern: `*` and `?` in it mean themselves.
    ///
    /// ## Why
    /// `src/*.rs` looks like every Rust file in `src`. It is one file of that very name, so that the worker may change
    /// nothing of what was meant, and holds nothing of it either. Brackets are not looked at, since files are really called
    /// so: `app/[slug]/page.tsx`.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"task": {"lock_scope": ["src/money/*.rs"]}}
    /// ```
    /// ```json rejected
    /// {"task": {"lock_scope": ["src/money/round?.rs"]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"task": {"lock_scope": ["src/money", "app/[slug]/page.tsx"]}}
    /// ```
    pub static LOCK_SCOPE_PATTERN: Assignment = {
        id: "lock-scope-pattern",
        code: SchemaInvalid,
        severity: Warning,
        summary: "an entry of the lock scope looks like a pattern, and is taken as a path",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    for (index, entry) in it.record.task.lock_scope.iter().enumerate() {
        if memchr::memchr2(b'*', b'?', entry.as_str().as_bytes()).is_some() {
            let message = format!("`{}` is no pattern: it is one path of that very name", show(entry.as_str()));
            let help = "name the folder, which stands for everything inside of it, or each file by itself";
            report.add(Pointer::at("/task/lock_scope").item(index), message, help);
        }
    }
}
