use crate::handoff::payload::UniversalHandoff;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// An address that the target is to look at leads somewhere; it is no program that runs when it is opened.
    ///
    /// ## Why
    /// A person or an agent that opens `javascript:` or `data:` runs what the sender wrote, in the place where it was opened.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"handoff": {"payload": {"references": {"urls": [{"url": "javascript:alert(1)"}]}}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"handoff": {"payload": {"references": {"urls": [{"url": "https://example.org/javascript:alert"}]}}}}
    /// ```
    pub static HANDOFF_URL_EXECUTABLE: UniversalHandoff = {
        id: "handoff-url-executable",
        code: UntrustedContextBlock,
        severity: Warning,
        summary: "an address that the handoff refers to runs when it is opened",
        check: check,
    }
}

/// Schemes whose address is itself what is run or shown.
const EXECUTABLE: &[&str] = &["javascript", "vbscript", "data"];

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    for (index, reference) in it.record.handoff.payload.urls().iter().enumerate() {
        let url = reference.url.as_str();
        let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
        if EXECUTABLE.iter().any(|it| it.eq_ignore_ascii_case(scheme)) {
            let pointer = Pointer::at("/handoff/payload/references/urls").item(index).key("url");
            let message = format!("address `{}` runs, or shows, what stands in it when it is opened", show(url));
            report.add(pointer, message, "name the address of a page, or put the text into a file");
        }
    }
}
