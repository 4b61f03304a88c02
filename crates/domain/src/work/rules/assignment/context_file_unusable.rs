use crate::work::payload::{Assignment, ContextKind};
use crate::work::scope;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A file of the context is a path in the project.
    ///
    /// ## Why
    /// A worker opens what it is told to read. A path that leads out of the project lets whoever wrote the packet show
    /// it any file of the machine.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"context_package": [{"kind": "file", "value": "../../etc/passwd"}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "context_package": [
    ///     {"kind": "file", "value": "docs/rounding.md"},
    ///     {"kind": "note", "value": "the old code lives in ../legacy"}
    ///   ]
    /// }
    /// ```
    pub static CONTEXT_FILE_UNUSABLE: Assignment = {
        id: "context-file-unusable",
        code: SchemaInvalid,
        severity: Error,
        summary: "a file of the context is not a path in the project",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    let items = it.record.context_package.iter().enumerate();
    for (index, item) in items.filter(|(_, item)| item.kind == ContextKind::File) {
        if let Err(refused) = item.value.inspect(|path| scope::normal(path).map(drop)) {
            let message = format!("`{}` is not a path in the project: {}", item.value.escaped(), refused.why());
            report.add(Pointer::at("/context_package").item(index).key("value"), message, refused.cure());
        }
    }
}
