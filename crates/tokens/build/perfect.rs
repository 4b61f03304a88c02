//! Finds the pilots of a perfect hash: for each group of keys a small number that moves all of them to free slots.

use crate::layout::{pilot_index, slot_index};

/// Keys that share a pilot, on average and at most. More keys make fewer pilots and a longer search.
const KEYS_PER_PILOT: usize = 5;

/// Slots for each hundred keys. The few that stay free are what lets the search end soon.
const SLOTS_PER_HUNDRED_KEYS: usize = 104;

/// Which key went to which slot.
pub(crate) struct Table {
    pilots: Vec<u16>,
    slots: Vec<Option<usize>>,
}

/// Places every key, given by its hash. Panics on two equal hashes: then the constants of `layout` must change.
pub(crate) fn build(hashes: &[u64]) -> Table {
    let pilot_count = (hashes.len() / KEYS_PER_PILOT).next_power_of_two();
    let slot_count = hashes.len() * SLOTS_PER_HUNDRED_KEYS / 100 + 1;
    let mut groups = vec![Vec::new(); pilot_count];
    for (key, &hash) in hashes.iter().enumerate() {
        groups[pilot_index(hash, pilot_count)].push(key);
    }

    // Large groups are placed first, while there is much room.
    let mut order: Vec<usize> = (0..pilot_count).collect();
    order.sort_by_key(|&group| std::cmp::Reverse(groups[group].len()));

    let mut table = Table { pilots: vec![0; pilot_count], slots: vec![None; slot_count] };
    for group in order {
        table.pilots[group] = (0..=u16::MAX)
            .find(|&pilot| table.place(&groups[group], hashes, pilot))
            .expect("some pilot moves the group to free slots");
    }
    table
}

impl Table {
    /// One entry for each slot: what `entry` says of the key there, or `empty`.
    pub(crate) fn fill<T: Copy>(&self, empty: T, entry: impl Fn(usize) -> T) -> Vec<T> {
        self.slots.iter().map(|slot| slot.map_or(empty, &entry)).collect()
    }

    pub(crate) fn pilots(&self) -> Vec<u8> {
        self.pilots.iter().flat_map(|pilot| pilot.to_le_bytes()).collect()
    }

    /// Puts all keys of a group where this pilot sends them, or none of them.
    fn place(&mut self, group: &[usize], hashes: &[u64], pilot: u16) -> bool {
        for (placed, &key) in group.iter().enumerate() {
            let slot = slot_index(hashes[key], pilot, self.slots.len());
            if self.slots[slot].is_some() {
                for &key in &group[..placed] {
                    let slot = slot_index(hashes[key], pilot, self.slots.len());
                    self.slots[slot] = None;
                }
                return false;
            }
            self.slots[slot] = Some(key);
        }
        true
    }
}
