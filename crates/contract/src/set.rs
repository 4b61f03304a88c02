//! Documents that are checked together.

use crate::check::Checked;
use crate::contract::AnyRecord;
use crate::links::Links;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The documents that were given with the one being checked.
pub trait Others: std::fmt::Debug + Sync {
    /// The record of a contract under a name.
    fn find(&self, contract: &str, name: &str) -> Option<AnyRecord>;

    /// Whether nothing was given at all.
    fn is_empty(&self) -> bool;

    /// Whether records of a contract were given to be compared with, so that one must match.
    fn given(&self, contract: &str) -> bool;

    /// The records of a contract that were given to be compared with, in the order of their names. Documents that are
    /// merely checked in the same go are not among them.
    fn all_given(&self, _contract: &str) -> Vec<AnyRecord> {
        Vec::new()
    }

    /// The contracts of the documents that were given to be compared with.
    fn contracts(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Whether several different records of a contract claim a name, so that none can be taken for the one meant.
    fn contested(&self, _contract: &str, _name: &str) -> bool {
        false
    }

    /// Whether there is any record of a contract under a name, be it one or several that differ.
    fn has(&self, contract: &str, name: &str) -> bool {
        self.find(contract, name).is_some() || self.contested(contract, name)
    }

    /// What was given and cannot be used, each with the reason. Nothing passes beside it.
    fn unreadable(&self) -> &[String] {
        &[]
    }

    /// The circle of records of one contract that need each other, if `name` is on one.
    fn circle(&self, contract: &'static str, name: &str) -> Option<Vec<String>>;
}

/// Nothing was given.
#[derive(Debug, Clone, Copy)]
pub struct Alone;

impl Others for Alone {
    fn find(&self, _: &str, _: &str) -> Option<AnyRecord> {
        None
    }

    fn is_empty(&self) -> bool {
        true
    }

    fn given(&self, _: &str) -> bool {
        false
    }

    fn circle(&self, _: &'static str, _: &str) -> Option<Vec<String>> {
        None
    }
}

/// Records held in memory, by contract and name, with what each needs of its own contract.
#[derive(Default)]
pub struct Set {
    records: HashMap<&'static str, HashMap<String, AnyRecord>>,
    contested: HashSet<(&'static str, String)>,
    links: Links,
}

impl std::fmt::Debug for Set {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Set").field("contracts", &self.records.keys()).finish_non_exhaustive()
    }
}

impl Set {
    /// The record of a contract, if there is exactly one.
    pub fn only(&self, contract: &str) -> Option<AnyRecord> {
        // A record stands here once for each of its names.
        let mut records = self.records.get(contract)?.values();
        let first = records.next()?;
        records.all(|other| Arc::ptr_eq(other, first)).then(|| Arc::clone(first))
    }

    /// Adds the records of a document that was checked. Two that say the same under one name are one.
    pub fn add_checked(&mut self, checked: &Checked) {
        let Some(contract) = checked.contract else { return };
        let mut named: HashMap<String, &AnyRecord> = HashMap::new();
        for record in &checked.records {
            let names = (contract.names)(record);
            for kin in (contract.kin)(record).iter().filter(|kin| kin.contract == contract.name) {
                names.iter().for_each(|name| self.links.add(contract.name, name, &kin.name));
            }
            // Of the lines of one document the last under a name tells how things stand.
            named.extend(names.into_iter().map(|name| (name, record)));
        }
        let records = self.records.entry(contract.name).or_default();
        for (name, record) in named {
            match records.get(&name) {
                Some(other) if !(contract.same)(other, record) => {
                    self.contested.insert((contract.name, name));
                }
                Some(_) => {}
                None => {
                    records.insert(name, AnyRecord::clone(record));
                }
            }
        }
    }
}

impl Others for Set {
    fn find(&self, contract: &str, name: &str) -> Option<AnyRecord> {
        self.records.get(contract)?.get(name).filter(|_| !self.contested(contract, name)).cloned()
    }

    fn all_given(&self, contract: &str) -> Vec<AnyRecord> {
        let mut named: Vec<(&String, &AnyRecord)> = self.records.get(contract).into_iter().flatten().collect();
        named.sort_unstable_by_key(|(name, _)| *name);
        // A record stands here once for each of its names.
        let mut seen = HashSet::new();
        named.retain(|(_, record)| seen.insert(Arc::as_ptr(record).cast::<()>()));
        named.into_iter().map(|(_, record)| AnyRecord::clone(record)).collect()
    }

    fn contracts(&self) -> Vec<&'static str> {
        let mut contracts: Vec<&'static str> = self.records.keys().copied().collect();
        contracts.sort_unstable();
        contracts
    }

    fn contested(&self, contract: &str, name: &str) -> bool {
        self.contested.iter().any(|(other, contested)| *other == contract && contested == name)
    }

    fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    fn given(&self, contract: &str) -> bool {
        self.records.contains_key(contract)
    }

    fn circle(&self, contract: &'static str, name: &str) -> Option<Vec<String>> {
        self.links.circle(contract, name)
    }
}
