//! What events mean, as far as the ledger must know: which entities they change, and where those are found.

use crate::event::Event;
use crate::rows::{Entity, Key, Name, Place};
use std::sync::Arc;

/// Turns events into entities. The ledger asks on every append and on `rebuild`, and keeps the answers.
///
/// Whoever implements it promises that:
///
/// 1. the answers depend on the arguments alone: no clock, no chance, no world;
/// 2. it cannot refuse, because what is in the log has happened; an event of a kind that it does not know touches nothing,
///    and one whose facts are of a later version than [`Fold::version`] it is never asked about: there the ledger refuses;
/// 3. [`Fold::shape`] grows whenever an answer would differ from what an older version gave.
pub trait Fold: Send + Sync {
    /// The version of all the answers together.
    fn shape(&self) -> u32;

    /// The latest version that it knows of the facts of a kind. Earlier ones it takes as well.
    fn version(&self, kind: &str) -> u32;

    /// The entities that an event changes, each of them once.
    fn touched(&self, event: &Event<'_>) -> Vec<Key>;

    /// What one of them is afterwards; nothing, if it is gone.
    fn evolve(&self, key: &Key, before: Option<&Entity>, event: &Event<'_>) -> Option<State>;

    /// The places where an entity is to be found.
    fn places(&self, entity: &Entity) -> Vec<Place>;

    /// Which of its places an entity leaves by a change, and which it takes: those by which [`Fold::places`] differ.
    fn moves(&self, _: &Key, before: Option<&Entity>, after: Option<&Entity>) -> Moves {
        let places = |entity: Option<&Entity>| entity.map_or_else(Vec::new, |it| self.places(it));
        let (old, new) = (places(before), places(after));
        let left = old.iter().filter(|place| !new.contains(place)).cloned().collect();
        Moves { left, taken: new.into_iter().filter(|place| !old.contains(place)).collect() }
    }
}

/// What changes of where an entity is found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Moves {
    /// Where it was and is no more.
    pub left: Vec<Place>,
    /// Where it was not and is now.
    pub taken: Vec<Place>,
}

/// What a fold says of an entity. The rest of the row is the ledger's to fill in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The matter whose readers may see it.
    pub matter: Name,
    /// Its data class.
    pub class: Name,
    /// What is known of it, in canonical JSON.
    pub facts: Arc<str>,
}
