use super::raised_by_another;
use crate::handoff::payload::UniversalHandoff;
use countersign_contract::diagnostic::Repair;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// `payload_hash` is taken from the canonical form of the payload (RFC 8785). A hash of its compact JSON as
    /// written is right too, but only as long as nobody writes the payload down again.
    ///
    /// ## Why
    /// Programs that read and write a handoff keep its content, not the order of its members or the way its numbers are
    /// written. Only the canonical form is the same after that.
    ///
    /// ## Rejected
    /// ```json rejected unsealed
    /// {"handoff": {
    ///   "payload": {"working": {"decision": null, "b": 1, "a": 2}},
    ///   "meta": {"payload_hash": "sha256:b18fa968220cb84c4f1ae1409b41a76b9cf5d4b15b9595eecbde9ff353ceb2ed"}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted unsealed
    /// {"handoff": {
    ///   "payload": {"working": {"decision": null, "b": 1, "a": 2}},
    ///   "meta": {"payload_hash": "sha256:7e5eea5552d22b592f38bd8345743c21d6090a4dbff5dbbc7e20c5ca353146f0"}}}
    /// ```
    pub static PAYLOAD_HASH_NOT_CANONICAL: UniversalHandoff = {
        id: "payload-hash-not-canonical",
        code: IntegrityMismatch,
        severity: Warning,
        summary: "the payload hash is of the text as written, not of its canonical form",
        check: raised_by_another,
    }
}

/// Says so; asked by `payload-hash-mismatch`, which has both hashes in hand.
pub(super) fn add(it: &Subject<'_, UniversalHandoff>, canonical: &str, report: &mut Report) {
    let meta = it.root.get("handoff").and_then(|handoff| handoff.get("meta"));
    let Some(at) = meta.and_then(|meta| meta.get("payload_hash")) else { return };
    let message = "the payload hash is of the compact text as written, not of its canonical form";
    let help = format!("write the hash of the canonical form: `sha256:{canonical}`");
    let found = report.find(&PAYLOAD_HASH_NOT_CANONICAL.info, at, message, help);
    let pointer = found.pointer.clone();
    found.repair(Repair::replace(pointer, format!("sha256:{canonical}"), "hash the canonical form"));
}
