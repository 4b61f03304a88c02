use super::raised_by_another;
use crate::handoff::budget::Measure;
use crate::handoff::payload::UniversalHandoff;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// `payload_size_bytes` is the number of bytes of the payload as compact JSON in UTF-8.
    ///
    /// ## Why
    /// A size that does not match is the first sign of a payload that was cut off or changed on its way. White space
    /// does not count, so that the number holds however the document is laid out. No repair is offered: to write the size
    /// of what has arrived is to vouch that all of it did.
    ///
    /// ## Rejected
    /// ```json rejected unsealed
    /// {"handoff": {"meta": {"payload_size_bytes": 2400}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"handoff": {"meta": {"payload_size_bytes": 2400}}}
    /// ```
    pub static PAYLOAD_SIZE_MISMATCH: UniversalHandoff = {
        id: "payload-size-mismatch",
        code: IntegrityMismatch,
        severity: Error,
        summary: "the payload size is not that of the payload",
        check: raised_by_another,
    }
}

/// Judges the size; asked by `handoff-token-limit-exceeded`, which has measured the document.
pub(super) fn weigh(it: &Subject<'_, UniversalHandoff>, measure: &Measure, report: &mut Report) {
    let Some(written) = it.record.handoff.meta.payload_size_bytes else { return };
    let bytes = measure.payload.bytes;
    if usize::try_from(written.get()) == Ok(bytes) {
        return;
    }
    let meta = it.root.get("handoff").and_then(|handoff| handoff.get("meta"));
    let Some(at) = meta.and_then(|meta| meta.get("payload_size_bytes")) else { return };
    let message = format!("the payload has {bytes} bytes, not {}", written.get());
    let help = "ask the source for the whole payload; if it changed the payload on purpose, it measures it again";
    report.find(&PAYLOAD_SIZE_MISMATCH.info, at, message, help);
}
