//! The last rung: nothing but the working payload, and where the rest is; and of that at last no list and no object that is too
//! long to stay.

use super::SESSION;
use super::compress::{TOKEN_BYTES_MAX, WORKING};
use super::keep::Keeper;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::fix::Climb;
use countersign_contract::serde_json::Value;

/// How many bytes a list or an object must have to be put out: the word in its place takes some as well.
const BYTES_MIN: usize = 200;

/// Takes out the session and every reference but the one to what is kept, and then what is long in the working payload.
pub(super) fn climb(document: &mut Value, climb: &mut Climb<'_>) -> Vec<String> {
    let Some(mut keeper) = Keeper::new(document, climb) else { return Vec::new() };
    if !keeper.fits() {
        keeper.take(&Pointer::at(SESSION));
        keeper.take_references();
        if !(keeper.fits() || put_out_lists(&mut keeper)) {
            put_out_members(&mut keeper);
        }
    }
    keeper.into_changes()
}

/// Puts out lists of the working payload, wherever they are. Whether the handoff fits after it.
fn put_out_lists(keeper: &mut Keeper<'_, '_>) -> bool {
    let mut lists = Vec::new();
    if let Some(working) = keeper.document.pointer(WORKING) {
        find_lists(working, &Pointer::at(WORKING), &mut lists);
    }
    put_out(keeper, lists)
}

/// Puts out what is left of the working payload that is no plain value. Whether the handoff fits after it.
fn put_out_members(keeper: &mut Keeper<'_, '_>) -> bool {
    let working = keeper.document.pointer(WORKING).and_then(Value::as_object);
    let objects = working.into_iter().flatten().filter(|(_, member)| member.is_object());
    let at = Pointer::at(WORKING);
    let objects = objects.map(|(key, member)| (at.clone().key(key), member.to_string().len())).collect();
    put_out(keeper, objects)
}

/// Puts out the longest first, and no more of them than needed.
fn put_out(keeper: &mut Keeper<'_, '_>, mut found: Vec<(Pointer, usize)>) -> bool {
    found.retain(|(_, bytes)| *bytes >= BYTES_MIN);
    found.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let bytes_max = keeper.limit.saturating_mul(TOKEN_BYTES_MAX);
    let mut left = keeper.document.to_string().len();
    for (pointer, bytes) in found {
        let Some(word) = keeper.document.pointer(pointer.as_str()).and_then(word_for) else { continue };
        left = left.saturating_sub(bytes.saturating_sub(word.len()));
        keeper.put_out(&pointer, word);
        // As with texts: counting cannot succeed while this holds.
        if left <= bytes_max && keeper.fits() {
            return true;
        }
    }
    false
}

/// What stands for a list or an object that was put out, so that nobody takes it for one that has nothing in it.
fn word_for(value: &Value) -> Option<String> {
    let (count, what) = match value {
        Value::Array(items) => (items.len(), "items"),
        Value::Object(members) => (members.len(), "members"),
        _ => return None,
    };
    Some(format!("… {count} {what}, taken out of this handoff"))
}

/// The lists that lie in no other list, with how many bytes each takes.
fn find_lists(value: &Value, at: &Pointer, found: &mut Vec<(Pointer, usize)>) {
    match value {
        Value::Array(_) => found.push((at.clone(), value.to_string().len())),
        Value::Object(members) => {
            for (key, member) in members {
                find_lists(member, &at.clone().key(key), found);
            }
        }
        _ => {}
    }
}
