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

fn is_uuid_like(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

fn is_numbered(text: &str) -> bool {
    let digits = text.strip_prefix("T-");
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}
