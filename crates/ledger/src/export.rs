//! An export: the log as lines of JSON that can be kept, carried and verified anywhere.
//!
//! ```text
//! {"countersign_export":1,"from":1,"prev":"00…","project":"…"}           where it begins
//! {"event":{…},"hash":"…","texts":[{"body":"…","salt":"…"},null]}        one line for each event; null is an erased text
//! {"checkpoint":"…","events":2,"head":"…","root":"…"}                    where it ends, signed
//! ```
//!
//! Each line is in its one canonical form and the last one is signed, so that any change, cut or fork shows.

use crate::chain::{Chain, text_faults};
use crate::checkpoint::{Checkpoint, PublicKey, SecretKey};
use crate::error::{Error, Result};
use crate::event::{EVENT_BYTES_MAX, Event, TEXTS_BYTES_MAX, Text, TextPlace};
use crate::hash::{Hash, hex, unhex};
use crate::ledger::PAGE_EVENTS;
use crate::pages;
use crate::rows::{EventRow, TextRow};
use crate::store::{Head, Store};
use crate::tree::{self, Peaks};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{BufRead, Read, Write};

/// The version of this format.
pub const EXPORT_VERSION: u32 = 1;
/// How long a line may be: an event with all the texts that it can bring. A byte takes up to six in JSON (`\u0001`), and
/// each text has its salt beside it.
const LINE_BYTES_MAX: u64 = (6 * TEXTS_BYTES_MAX + 2 * EVENT_BYTES_MAX) as u64;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Beginning {
    countersign_export: u32,
    from: u64,
    prev: Hash,
    project: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tree: Vec<Hash>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    #[serde(borrow)]
    event: &'a RawValue,
    hash: Hash,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    texts: Vec<Option<Said<'a>>>,
}

/// A text: as it is if it is UTF-8, else in hexadecimal digits.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    body: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
    salt: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ending {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checkpoint: Option<String>,
    events: u64,
    head: Hash,
    root: Hash,
}

/// Writes the events from `from` on. What was recorded while it ran is not in it, unless it erased a text that would have
/// been: then the events up to the one that says so are.
pub fn export(
    store: &mut dyn Store,
    project: &str,
    from: u64,
    key: Option<&SecretKey>,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Head> {
    let mut end = store.head()?;
    let from = from.max(1);
    if from > end.seq + 1 {
        return Err(Error::Malformed(format!("there is no event {from} yet; the last is {}", end.seq)));
    }
    let peaks = tree::peaks_at(store, from - 1)?;
    let prev = if from == 1 { Hash::NONE } else { hash_of(store, from - 1)? };
    let tree = peaks.hashes().to_vec();
    put(out, &Beginning { countersign_export: EXPORT_VERSION, from, prev, project: project.to_owned(), tree })?;
    let mut writing = Writing { out, from, next: from, peaks, gone: Default::default() };
    while writing.next <= end.seq {
        writing.page(store, end.seq)?;
        progress(writing.next - 1, end.seq);
    }
    // A text may have been erased while this ran, by an event that was not there yet when it began.
    while !writing.gone.unsaid.is_empty() && store.head()?.seq > end.seq {
        let seq = end.seq + 1;
        let said = writing.page(store, seq)?;
        if said.iter().any(|(seq, _)| *seq >= from && *seq < writing.next) {
            return Err(Error::NotWritten("a text was erased while it was exported; export it again".to_owned()));
        }
        end = Head { seq, hash: hash_of(store, seq)? };
    }
    let Writing { out, peaks, .. } = writing;
    let checkpoint = Checkpoint { project: project.to_owned(), size: end.seq, root: peaks.root(), head: end.hash };
    let note = key.map(|key| checkpoint.sign(key)).transpose()?;
    put(out, &Ending { checkpoint: note, events: end.seq + 1 - from, head: end.hash, root: checkpoint.root })?;
    out.flush().map_err(|error| unwritten(&error))?;
    Ok(end)
}

/// An export on its way.
struct Writing<'a> {
    out: &'a mut dyn Write,
    from: u64,
    next: u64,
    peaks: Peaks,
    gone: Gone,
}

impl Writing<'_> {
    /// Writes a page of events, not beyond `end`. Gives the texts that they erased and that were not empty when they were
    /// written.
    fn page(&mut self, store: &mut dyn Store, end: u64) -> Result<Vec<TextPlace>> {
        let limit = pages::size(store, self.next, end)?;
        let page = store.events(self.next, None, limit)?;
        let missing = || Error::Damaged(format!("event {} is missing", self.next));
        let last = page.last().map(|row| row.seq).ok_or_else(missing)?;
        let mut texts = store.texts(self.next, last + 1)?.into_iter().peekable();
        let mut kept = Vec::new();
        for row in &page {
            let mut own = Vec::new();
            while let Some(text) = texts.next_if(|text| text.seq == row.seq) {
                own.push(text.text);
            }
            put(self.out, &line(row, &own)?)?;
            self.peaks.add(tree::leaf(&row.body));
            let empty = (0..).zip(&own).filter(|(_, text)| text.is_none());
            self.gone.empty(empty.map(|(n, _)| (row.seq, n)));
            if row.body.contains("\"erase\":") {
                let event =
                    Event::read(&row.body).map_err(|why| Error::Damaged(format!("event {}: {why}", row.seq)))?;
                kept.extend(self.gone.said(event.erase.into_iter().filter(|(seq, _)| *seq >= self.from)));
            }
        }
        self.next = last + 1;
        Ok(kept)
    }
}

/// Texts that are empty, held against the events that say so.
#[derive(Default)]
struct Gone {
    empty: BTreeSet<TextPlace>,
    /// Of those, the ones that no event was met for yet.
    unsaid: BTreeSet<TextPlace>,
}

impl Gone {
    fn empty(&mut self, places: impl Iterator<Item = TextPlace>) {
        for place in places {
            self.empty.insert(place);
            self.unsaid.insert(place);
        }
    }

    /// Takes note of what an event erased; gives back what was not empty.
    fn said(&mut self, places: impl Iterator<Item = TextPlace>) -> Vec<TextPlace> {
        let mut kept = Vec::new();
        for place in places {
            self.unsaid.remove(&place);
            if !self.empty.contains(&place) {
                kept.push(place);
            }
        }
        kept
    }
}

fn hash_of(store: &mut dyn Store, seq: u64) -> Result<Hash> {
    let row = store.events(seq, None, 1)?.into_iter().find(|row| row.seq == seq);
    row.map(|row| row.hash).ok_or_else(|| Error::Damaged(format!("event {seq} is missing")))
}

fn line<'a>(row: &'a EventRow, texts: &'a [Option<Text>]) -> Result<Line<'a>> {
    let event = serde_json::from_str(&row.body)
        .map_err(|error| Error::Damaged(format!("event {} cannot be read: {error}", row.seq)))?;
    let said = |text: &'a Text| {
        let body = std::str::from_utf8(&text.body).ok().map(Cow::Borrowed);
        let digits = body.is_none().then(|| hex(&text.body));
        Said { body, hex: digits, salt: hex(&text.salt) }
    };
    Ok(Line { event, hash: row.hash, texts: texts.iter().map(|text| text.as_ref().map(said)).collect() })
}

fn put(out: &mut dyn Write, line: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_vec(line).map_err(|error| Error::Malformed(error.to_string()))?;
    text.push(b'\n');
    out.write_all(&text).map_err(|error| unwritten(&error))
}

fn unwritten(error: &std::io::Error) -> Error {
    Error::NotWritten(format!("the export cannot be written: {error}"))
}

/// What an export turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The project's id.
    pub project: String,
    /// Its first event.
    pub from: u64,
    /// How many events it has.
    pub events: u64,
    /// How many texts it has, and how many were erased.
    pub texts: u64,
    /// How many of its texts were erased.
    pub erased: u64,
    /// The last event.
    pub head: Head,
    /// The root of the tree up to there.
    pub root: Hash,
    /// Whether one of the keys has signed that.
    pub signed: bool,
    /// How many of the checkpoints that were given lie in it and match.
    pub checkpoints: u64,
}

/// What is done with each page of events, before the end of the export is known.
pub type EachPage<'a> = &'a mut dyn FnMut(&str, u64, Vec<EventRow>, Vec<TextRow>) -> Result<()>;

/// Reads an export and verifies all of it: what is handed out is right as far as it has come, and the whole is only once
/// this returns. `keys` verify its signature, `known` are checkpoints that were kept elsewhere.
pub fn read_export(
    from: &mut dyn BufRead,
    keys: &[PublicKey],
    known: &[Checkpoint],
    each: EachPage<'_>,
) -> Result<Exported> {
    let mut lines = Lines { from, number: 0, text: String::new() };
    let Some(first) = lines.next()? else { return Err(bad(1, "the export is empty")) };
    let beginning: Beginning =
        read(first, 1).map_err(|_| bad(1, "this is no export: it does not begin as one does"))?;
    if beginning.countersign_export != EXPORT_VERSION {
        let found = beginning.countersign_export;
        return Err(Error::Newer { what: "export version", found, known: EXPORT_VERSION });
    }
    let mut reading = Reading::new(beginning, known)?;
    let mut page = Page::default();
    loop {
        let number = lines.number + 1;
        let Some(text) = lines.next()? else {
            return Err(bad(number, "the export ends here without its last line; it was cut"));
        };
        if !text.starts_with("{\"event\":") {
            page.hand_out(&reading, each)?;
            let ending: Ending = read(text, number)?;
            if lines.next()?.is_some() {
                return Err(bad(number + 1, "there is more after the last line"));
            }
            return reading.end(ending, keys, number);
        }
        let text_bytes = text.len() as u64;
        let line: Line<'_> = read(text, number)?;
        reading.take(&line, number, &mut page)?;
        page.bytes += text_bytes;
        if page.events.len() == PAGE_EVENTS || page.bytes >= pages::PAGE_BYTES {
            page.hand_out(&reading, each)?;
        }
    }
}

#[derive(Default)]
struct Page {
    events: Vec<EventRow>,
    texts: Vec<TextRow>,
    /// How long their lines were.
    bytes: u64,
}

impl Page {
    fn hand_out(&mut self, reading: &Reading, each: EachPage<'_>) -> Result<()> {
        let Self { events, texts, .. } = std::mem::take(self);
        each(&reading.exported.project, reading.exported.from, events, texts)
    }
}

struct Lines<'a> {
    from: &'a mut dyn BufRead,
    number: u64,
    text: String,
}

impl Lines<'_> {
    fn next(&mut self) -> Result<Option<&str>> {
        self.number += 1;
        self.text.clear();
        let mut limited = Read::take(&mut *self.from, LINE_BYTES_MAX);
        let length = limited.read_line(&mut self.text);
        match length.map_err(|error| bad(self.number, &error.to_string()))? {
            0 => Ok(None),
            _ => match self.text.strip_suffix('\n') {
                Some(line) => Ok(Some(line)),
                None if self.text.len() as u64 == LINE_BYTES_MAX => {
                    let why = format!("the line is longer than {LINE_BYTES_MAX} bytes, which none of an export is");
                    Err(bad(self.number, &why))
                }
                None => Err(bad(self.number, "the line has no end; the export was cut")),
            },
        }
    }
}

fn bad(number: u64, why: &str) -> Error {
    Error::Malformed(format!("line {number}: {why}"))
}

/// Reads a line, which must be written in the one way there is.
fn read<'a, T: Serialize + Deserialize<'a>>(text: &'a str, number: u64) -> Result<T> {
    let read: T = serde_json::from_str(text).map_err(|error| bad(number, &error.to_string()))?;
    let again = serde_json::to_string(&read).map_err(|error| bad(number, &error.to_string()))?;
    if again == text { Ok(read) } else { Err(bad(number, "it is not written as an export is")) }
}

struct Reading {
    chain: Chain,
    checkpoints: Vec<Checkpoint>,
    gone: Gone,
    /// A text that is here although an event erased it.
    kept: Option<TextPlace>,
    exported: Exported,
}

impl Reading {
    fn new(beginning: Beginning, known: &[Checkpoint]) -> Result<Self> {
        let Beginning { from, prev, project, tree, .. } = beginning;
        let peaks = Peaks::of(from.wrapping_sub(1), tree).filter(|_| from >= 1 && (from > 1 || prev == Hash::NONE));
        if let Some(why) = crate::event::project_fault(&project) {
            return Err(bad(1, &format!("it names no project: {why}")));
        }
        let peaks = peaks.ok_or_else(|| bad(1, "its beginning does not fit together"))?;
        if let Some(strange) = known.iter().find(|it| it.project != project) {
            let why = format!("the checkpoint is of project {}, and this is an export of {project}", strange.project);
            return Err(bad(1, &format!("{why}: it says nothing of this log")));
        }
        let root = peaks.root();
        let head = Head { seq: from - 1, hash: prev };
        let exported = Exported {
            project: project.clone(),
            from,
            events: 0,
            texts: 0,
            erased: 0,
            head,
            root,
            signed: false,
            checkpoints: 0,
        };
        let mut checkpoints = known.to_vec();
        checkpoints.sort_by_key(|it| it.size);
        let chain = Chain::after(&project, head, peaks);
        let mut reading = Self { chain, checkpoints, gone: Gone::default(), kept: None, exported };
        reading.meet_checkpoints(1)?;
        Ok(reading)
    }

    fn take(&mut self, line: &Line<'_>, number: u64, page: &mut Page) -> Result<()> {
        let seq = self.chain.head().seq + 1;
        let faults = |faults: Vec<String>| bad(number, &format!("event {seq}: {}", faults.join("; ")));
        let mut texts = Vec::new();
        for (n, said) in (0..).zip(&line.texts) {
            let text =
                said.as_ref().map(|said| text_of(said).ok_or_else(|| bad(number, "a text of it cannot be read")));
            texts.push(TextRow { seq, n, text: text.transpose()? });
        }
        let body = line.event.get();
        let named: Named<'_> = serde_json::from_str(body).map_err(|error| bad(number, &error.to_string()))?;
        let row = EventRow {
            seq,
            id: named.id.to_owned(),
            run: named.run.map(str::to_owned),
            hash: line.hash,
            body: body.to_owned(),
        };
        let event = self.chain.follow(&row).map_err(faults)?;
        let (wrong, erased) = text_faults(&event, &texts);
        if !wrong.is_empty() {
            return Err(faults(wrong));
        }
        self.gone.empty(erased.iter().map(|n| (seq, *n)));
        let from = self.exported.from;
        let kept = self.gone.said(event.erase.into_iter().filter(|(seq, _)| *seq >= from));
        self.kept = self.kept.or(kept.first().copied());
        self.exported.events += 1;
        self.exported.erased += erased.len() as u64;
        self.exported.texts += (texts.len() - erased.len()) as u64;
        self.meet_checkpoints(number)?;
        page.events.push(row);
        page.texts.extend(texts);
        Ok(())
    }

    fn meet_checkpoints(&mut self, number: u64) -> Result<()> {
        let head = self.chain.head();
        while let Some(known) = self.checkpoints.first().filter(|it| it.size <= head.seq).cloned() {
            self.checkpoints.remove(0);
            if known.size < head.seq {
                let first = self.exported.from;
                let why = format!("a checkpoint knows {} events, and this begins with event {first}", known.size);
                return Err(bad(number, &format!("{why}: the two cannot be compared")));
            }
            let same = known.root == self.chain.peaks().root() && (known.head == head.hash || head.seq == 0);
            if !same {
                return Err(bad(
                    number,
                    &format!("up to event {} this is another log than the one that the checkpoint knows", head.seq),
                ));
            }
            self.exported.checkpoints += 1;
        }
        Ok(())
    }

    fn end(mut self, ending: Ending, keys: &[PublicKey], number: u64) -> Result<Exported> {
        let (head, root) = (self.chain.head(), self.chain.peaks().root());
        if ending.events != self.exported.events || ending.head != head.hash || ending.root != root {
            return Err(bad(number, "the last line does not fit what stands before it"));
        }
        if let Some((seq, n)) = self.gone.unsaid.first() {
            return Err(bad(number, &format!("text {n} of event {seq} is gone, and no event says that it was erased")));
        }
        if let Some((seq, n)) = self.kept {
            return Err(bad(
                number,
                &format!("text {n} of event {seq} was erased by a later event, and is here again"),
            ));
        }
        if let Some(late) = self.checkpoints.first() {
            return Err(bad(
                number,
                &format!("a checkpoint knows {} events, and this ends with {}", late.size, head.seq),
            ));
        }
        let signed = ending.checkpoint.as_ref().map(|note| Checkpoint::open_if_known(note, keys)).transpose()?;
        if let Some(signed) = signed.flatten() {
            let here = Checkpoint { project: self.exported.project.clone(), size: head.seq, root, head: head.hash };
            if signed != here {
                return Err(bad(number, "what is signed is another log"));
            }
            self.exported.signed = true;
        }
        self.exported.head = head;
        self.exported.root = root;
        Ok(self.exported)
    }
}

/// Of an event, what is repeated in its row.
#[derive(Deserialize)]
struct Named<'a> {
    id: &'a str,
    #[serde(default)]
    run: Option<&'a str>,
}

fn text_of(said: &Said<'_>) -> Option<Text> {
    let salt = unhex(&said.salt)?.try_into().ok()?;
    let body = match (&said.body, &said.hex) {
        (Some(body), None) => body.as_bytes().to_vec(),
        (None, Some(digits)) => unhex(digits).filter(|bytes| std::str::from_utf8(bytes).is_err())?,
        _ => return None,
    };
    Some(Text { salt, body })
}
