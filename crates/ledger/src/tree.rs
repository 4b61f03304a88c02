//! The Merkle tree of RFC 6962 over the events' bytes, kept in tiles of 256 hashes.
//!
//! A tile of level 0 is written once, when its 256 leaves are there. A tile of a higher level grows by one hash whenever a
//! tile beneath it is complete. The leaves past the last whole tile are hashed from the events, of which there are at most
//! 255: most appends write no tree at all, and a proof reads a tile or two for each level.

use crate::error::{Error, Result};
use crate::hash::Hash;
use crate::rows::{RowKey, RowValue};
use crate::store::Store;
use std::cell::RefCell;
use tlog_tiles::tlog;

/// How many hashes a tile has.
pub const TILE_HASHES: u64 = 256;
const TILE_HEIGHT: u8 = 8;
const HASH_BYTES: usize = 32;

/// The leaf that an event is.
pub fn leaf(body: &str) -> Hash {
    Hash(tlog::record_hash(body.as_bytes()).0)
}

/// The root over some hashes whose number is a power of two.
fn subtree(hashes: &[Hash]) -> Hash {
    match hashes {
        [] => Hash::NONE,
        [one] => *one,
        _ => {
            let (left, right) = hashes.split_at(hashes.len() / 2);
            Hash(tlog::node_hash(tlog::Hash(subtree(left).0), tlog::Hash(subtree(right).0)).0)
        }
    }
}

fn split(bytes: &[u8]) -> Vec<Hash> {
    bytes.chunks_exact(HASH_BYTES).filter_map(|it| it.try_into().ok().map(Hash)).collect()
}

/// The right edge of a tree: for each level the hashes of the tile that is not complete yet. With it a tree grows without
/// a look at what lies behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edge {
    size: u64,
    levels: Vec<Vec<Hash>>,
}

impl Edge {
    /// How many leaves the tree has.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Adds a leaf, and hands out the tiles that change in the store: whole ones, and growing ones of higher levels.
    pub fn add(&mut self, leaf: Hash, mut changed: impl FnMut(RowKey, RowValue)) {
        let mut index = self.size;
        self.size += 1;
        let mut hash = leaf;
        for level in 0.. {
            if self.levels.len() == level {
                self.levels.push(Vec::new());
            }
            let hashes = &mut self.levels[level];
            hashes.push(hash);
            let complete = hashes.len() as u64 == TILE_HASHES;
            if complete || level > 0 {
                let bytes = hashes.iter().flat_map(|it| it.0).collect();
                // There are at most eight levels above 2^64 leaves.
                changed(RowKey::Tile(level as u8, index / TILE_HASHES), RowValue::Tile(bytes));
            }
            if !complete {
                return;
            }
            hash = subtree(hashes);
            hashes.clear();
            index /= TILE_HASHES;
        }
    }

    /// Reads the edge of the tree over the first `size` events.
    pub fn load(store: &mut dyn Store, size: u64) -> Result<Self> {
        let whole = size - size % TILE_HASHES;
        let tail = (size - whole) as usize;
        let rows = if tail == 0 { Vec::new() } else { store.events(whole + 1, None, tail)? };
        if rows.len() != tail {
            return Err(Error::Damaged(format!("of the events after {whole} there are {} and not {tail}", rows.len())));
        }
        let mut levels = vec![rows.iter().map(|row| leaf(&row.body)).collect()];
        let mut level = 1;
        let mut entries = size / TILE_HASHES;
        while entries > 0 {
            let kept = (entries % TILE_HASHES) as usize;
            let number = entries / TILE_HASHES;
            let hashes = if kept == 0 { Vec::new() } else { tile(store, level, number)? };
            if hashes.len() != kept {
                return Err(tile_missing(level, number));
            }
            levels.push(hashes);
            entries = number;
            level += 1;
        }
        Ok(Self { size, levels })
    }

    /// The root of the tree. Each level's hashes are a run of whole subtrees; from the smallest up, they are what RFC 6962
    /// joins at the right.
    pub fn root(&self) -> Hash {
        let mut root: Option<Hash> = None;
        for hashes in &self.levels {
            let mut from = hashes.len();
            while from > 0 {
                // The lowest bit of what is left is the next subtree from the right.
                let width = 1 << from.trailing_zeros();
                let left = subtree(&hashes[from - width..from]);
                root = Some(match root {
                    Some(right) => Hash(tlog::node_hash(tlog::Hash(left.0), tlog::Hash(right.0)).0),
                    None => left,
                });
                from -= width;
            }
        }
        root.unwrap_or(Hash(tlog::EMPTY_HASH.0))
    }
}

fn tile(store: &mut dyn Store, level: u8, number: u64) -> Result<Vec<Hash>> {
    match store.get(&[RowKey::Tile(level, number)])?.pop().flatten() {
        Some(RowValue::Tile(bytes)) => Ok(split(&bytes)),
        _ => Err(tile_missing(level, number)),
    }
}

fn tile_missing(level: u8, number: u64) -> Error {
    Error::Damaged(format!("tile {number} of level {level} of the tree is missing or cut"))
}

/// Reads hashes of the tree from its tiles, for proofs.
struct Tiles<'a> {
    store: RefCell<&'a mut dyn Store>,
    edge: Edge,
    trouble: RefCell<Option<Error>>,
}

impl Tiles<'_> {
    fn hash(&self, index: u64) -> Result<Hash> {
        let (level, n) = tlog::split_stored_hash_index(index);
        let tile_level = level / TILE_HEIGHT;
        let width = 1u64 << (level % TILE_HEIGHT);
        let (number, offset) = (n * width / TILE_HASHES, (n * width % TILE_HASHES) as usize);
        let complete = self.edge.size >> (u32::from(TILE_HEIGHT) * (u32::from(tile_level) + 1));
        let at_edge = number >= complete;
        let stored;
        let hashes = if at_edge {
            self.edge.levels.get(usize::from(tile_level)).map_or(&[][..], Vec::as_slice)
        } else {
            stored = tile(*self.store.borrow_mut(), tile_level, number)?;
            &stored
        };
        let hashes = hashes.get(offset..offset + width as usize).ok_or_else(|| tile_missing(tile_level, number))?;
        Ok(subtree(hashes))
    }
}

impl tlog::HashReader for Tiles<'_> {
    fn read_hashes(&self, indexes: &[u64]) -> std::result::Result<Vec<tlog::Hash>, tlog::Error> {
        let read = |index: &u64| {
            self.hash(*index).map(|hash| tlog::Hash(hash.0)).map_err(|error| {
                self.trouble.replace(Some(error));
                tlog::Error::IndexesNotInTree
            })
        };
        indexes.iter().map(read).collect()
    }
}

fn proven<T>(tiles: &Tiles<'_>, proof: std::result::Result<T, tlog::Error>) -> Result<T> {
    proof.map_err(|error| tiles.trouble.take().unwrap_or_else(|| Error::Damaged(error.to_string())))
}

/// The hashes that show that event `seq` is in the tree over the first `size` events.
pub fn prove_event(store: &mut dyn Store, size: u64, seq: u64) -> Result<Vec<Hash>> {
    if seq == 0 || seq > size {
        return Err(Error::Malformed(format!("there is no event {seq} among the first {size}")));
    }
    let size_now = store.head()?.seq;
    let edge = Edge::load(store, size_now)?;
    let tiles = Tiles { store: RefCell::new(store), edge, trouble: RefCell::new(None) };
    let proof = proven(&tiles, tlog::prove_record(size, seq - 1, &tiles))?;
    Ok(proof.into_iter().map(|it| Hash(it.0)).collect())
}

/// The root of the tree over the first `size` events, from its tiles.
pub fn root_at(store: &mut dyn Store, size: u64) -> Result<Hash> {
    let size_now = store.head()?.seq;
    let edge = Edge::load(store, size_now)?;
    if size == 0 {
        return Ok(Edge::default().root());
    }
    let tiles = Tiles { store: RefCell::new(store), edge, trouble: RefCell::new(None) };
    Ok(Hash(proven(&tiles, tlog::tree_hash(size, &tiles))?.0))
}

/// Whether a proof shows that a leaf is event `seq` of the tree with that size and root.
pub fn check_event(proof: &[Hash], size: u64, root: Hash, seq: u64, leaf: Hash) -> bool {
    let proof: Vec<_> = proof.iter().map(|it| tlog::Hash(it.0)).collect();
    seq >= 1 && seq <= size && tlog::check_record(&proof, size, tlog::Hash(root.0), seq - 1, tlog::Hash(leaf.0)).is_ok()
}

/// A tree that is known only by the roots of its whole subtrees, largest first: enough to grow it and to know its root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Peaks {
    size: u64,
    peaks: Vec<Hash>,
}

impl Peaks {
    /// From roots that were kept; as many as the size has bits that are set.
    pub fn of(size: u64, peaks: Vec<Hash>) -> Option<Self> {
        (peaks.len() as u32 == size.count_ones()).then_some(Self { size, peaks })
    }

    /// How many leaves there are.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The roots, largest subtree first.
    pub fn hashes(&self) -> &[Hash] {
        &self.peaks
    }

    /// Adds a leaf.
    pub fn add(&mut self, leaf: Hash) {
        let mut hash = leaf;
        // Each bit that carries joins two subtrees of one size.
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.peaks.pop() {
                hash = join(left, hash);
            }
        }
        self.peaks.push(hash);
        self.size += 1;
    }

    /// The root of the tree.
    pub fn root(&self) -> Hash {
        let joined = self.peaks.iter().rev().copied().reduce(|right, left| join(left, right));
        joined.unwrap_or(Hash(tlog::EMPTY_HASH.0))
    }
}

fn join(left: Hash, right: Hash) -> Hash {
    Hash(tlog::node_hash(tlog::Hash(left.0), tlog::Hash(right.0)).0)
}

/// The subtrees of the tree over the first `size` events, from its tiles.
pub fn peaks_at(store: &mut dyn Store, size: u64) -> Result<Peaks> {
    let size_now = store.head()?.seq;
    let edge = Edge::load(store, size_now)?;
    let tiles = Tiles { store: RefCell::new(store), edge, trouble: RefCell::new(None) };
    let mut peaks = Vec::new();
    let mut before = 0;
    for level in (0..64u8).rev().filter(|level| size >> level & 1 == 1) {
        peaks.push(tiles.hash(tlog::stored_hash_index(level, before >> level))?);
        before += 1 << level;
    }
    Ok(Peaks { size, peaks })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use ct_merkle::mem_backed_tree::MemoryBackedTree;

    /// Another implementation of RFC 6962 is the second opinion.
    #[test]
    fn roots_are_those_of_another_implementation() {
        let mut other = MemoryBackedTree::<sha2::Sha256, String>::new();
        let (mut edge, mut peaks) = (Edge::default(), Peaks::default());
        for number in 0..70_000u32 {
            let body = format!("event {number}");
            edge.add(leaf(&body), |_, _| {});
            peaks.add(leaf(&body));
            other.push(body);
            if number < 600 || number % 8191 == 0 || number > 69_990 {
                let root: [u8; 32] = (*other.root().as_bytes()).into();
                assert_eq!(edge.root().0, root, "{number}");
                assert_eq!(peaks.root().0, root, "{number}");
            }
        }
    }
}
