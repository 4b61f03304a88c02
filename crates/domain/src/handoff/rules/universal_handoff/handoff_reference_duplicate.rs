use crate::handoff::payload::UniversalHandoff;
use crate::handoff::repeats::repeats;
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// A file or page is referred to once.
    ///
    /// ## Why
    /// A second entry costs tokens and says nothing, or says something else than the first about the same thing.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"handoff": {"payload": {"references": {"files": [{"path": "docs/plan.md"}, {"path": "docs/plan.md"}]}}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"handoff": {"payload": {"references": {"files": [{"path": "docs/plan.md"}, {"path": "docs/risks.md"}]}}}}
    /// ```
    pub static HANDOFF_REFERENCE_DUPLICATE: UniversalHandoff = {
        id: "handoff-reference-duplicate",
        code: SchemaInvalid,
        severity: Warning,
        summary: "a file or page is referred to twice",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    let payload = &it.record.handoff.payload;
    let (files, urls) = (payload.files(), payload.urls());
    for (first, second) in repeats(files.iter().map(|file| file.path.as_str())) {
        let same = files[first] == files[second];
        add("/handoff/payload/references/files", (first, second), files[second].path.as_str(), same, report);
    }
    for (first, second) in repeats(urls.iter().map(|page| page.url.as_str())) {
        let same = urls[first] == urls[second];
        add("/handoff/payload/references/urls", (first, second), urls[second].url.as_str(), same, report);
    }
}

fn add(list: &str, (first, second): (usize, usize), what: &str, same: bool, report: &mut Report) {
    let pointer = Pointer::at(list).item(second);
    let message = format!("`{}` is referred to twice", show(what));
    let found = report.add(pointer.clone(), message, "keep one of the two");
    found.label(Pointer::at(list).item(first), "the first");
    // Where they differ, only the sender knows which is right.
    if same {
        found.repair(Repair::remove(pointer, "remove the second"));
    }
}
