//! Verifying a store: everything that can be recomputed is, and compared with what is there.
//!
//! ```text
//! 1  the store itself     files and schema
//! 2  each event           hash, chain, canonical bytes, columns, texts; checkpoints where they stand
//! 3  what is derived      refolded into a scratch store, then compared row by row
//! ```
//!
//! The first event that is not right ends it: what follows from it would only repeat the finding.

use crate::chain::{Chain, Hashes, text_faults};
use crate::checkpoint::Checkpoint;
use crate::due::{self, Differences};
use crate::erasure::META_SCRUB;
use crate::error::{Error, Result};
use crate::event::{Event, TextPlace};
use crate::fold::Fold;
use crate::hash::Hash;
use crate::intake;
use crate::ledger::{PAGE_EVENTS, PATIENCE};
use crate::pages::{Hashed, Rows, ahead};
use crate::rows::{EventRow, RowKey, RowValue, Table, TextRow};
use crate::scratch::Scratch;
use crate::sqlite::Sqlite;
use crate::store::{Head, Store};
use crate::tree::{Peaks, peaks_at};
use crate::writer::{META_CLOSED, META_PROJECT, META_SHAPE};
use std::collections::BTreeSet;

/// How many differences between tables are looked at in full.
const SUSPECTS_MAX: usize = 10_000;
/// How many findings are told of one table.
const TOLD_MAX: usize = 3;

/// What to verify.
#[derive(Debug, Clone, Default)]
pub struct Verifying {
    /// The first event to look at; 1 for all. From later on only the chain and the texts can be verified.
    pub from: u64,
    /// What is known from elsewhere of how the log once ended.
    pub checkpoints: Vec<Checkpoint>,
}

/// Something that does not match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The event that it is about.
    pub seq: Option<u64>,
    /// What does not match.
    pub what: String,
}

/// What was verified, and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The project's id.
    pub project: String,
    /// The last event that was looked at and is right.
    pub head: Head,
    /// The root of the tree up to there.
    pub root: Hash,
    /// How many events were looked at.
    pub events: u64,
    /// How many texts were found as they were recorded.
    pub texts: u64,
    /// How many were erased.
    pub erased: u64,
    /// How many derived rows were compared.
    pub rows: u64,
    /// How many checkpoints were met on the way and matched.
    pub checkpoints: u64,
    /// Why the ledger takes no commands, if it does not.
    pub closed: Option<String>,
    /// Everything that does not match.
    pub findings: Vec<Finding>,
}

/// Verifies a store against itself, what a fold makes of its events, and what is known from elsewhere. Says how many
/// steps are done of how many.
pub fn verify(
    store: &mut dyn Store,
    fold: &dyn Fold,
    verifying: &Verifying,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Verified> {
    let mut run = Run::new(store, verifying)?;
    run.examine(store)?;
    let whole = verifying.from <= 1;
    let mut scratch = if whole { Some(Scratch::begin(fold)?) } else { None };
    run.follow(store, scratch.as_mut(), progress)?;
    // What the store itself lacks says nothing of the rows; a bad event does.
    let chain_holds = run.verified.findings.iter().all(|finding| finding.seq.is_none());
    if let (Some(mut scratch), true) = (scratch, chain_holds) {
        run.compare(store, fold, &mut scratch)?;
        run.look_at_deadlines(store)?;
    }
    run.verified.root = run.chain.peaks().root();
    run.verified.head = run.chain.head();
    Ok(run.verified)
}

struct Run {
    chain: Chain,
    end: u64,
    checkpoints: Vec<Checkpoint>,
    /// Texts that are empty, and texts that some event says it emptied.
    empty: BTreeSet<TextPlace>,
    erased: BTreeSet<TextPlace>,
    from: u64,
    shape: Option<String>,
    verified: Verified,
}

impl Run {
    fn new(store: &mut dyn Store, verifying: &Verifying) -> Result<Self> {
        let mut meta = crate::pages::Rows::new(Table::Meta);
        let mut found = Vec::new();
        while let Some((RowKey::Meta(name), RowValue::Meta(value))) = meta.next(store)? {
            found.push((name, value));
        }
        let value = |name: &str| found.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let project = value(META_PROJECT).ok_or_else(|| Error::Damaged("it names no project".to_owned()))?;
        let head = store.head()?;
        let from = verifying.from.max(1);
        let chain = match from {
            1 => Chain::start(&project),
            from if from > head.seq => {
                return Err(Error::Malformed(format!("there is no event {from} yet; the last is {}", head.seq)));
            }
            from => Chain::after(&project, before(store, from)?, peaks_at(store, from - 1).unwrap_or_default()),
        };
        let (mut checkpoints, strange): (Vec<_>, Vec<_>) =
            verifying.checkpoints.iter().cloned().partition(|it| it.project == project);
        checkpoints.sort_by_key(|it| it.size);
        let mut run = Self {
            verified: Verified {
                project: project.clone(),
                head: chain.head(),
                root: Peaks::default().root(),
                events: 0,
                texts: 0,
                erased: 0,
                rows: 0,
                checkpoints: 0,
                closed: None,
                findings: Vec::new(),
            },
            chain,
            end: head.seq,
            checkpoints,
            empty: BTreeSet::new(),
            erased: BTreeSet::new(),
            from,
            shape: value(META_SHAPE),
        };
        for strange in strange {
            let what = format!("a checkpoint is of project {}, and this is {project}", strange.project);
            run.found(None, what + ": it says nothing of this log");
        }
        if let Some(why) = value(META_CLOSED) {
            if !intake::closes(&why) {
                run.found(
                    None,
                    format!("the row `closed` of the table `meta` is `{why}`, for which nothing closes a ledger"),
                );
            }
            // Nothing in the log says who closed it, so it is told rather than passed over.
            run.verified.closed = Some(why);
        }
        let known = [META_PROJECT, META_SHAPE, META_CLOSED, META_SCRUB];
        for (name, _) in found.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
            run.found(None, format!("the table `meta` has a row `{name}` that does not belong there"));
        }
        Ok(run)
    }

    fn found(&mut self, seq: Option<u64>, what: String) {
        self.verified.findings.push(Finding { seq, what });
    }

    fn examine(&mut self, store: &mut dyn Store) -> Result<()> {
        for fault in store.examine()? {
            self.found(None, fault);
        }
        Ok(())
    }

    /// Goes along the events.
    fn follow(
        &mut self,
        store: &mut dyn Store,
        mut scratch: Option<&mut Scratch<'_>>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<()> {
        self.meet_checkpoints();
        let (mut first, end) = (self.chain.head().seq + 1, self.end);
        let read = || {
            let page = (first <= end).then(|| read_page(store, first, end))?;
            Some(page.map(|(page, texts, unreadable)| {
                first += page.len() as u64;
                (Hashed::of(page), texts, unreadable)
            }))
        };
        let all = ahead(
            read,
            |(page, _, _)| page.add_leaves(),
            |(page, texts, unreadable)| {
                let good = self.follow_page(page, texts, scratch.as_deref_mut())?;
                progress(self.chain.head().seq, self.end);
                if !good {
                    return Ok(false);
                }
                let ends = unreadable.is_some();
                unreadable.into_iter().for_each(|(seq, why)| self.found(Some(seq), why));
                Ok(!ends)
            },
        )?;
        if !all {
            return Ok(());
        }
        self.finish_texts(store)?;
        for late in std::mem::take(&mut self.checkpoints) {
            let what = format!(
                "a checkpoint knows {} events, and there are {}: the log was cut or replaced",
                late.size, self.end
            );
            self.found(None, what);
        }
        Ok(())
    }

    /// Looks at some events and their texts; says whether all are right. What follows from those before the first that is
    /// not goes into the scratch store.
    fn follow_page(
        &mut self,
        Hashed { page, hashes }: Hashed,
        texts: Vec<TextRow>,
        mut scratch: Option<&mut Scratch<'_>>,
    ) -> Result<bool> {
        let mut texts = texts.into_iter().peekable();
        let mut good = true;
        for (row, mut hashes) in page.iter().zip(hashes) {
            let mut own = Vec::new();
            while let Some(text) = texts.next_if(|text| text.seq <= row.seq) {
                own.push(text);
            }
            let leaf = hashes.leaf(&row.body);
            let Some(event) = self.follow_one(row, hashes, &own) else {
                good = false;
                break;
            };
            if let Some(scratch) = scratch.as_deref_mut() {
                scratch.add(&event, leaf)?;
            }
        }
        if let Some(scratch) = scratch {
            scratch.write()?;
        }
        Ok(good)
    }

    /// Looks at one event, and gives it if it is right.
    fn follow_one<'a>(&mut self, row: &'a EventRow, hashes: Hashes, texts: &[TextRow]) -> Option<Event<'a>> {
        let event = match self.chain.follow_hashed(row, hashes) {
            Ok(event) => event,
            Err(faults) => {
                let seq = self.chain.head().seq + 1;
                faults.into_iter().for_each(|fault| self.found(Some(seq), fault));
                return None;
            }
        };
        let (mut faults, erased) = text_faults(&event, texts);
        if texts.iter().any(|text| text.seq != row.seq) {
            faults.push("before it lies a text that belongs to no event".to_owned());
        }
        self.erased.extend(event.erase.iter().copied());
        self.empty.extend(erased.iter().map(|n| (row.seq, *n)));
        self.verified.events += 1;
        self.verified.texts += (texts.len() - erased.len().min(texts.len())) as u64;
        self.verified.erased += erased.len() as u64;
        let right = faults.is_empty();
        faults.into_iter().for_each(|fault| self.found(Some(row.seq), fault));
        (right && self.meet_checkpoints()).then_some(event)
    }

    /// Compares the chain and the tree with the checkpoints of this size.
    fn meet_checkpoints(&mut self) -> bool {
        let head = self.chain.head();
        while let Some(checkpoint) = self.checkpoints.first().filter(|it| it.size <= head.seq).cloned() {
            self.checkpoints.remove(0);
            if checkpoint.size < head.seq {
                let what = format!("a checkpoint knows {} events, and only later ones were looked at", checkpoint.size);
                self.found(None, what + ": verify from the first event on");
                continue;
            }
            let mut faults = Vec::new();
            if checkpoint.head != head.hash && head.seq > 0 {
                faults.push(format!("its hash is {} and the checkpoint has {}", head.hash, checkpoint.head));
            }
            let root = self.chain.peaks().root();
            if checkpoint.root != root {
                faults
                    .push(format!("the tree up to it has the root {root} and the checkpoint has {}", checkpoint.root));
            }
            if !faults.is_empty() {
                faults.into_iter().for_each(|fault| self.found(Some(head.seq), fault));
                return false;
            }
            self.verified.checkpoints += 1;
        }
        true
    }

    /// Texts are empty where an event says so, and nowhere else; and none lies outside of the log.
    fn finish_texts(&mut self, store: &mut dyn Store) -> Result<()> {
        let kept: Vec<_> = self.erased.difference(&self.empty).filter(|(seq, _)| *seq >= self.from).copied().collect();
        for (seq, n) in kept.into_iter().take(TOLD_MAX) {
            self.found(Some(seq), format!("its text {n} was erased by a later event, and is there again"));
        }
        let doubtful = self.empty.difference(&self.erased).next().is_some() || has_stray_text(store, self.end)?;
        if !doubtful {
            return Ok(());
        }
        // It may be what others did meanwhile. In the writer's place nothing moves, and every event can be asked.
        standing_still(store, |store, head| self.judge_texts(store, head.seq))
    }

    fn judge_texts(&mut self, store: &mut dyn Store, end: u64) -> Result<()> {
        let erased = &mut self.erased;
        crate::pages::events(store, self.end + 1, end, &mut |row| {
            let event = crate::event::Event::read(&row.body)
                .map_err(|why| Error::Damaged(format!("event {} cannot be read: {why}", row.seq)))?;
            erased.extend(event.erase);
            Ok(())
        })?;
        let unsaid: Vec<_> = self.empty.difference(&self.erased).copied().collect();
        for (seq, n) in unsaid.into_iter().take(TOLD_MAX) {
            self.found(Some(seq), format!("its text {n} is gone, and no event says that it was erased"));
        }
        if has_stray_text(store, end)? {
            self.found(None, "there is a text that belongs to no event".to_owned());
        }
        Ok(())
    }

    /// Compares all derived rows with those in the scratch store.
    fn compare(&mut self, store: &mut dyn Store, fold: &dyn Fold, scratch: &mut Scratch<'_>) -> Result<()> {
        let shape = fold.shape().to_string();
        if self.shape.as_deref() != Some(&shape) {
            let found = self.shape.as_deref().unwrap_or("none");
            let newer = found.parse::<u32>().is_ok_and(|found| found > fold.shape());
            let mend = match newer {
                true => "use a newer countersign to compare them",
                false if self.verified.closed.is_some() => {
                    "the ledger is closed, so that they stay as they are and are not compared"
                }
                false => {
                    "after an upgrade that is so until they were made again: run `countersign rebuild`, then verify"
                }
            };
            self.found(
                None,
                format!("the derived rows are of shape {found} and this binary makes shape {shape}; {mend}"),
            );
            return Ok(());
        }
        let mut suspects = Vec::new();
        for table in Table::DERIVED {
            match differences(store, &mut scratch.store, table, &mut suspects) {
                Ok(rows) => self.verified.rows += rows,
                Err(Error::Damaged(why)) => {
                    self.found(None, format!("the table `{}` cannot be read: {why}", table.name()))
                }
                Err(error) => return Err(error),
            }
        }
        if suspects.is_empty() {
            return Ok(());
        }
        // Others may have written meanwhile. In the writer's place nothing moves: the scratch store is brought up to
        // there, and what still differs does.
        standing_still(store, |store, head| self.settle(store, scratch, head, suspects))
    }

    /// When leases lapse follows from rows that are compared or free; it must follow.
    fn look_at_deadlines(&mut self, store: &mut dyn Store) -> Result<()> {
        match due::differences(store) {
            Ok(found) if found.is_empty() => return Ok(()),
            Ok(_) => {}
            Err(Error::Damaged(why)) => {
                self.found(None, format!("the table `due` cannot be read: {why}"));
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        standing_still(store, |store, _| {
            let Differences { missing, left_over } = due::differences(store)?;
            let said = |key: &RowKey| match key {
                RowKey::Due(time, name) => format!("lease `{name}` lapses at {time}"),
                _ => String::new(),
            };
            for key in missing.iter().take(TOLD_MAX) {
                self.found(None, format!("`due` does not say that {}; run `countersign rebuild`", said(key)));
            }
            for key in left_over.iter().take(TOLD_MAX) {
                let why = "which does not follow from its last sign of life; run `countersign rebuild`";
                self.found(None, format!("`due` says that {}, {why}", said(key)));
            }
            Ok(())
        })
    }

    fn settle(
        &mut self,
        store: &mut dyn Store,
        scratch: &mut Scratch<'_>,
        head: Head,
        mut suspects: Vec<RowKey>,
    ) -> Result<()> {
        scratch.catch_up(store, head)?;
        if suspects.len() == SUSPECTS_MAX {
            // There were more than were noted down; now that nothing moves, what is found first differs indeed.
            suspects.clear();
            for table in Table::DERIVED {
                differences(store, &mut scratch.store, table, &mut suspects)?;
            }
        }
        self.judge(store, &mut scratch.store, suspects)
    }

    fn judge(&mut self, store: &mut dyn Store, scratch: &mut Sqlite, suspects: Vec<RowKey>) -> Result<()> {
        let (stored, expected) = (store.get(&suspects)?, scratch.get(&suspects)?);
        let mut told: Option<(Table, usize)> = None;
        for ((key, stored), expected) in suspects.into_iter().zip(stored).zip(expected) {
            if stored == expected {
                continue;
            }
            let count = match told {
                Some((table, count)) if table == key.table() => count + 1,
                _ => 1,
            };
            told = Some((key.table(), count));
            if count <= TOLD_MAX {
                self.found(event_of(&key), difference(&key, stored, expected));
            }
        }
        Ok(())
    }
}

/// Looks at a store in the writer's place. Where nobody may write from here, others still may: what is found there counts
/// only if they did not.
fn standing_still(store: &mut dyn Store, look: impl FnOnce(&mut dyn Store, Head) -> Result<()>) -> Result<()> {
    match store.begin_within(PATIENCE) {
        Ok(begun) => {
            let looked = look(store, begun.head);
            store.rollback();
            looked
        }
        Err(Error::Closed(why)) => {
            let head = store.head()?;
            look(store, head)?;
            if store.head()? == head {
                return Ok(());
            }
            Err(Error::Unreadable(format!(
                "others write to it meanwhile, and it cannot be held still from here: {why}"
            )))
        }
        Err(error) => Err(error),
    }
}

/// Whether there is a text of no event: before the first one, or after the last.
fn has_stray_text(store: &mut dyn Store, end: u64) -> Result<bool> {
    Ok(!store.texts(0, 1)?.is_empty() || !store.texts(end.saturating_add(1), i64::MAX as u64)?.is_empty())
}

/// The end of the log before an event, as its row has it.
fn before(store: &mut dyn Store, from: u64) -> Result<Head> {
    let row = store.events(from - 1, None, 1)?.into_iter().find(|row| row.seq == from - 1);
    let row = row.ok_or_else(|| Error::Damaged(format!("event {} is missing", from - 1)))?;
    Ok(Head { seq: row.seq, hash: Hash::of(row.body.as_bytes()) })
}

type Page = (Vec<EventRow>, Vec<TextRow>, Option<(u64, String)>);

/// A page of events with their texts. Where one cannot be read, the page ends before it, with the reason.
fn read_page(store: &mut dyn Store, first: u64, end: u64) -> Result<Page> {
    let whole = |store: &mut dyn Store, limit: u64| {
        let page = store.events(first, None, limit as usize)?;
        let last = page.last().map_or(first, |row| row.seq);
        Ok((page, store.texts(first, last + 1)?))
    };
    let limit = match crate::pages::size(store, first, end) {
        // What cannot even be measured is looked for one by one.
        Err(Error::Damaged(_)) => (end - first + 1).min(PAGE_EVENTS as u64),
        size => size? as u64,
    };
    let missing = |page: &[EventRow]| {
        let gap =
            (first..).zip(page).find(|(seq, row)| *seq != row.seq).map_or(first + page.len() as u64, |(seq, _)| seq);
        (gap < first + limit).then(|| (gap, "it is missing from the log".to_owned()))
    };
    match whole(store, limit) {
        Ok((page, texts)) => {
            let missing = missing(&page);
            let good = missing.as_ref().map_or(page.len(), |(gap, _)| (gap - first) as usize);
            Ok((page.into_iter().take(good).collect(), texts, missing))
        }
        Err(Error::Damaged(_)) => {
            for count in 1..=limit {
                let seq = first + count - 1;
                let one = store.events(seq, None, 1).and_then(|_| store.texts(seq, seq + 1));
                if let Err(Error::Damaged(why)) = one {
                    let (page, texts) = if count == 1 { (Vec::new(), Vec::new()) } else { whole(store, count - 1)? };
                    return Ok((page, texts, Some((seq, format!("it cannot be read: {why}")))));
                }
            }
            let (page, texts) = whole(store, limit)?;
            Ok((page, texts, None))
        }
        Err(error) => Err(error),
    }
}

/// Goes through a table in both stores side by side and collects the keys where they differ. Says how many rows were seen.
fn differences(left: &mut dyn Store, right: &mut dyn Store, table: Table, suspects: &mut Vec<RowKey>) -> Result<u64> {
    let (mut left_rows, mut right_rows) = (Rows::new(table), Rows::new(table));
    let (mut one, mut other) = (left_rows.next(left)?, right_rows.next(right)?);
    let mut count = 0;
    loop {
        let key = match (&one, &other) {
            (None, None) => return Ok(count),
            (Some((key, _)), None) | (None, Some((key, _))) => key.clone(),
            (Some((left, _)), Some((right, _))) => left.min(right).clone(),
        };
        let (in_left, in_right) = (is_at(&one, &key), is_at(&other, &key));
        if !(in_left && in_right && one == other) && suspects.len() < SUSPECTS_MAX {
            suspects.push(key);
        }
        if in_left {
            one = left_rows.next(left)?;
        }
        if in_right {
            other = right_rows.next(right)?;
        }
        count += 1;
    }
}

fn is_at(row: &Option<crate::rows::Row>, key: &RowKey) -> bool {
    row.as_ref().is_some_and(|(found, _)| found == key)
}

fn event_of(key: &RowKey) -> Option<u64> {
    match key {
        RowKey::Touch(seq, _) => Some(*seq),
        _ => None,
    }
}

fn difference(key: &RowKey, stored: Option<RowValue>, expected: Option<RowValue>) -> String {
    let (table, name) = (key.table().name(), name_of(key));
    match (stored, expected) {
        (None, _) => format!("the table `{table}` lacks the row {name}, which the events make"),
        (_, None) => format!("the table `{table}` has a row {name} that no event makes"),
        (Some(stored), Some(expected)) => {
            let (stored, expected) = (format!("{stored:?}"), format!("{expected:?}"));
            let same = stored.bytes().zip(expected.bytes()).take_while(|(left, right)| left == right).count();
            let from = |text: &str| {
                let at = (0..=same.saturating_sub(24)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
                text[at..].chars().take(60).collect::<String>()
            };
            format!(
                "the row {name} of the table `{table}` is …{}… and the events make …{}…",
                from(&stored),
                from(&expected)
            )
        }
    }
}

fn name_of(key: &RowKey) -> String {
    match key {
        RowKey::Entity(key) => format!("{} `{}`", key.kind, key.id),
        RowKey::Index(place, key) => format!("of {} `{}` in index `{}`", key.kind, key.id, place.index),
        RowKey::Touch(seq, key) => format!("of {} `{}` and event {seq}", key.kind, key.id),
        RowKey::Remembered([actor, command, key]) => format!("of key `{key}` for {command} by {actor}"),
        RowKey::Lease(name) | RowKey::Liveness(name) | RowKey::Due(_, name) | RowKey::Meta(name) => format!("`{name}`"),
        RowKey::Tile(level, number) => format!("{number} of level {level}"),
    }
}
