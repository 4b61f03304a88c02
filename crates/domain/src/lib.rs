//! The domains of Countersign, one folder each: what may be said in them, and what is refused.
//!
//! Every folder has the same rooms: `mod.rs` (what it is, its states, its invariants), `payload/` (the contracts, one
//! file each), `rules/` (a folder for each contract, a file for each rule), and, where it has come so far, `command.rs`,
//! `event.rs`, `state.rs` and `view.rs`. `deciding` is how a command is decided.
//!
//! **Invariant:** nothing here reads a clock, a file, a socket, a random number or a database.
//! Beside them stands what several speak of: `ids`, `mark` (what an answer of a person is bound to), `paths`, `plain` (paths of
//! which there is nothing to say), `rewriting` (what is written once stays so), and `wording` (whether evidence says anything).
//! **Invariant:** a folder uses those and the folders above it in the list below, never those beneath.
//! **Absent on purpose:** async, SQL, HTTP, HTML, terminals.

pub mod deciding;
pub mod ids;
mod mark;
pub mod paths;
mod plain;
mod rewriting;
mod wording;

pub mod project;

pub mod work;

pub mod delegation;

pub mod handoff;

pub mod validation;

pub mod plan;

use crate::deciding::{Facts, Happened, Key, Place};
use countersign_contract::{ContractInfo, RuleInfo, rules};
use std::sync::LazyLock;

/// Every contract, by domain.
pub fn contracts() -> &'static [ContractInfo] {
    static ALL: LazyLock<Vec<ContractInfo>> = LazyLock::new(|| {
        [work::CONTRACTS, delegation::CONTRACTS, handoff::CONTRACTS, validation::CONTRACTS, plan::CONTRACTS].concat()
    });
    &ALL
}

/// The contract with this name.
pub fn contract(name: &str) -> Option<&'static ContractInfo> {
    contracts().iter().find(|contract| contract.name == name)
}

/// Every rule: those that hold for any contract or for a value that several hold, then those of each contract.
pub fn rules() -> Vec<&'static RuleInfo> {
    let own = contracts().iter().flat_map(|contract| (contract.rules)());
    rules::RULES.iter().chain(work::rules::SHARED).copied().chain(own).collect()
}

/// Which entities an event changes, in any domain.
pub fn touched(event: &Happened<'_>) -> Vec<Key> {
    project::touched(event)
        .into_iter()
        .chain(work::touched(event))
        .chain(handoff::touched(event))
        .chain(delegation::touched(event))
        .chain(validation::touched(event))
        .chain(plan::touched(event))
        .collect()
}

/// What an entity is after an event; nothing, if it is gone.
pub fn evolve(key: &Key, before: Option<&Facts>, event: &Happened<'_>) -> Option<Facts> {
    let value = || before.map(Facts::value);
    let after = match key.kind.as_str() {
        "project" | "record" | "token" => project::evolve(key, value(), event),
        "trace" => handoff::evolve(value(), event),
        "delegation" | "delegation_day" | "delegation_end" | "delegation_planned" => {
            delegation::evolve(key, value(), event)
        }
        "promise" => validation::evolve(value(), event),
        "plan" => plan::evolve(event),
        _ => return work::evolve(key, before, event),
    };
    after.map(Facts::from)
}

/// Where an entity is found.
pub fn places<'f>(key: &Key, facts: &'f Facts) -> &'f [Place] {
    facts.places(|| match key.kind.as_str() {
        "project" | "record" | "token" => project::places(key, facts),
        "trace" => Vec::new(),
        "delegation" | "delegation_day" | "delegation_end" | "delegation_planned" => delegation::places_of(key, facts),
        "promise" => validation::places_of(facts),
        _ => work::places_of(key, facts),
    })
}

/// The same of something that may not be there.
pub fn places_if_any<'f>(key: &Key, facts: Option<&'f Facts>) -> &'f [Place] {
    facts.map_or(&[], |facts| places(key, facts))
}

/// What an event says, in a few words for a list.
pub fn summary(event: &Happened<'_>) -> Option<String> {
    project::summary(event)
        .or_else(|| work::view::summary(event))
        .or_else(|| handoff::view::summary(event))
        .or_else(|| delegation::view::summary(event))
        .or_else(|| validation::view::summary(event))
        .or_else(|| plan::view::summary(event))
}
