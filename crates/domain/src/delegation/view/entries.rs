//! Which entries of the audit trail the ledger has, for whoever compares them with what lies in the repository.

use crate::deciding::{Moment, Need, Range, Refusal, Seen, Tree, View, ViewInfo};
use crate::delegation::row::delegation_of;
use crate::delegation::state;
use countersign_contract::{List, Text, shape};

/// How many are shown.
const ENTRIES_MAX: usize = 10_000;

shape! {
    /// The entries of the audit trail, from a time on.
    pub closed struct ListEntries {
        /// From this time on, as the ledger writes times, or the beginning of one; from the first on, if it is not said.
        pub since: Option<Text<1, 30>> = "2025-12-25",
    }
}

shape! {
    /// An entry of the audit trail.
    pub struct EntryShown {
        /// The entry.
        pub audit_entry_id: String,
        /// The instruction that it is about.
        pub instruction_id: String,
    }
}

shape! {
    /// The entries of the audit trail.
    pub struct EntriesShown {
        /// The entries, oldest first.
        pub entries: List<EntryShown>,
        /// Whether there are more than are shown.
        pub more: bool,
    }
}

impl ListEntries {
    fn range(&self) -> Range {
        state::answered_since(self.since.as_ref().map_or("", |since| since.as_str()), ENTRIES_MAX + 1)
    }
}

impl View for ListEntries {
    const INFO: ViewInfo =
        ViewInfo { id: "delegation.entries", summary: "Which entries of the audit trail the ledger has" };
    type Shown = EntriesShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let range = self.range();
        let hits = seen.range_so_far(&range).into_iter().flatten().map(|(_, key)| Need::Entity(key.clone()));
        let hits: Vec<Need> = hits.collect();
        hits.into_iter().chain([Need::Range(range)]).collect()
    }

    fn render(&self, seen: &Seen, _: &Moment, _: Option<&Tree>) -> Result<EntriesShown, Refusal> {
        let rows = self.range();
        let rows = seen.range(&rows).filter_map(|(_, key)| delegation_of(seen.entity(key)));
        let mut entries: Vec<EntryShown> = rows
            .map(|row| EntryShown { audit_entry_id: row.audit_entry_id, instruction_id: row.instruction_id })
            .collect();
        let more = entries.len() > ENTRIES_MAX;
        entries.truncate(ENTRIES_MAX);
        Ok(EntriesShown { entries: entries.into(), more })
    }
}
