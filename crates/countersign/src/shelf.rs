//! Documents that others asked for lately, so that each is not read again for everyone who asks. However many documents
//! there are, the shelf holds few.

use countersign_contract::{AnyRecord, ContractInfo};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many documents stand on it.
const COUNT_MAX: usize = 64;
/// How many bytes their files may have together. One document may be larger: then it stands alone.
const BYTES_MAX: usize = 8 << 20;

/// A document that may be used by others: it passes on its own.
#[derive(Debug)]
pub struct Loaded {
    pub contract: ContractInfo,
    pub records: Vec<AnyRecord>,
    /// How long its file is.
    pub bytes: usize,
}

impl Loaded {
    /// The record of the document that is called `name`.
    pub fn record(&self, name: &str) -> Option<AnyRecord> {
        let called = |record: &&AnyRecord| (self.contract.names)(record).iter().any(|it| it == name);
        self.records.iter().find(called).cloned()
    }
}

/// Which of several documents with the same name is meant.
#[derive(Debug, Clone, Copy)]
pub enum Choice {
    One(usize),
    Contested,
    None,
}

/// Contract, name, and the folder if the documents of one folder are meant.
type Wanted<'k> = (&'k str, &'k str, Option<&'k Path>);

/// The shelf. It may be used from several threads at once; two that want the same document may both read it.
#[derive(Debug, Default)]
pub struct Shelf {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// By number, with when each was last asked for. A document that cannot be used is kept as that.
    documents: HashMap<usize, (u64, Option<Arc<Loaded>>)>,
    clock: u64,
    bytes: usize,
    /// What was chosen among several. Names only, and no more of them than there are documents and askers' folders.
    choices: HashMap<(String, String, Option<PathBuf>), Choice>,
}

impl Shelf {
    /// Document `number`, from the shelf or else from `load`.
    pub fn get(&self, number: usize, load: impl FnOnce() -> Option<Loaded>) -> Option<Arc<Loaded>> {
        if let Some(found) = self.lock().touch(number) {
            return found;
        }
        let loaded = load().map(Arc::new);
        self.lock().put(number, loaded.clone());
        loaded
    }

    /// What is meant by a name. Among very many documents of one name all are looked at once, not once for each asker.
    pub fn choice(&self, wanted: Wanted<'_>, choose: impl FnOnce() -> Choice) -> Choice {
        let key = (wanted.0.to_owned(), wanted.1.to_owned(), wanted.2.map(Path::to_owned));
        if let Some(choice) = self.lock().choices.get(&key) {
            return *choice;
        }
        let choice = choose();
        self.lock().choices.insert(key, choice);
        choice
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn touch(&mut self, number: usize) -> Option<Option<Arc<Loaded>>> {
        self.clock += 1;
        let (used, loaded) = self.documents.get_mut(&number)?;
        *used = self.clock;
        Some(loaded.clone())
    }

    fn put(&mut self, number: usize, loaded: Option<Arc<Loaded>>) {
        self.clock += 1;
        self.bytes += size(loaded.as_ref());
        if let Some((_, old)) = self.documents.insert(number, (self.clock, loaded)) {
            self.bytes -= size(old.as_ref());
        }
        while self.documents.len() > 1 && (self.documents.len() > COUNT_MAX || self.bytes > BYTES_MAX) {
            let oldest = self.documents.iter().min_by_key(|(_, (used, _))| *used).map(|(number, _)| *number);
            let Some((_, old)) = oldest.and_then(|number| self.documents.remove(&number)) else { break };
            self.bytes -= size(old.as_ref());
        }
    }
}

fn size(loaded: Option<&Arc<Loaded>>) -> usize {
    loaded.map_or(0, |loaded| loaded.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn loaded(bytes: usize) -> Option<Loaded> {
        let contract = *countersign_domain::contracts().first()?;
        Some(Loaded { contract, records: Vec::new(), bytes })
    }

    #[test]
    fn a_document_is_read_once_while_it_stands_on_the_shelf() {
        let (shelf, reads) = (Shelf::default(), Cell::new(0));
        let get = |number| {
            shelf.get(number, || {
                reads.set(reads.get() + 1);
                loaded(10)
            })
        };
        for _ in 0..100 {
            assert!(get(1).is_some() && get(2).is_some());
        }
        assert_eq!(reads.get(), 2);
    }

    #[test]
    fn the_shelf_holds_few_documents_and_few_bytes() {
        let shelf = Shelf::default();
        for number in 0..1000 {
            shelf.get(number, || loaded(1));
        }
        assert_eq!(shelf.lock().documents.len(), COUNT_MAX);
        for number in 0..10 {
            shelf.get(2000 + number, || loaded(BYTES_MAX / 2));
        }
        assert!(shelf.lock().bytes <= BYTES_MAX);
        shelf.get(3000, || loaded(3 * BYTES_MAX));
        assert_eq!(shelf.lock().documents.len(), 1);
    }
}
