//! Documents that are checked together.

use crate::check::Checked;
use crate::contract::AnyRecord;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

/// The documents that were given with the one being checked.
pub trait Others: std::fmt::Debug + Sync {
    /// The record of a contract under a name.
    fn find(&self, contract: &str, name: &str) -> Option<AnyRecord>;

    /// Whether nothing was given at all.
    fn is_empty(&self) -> bool;

    /// Whether records of a contract were given to be compared with, so that one must match.
    fn given(&self, contract: &str) -> bool;

    /// Whether several different records of a contract claim a name, so that none can be taken for the one meant.
    fn contested(&self, _contract: &str, _name: &str) -> bool {
        false
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
    links: Links,
}

impl std::fmt::Debug for Set {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Set").field("contracts", &self.records.keys()).finish_non_exhaustive()
    }
}

impl Set {
    /// Adds a record under its names. The first under a name stays.
    fn add(&mut self, contract: &'static str, names: &[String], record: &AnyRecord) {
        let records = self.records.entry(contract).or_default();
        for name in names {
            records.entry(name.clone()).or_insert_with(|| AnyRecord::clone(record));
        }
    }

    /// The record of a contract, if there is exactly one.
    pub fn only(&self, contract: &str) -> Option<AnyRecord> {
        // A record stands here once for each of its names.
        let mut records = self.records.get(contract)?.values();
        let first = records.next()?;
        records.all(|other| Arc::ptr_eq(other, first)).then(|| Arc::clone(first))
    }

    /// Adds the records of a document that was checked.
    pub fn add_checked(&mut self, checked: &Checked) {
        let Some(contract) = checked.contract else { return };
        for record in &checked.records {
            let names = (contract.names)(record);
            self.add(contract.name, &names, record);
            for kin in (contract.kin)(record).iter().filter(|kin| kin.contract == contract.name) {
                for name in &names {
                    self.links.add(contract.name, name, &kin.name);
                }
            }
        }
    }
}

impl Others for Set {
    fn find(&self, contract: &str, name: &str) -> Option<AnyRecord> {
        self.records.get(contract)?.get(name).cloned()
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

/// Who needs whom among records of one contract, and the circles in it. They are found once, when first asked for, in
/// time linear in the links.
#[derive(Debug, Default)]
pub struct Links {
    needs: BTreeMap<(&'static str, String), Vec<String>>,
    circles: OnceLock<HashMap<(&'static str, String), Vec<String>>>,
}

impl Links {
    /// Notes that a record needs another of its own contract.
    pub fn add(&mut self, contract: &'static str, name: &str, needs: &str) {
        self.needs.entry((contract, name.to_owned())).or_default().push(needs.to_owned());
    }

    /// The circle that a record is on, beginning with it.
    pub fn circle(&self, contract: &'static str, name: &str) -> Option<Vec<String>> {
        let circles = self.circles.get_or_init(|| self.find_circles());
        circles.get(&(contract, name.to_owned())).cloned()
    }

    /// Walks every record once, depth first and without recursion. A need that leads back to a record on the current
    /// path closes a circle, which is noted for each record on it.
    fn find_circles(&self) -> HashMap<(&'static str, String), Vec<String>> {
        let mut circles = HashMap::new();
        let mut done: HashMap<(&str, &str), bool> = HashMap::new();
        for (contract, start) in self.needs.keys() {
            let mut path: Vec<(&str, usize)> = Vec::new();
            if !done.contains_key(&(*contract, start.as_str())) {
                path.push((start, 0));
                done.insert((contract, start), false);
            }
            while let Some((name, next)) = path.last_mut() {
                let needs = self.needs.get(&(*contract, (*name).to_owned())).map_or(&[][..], Vec::as_slice);
                let Some(need) = needs.get(*next) else {
                    done.insert((contract, name), true);
                    path.pop();
                    continue;
                };
                *next += 1;
                match done.get(&(*contract, need.as_str())) {
                    None => {
                        done.insert((contract, need), false);
                        path.push((need, 0));
                    }
                    Some(false) => {
                        let from = path.iter().position(|(name, _)| name == need).unwrap_or(0);
                        let circle: Vec<&str> = path[from..].iter().map(|(name, _)| *name).collect();
                        for (turn, name) in circle.iter().enumerate() {
                            let from_here = circle[turn..].iter().chain(&circle[..turn]);
                            let from_here = from_here.map(|name| (*name).to_owned()).collect();
                            circles.entry((*contract, (*name).to_owned())).or_insert(from_here);
                        }
                    }
                    Some(true) => {}
                }
            }
        }
        circles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found_from_each_of_its_members_and_from_no_one_else() {
        let mut links = Links::default();
        for (name, needs) in [("a", "b"), ("b", "c"), ("c", "b"), ("d", "a"), ("e", "e")] {
            links.add("t", name, needs);
        }
        let circle = |name| links.circle("t", name);
        assert_eq!(circle("a"), None);
        assert_eq!(circle("b"), Some(vec!["b".to_owned(), "c".to_owned()]));
        assert_eq!(circle("c"), Some(vec!["c".to_owned(), "b".to_owned()]));
        assert_eq!(circle("d"), None);
        assert_eq!(circle("e"), Some(vec!["e".to_owned()]));
    }
}
