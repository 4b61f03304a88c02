//! The last rung: nothing but the working payload, and where the rest is.

use super::SESSION;
use super::keep::Keeper;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::fix::Climb;
use countersign_contract::serde_json::Value;

/// Takes out the session and every reference but the one to what is kept.
pub(super) fn climb(document: &mut Value, climb: &mut Climb<'_>) -> Vec<String> {
    let Some(mut keeper) = Keeper::new(document, climb) else { return Vec::new() };
    if !keeper.fits() {
        keeper.take(&Pointer::at(SESSION));
        keeper.take_references();
    }
    keeper.into_changes()
}
