use super::payload_hash_not_canonical;
use crate::handoff::payload::UniversalHandoff;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, sha256_hex};

rule! {
    /// `payload_hash` is the SHA-256 of the payload, written in RFC 8785's canonical form.
    ///
    /// ## Why
    /// The hash is how the target knows that the payload is the one its source made. It is not computed again by a
    /// repair: that would vouch for whatever is there.
    ///
    /// ## Rejected
    /// ```json rejected unsealed
    /// {"handoff": {"meta":
    ///   {"payload_hash": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted unsealed
    /// {"handoff": {
    ///   "payload": {"working": {"decision": null, "b": 1.0, "a": 2}},
    ///   "meta": {"payload_hash": "sha256:7e5eea5552d22b592f38bd8345743c21d6090a4dbff5dbbc7e20c5ca353146f0"}}}
    /// ```
    pub static PAYLOAD_HASH_MISMATCH: UniversalHandoff = {
        id: "payload-hash-mismatch",
        code: IntegrityMismatch,
        severity: Error,
        summary: "the payload hash is not that of the payload",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    let Some(written) = &it.record.handoff.meta.payload_hash else { return };
    let Some(payload) = it.root.get("handoff").and_then(|handoff| handoff.get("payload")) else { return };
    let digits = written.as_str().trim_start_matches("sha256:");
    let canonical = payload.canonical_sha256();
    if digits == canonical {
        return;
    }
    if digits == sha256_hex(payload.compact().as_bytes()) {
        return payload_hash_not_canonical::add(it, &canonical, report);
    }
    report
        .add(
            Pointer::at("/handoff/meta/payload_hash"),
            format!("the payload hash is `{}`, that of the payload is `sha256:{canonical}`", written.as_str()),
            "ask the source for the payload it hashed; if it changed the payload on purpose, it hashes it again",
        )
        .label(Pointer::at("/handoff/payload"), "the payload");
}
