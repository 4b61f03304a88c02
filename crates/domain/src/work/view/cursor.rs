//! Places in lists, as callers hand them back: opaque, and nothing but a place.

use crate::deciding::Refusal;
use countersign_contract::diagnostic::Code;

/// How many items a page has unless asked otherwise.
pub(crate) const PAGE: usize = 100;
/// How many items a page may have.
pub(crate) const PAGE_MAX: i64 = 1000;

/// A place as a text.
pub(crate) fn write(at: &[u8]) -> String {
    at.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A place from its text.
pub(crate) fn read(cursor: Option<&str>) -> Result<Option<Vec<u8>>, Refusal> {
    let Some(text) = cursor else { return Ok(None) };
    let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(byte).collect();
    match bytes.filter(|_| text.is_ascii() && text.len() % 2 == 0) {
        Some(bytes) => Ok(Some(bytes)),
        None => {
            let reason = "the cursor is not one that this list gave out";
            Err(Refusal::new(Code::SchemaInvalid, reason, "begin without one, and use `next` of the answer"))
        }
    }
}

/// The place from a text that was found right, or none.
pub(crate) fn place(cursor: Option<&str>) -> Option<Vec<u8>> {
    read(cursor).ok().flatten()
}
