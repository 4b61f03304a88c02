//! Ids that more than one domain speaks of.

use countersign_contract::pattern;

pattern! {
    /// A run: one undertaking of an orchestrator with its agents.
    pub struct RunId {
        pattern: r"^[0-9a-fA-F-]{36}$",
        example: "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4",
        says: "a run id: a UUID of 36 characters",
        test: is_uuid_like,
    }
}

pattern! {
    /// A task of a run.
    pub struct TaskId {
        pattern: r"^(T-[0-9]+|[0-9a-fA-F-]{36})$",
        example: "T-12",
        says: "a task id: `T-` and a number, or a UUID",
        test: |text| is_numbered(text) || is_uuid_like(text),
    }
}

impl RunId {
    /// Whether this is a UUID of version 4.
    pub fn is_v4(&self) -> bool {
        is_v4(self.as_str().as_bytes())
    }
}

/// Whether a text says of itself that it is a UUID drawn at random: version 4, variant 1 (RFC 9562).
pub fn is_uuid_v4(text: &str) -> bool {
    is_uuid_like(text) && is_v4(text.as_bytes())
}

/// Of 36 bytes that are digits and dashes, whether the dashes, the version and the variant stand where they should.
fn is_v4(bytes: &[u8]) -> bool {
    let dashes = [8, 13, 18, 23].iter().all(|at| bytes.get(*at) == Some(&b'-'));
    let version = bytes.get(14) == Some(&b'4');
    let variant = matches!(bytes.get(19), Some(b'8' | b'9' | b'a' | b'b' | b'A' | b'B'));
    dashes && version && variant && bytes.iter().filter(|byte| **byte == b'-').count() == 4
}

pattern! {
    /// A change of the operator ledger, for ever the same: applied once however often it is sent.
    pub struct DeltaId {
        pattern: r"^[!-~]{1,200}$",
        example: "d-1",
        says: "an id of 1 to 200 visible ASCII characters",
        test: |text| (1..=200).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()),
    }
}

fn is_uuid_like(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

fn is_numbered(text: &str) -> bool {
    let digits = text.strip_prefix("T-");
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}
