//! Whether something that is written once was written otherwise before, or elsewhere.

use countersign_contract::{Contract, Subject};

/// Whether the record differs from the one in its place in the earlier copy. What the contract does not know counts too:
/// the canonical texts are compared, not what was read from them.
pub(crate) fn differs_from_older<T: Contract>(it: &Subject<'_, T>) -> bool {
    it.older_root(it.line).is_some_and(|older| older.canonical() != it.root.canonical())
}

/// Whether another record that was given goes by the name of this one and says something else.
pub(crate) fn has_rival<T: Contract>(it: &Subject<'_, T>, name: &str) -> bool {
    !it.others.is_empty()
        && (it.others.contested(T::NAME, name) || it.other::<T>(name).is_some_and(|other| *other != *it.record))
}
