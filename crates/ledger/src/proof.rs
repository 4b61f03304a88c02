//! A proof that an event is in the log, to be verified anywhere with nothing but the public key.
//!
//! The text is that of c2sp.org/tlog-proof, with the event itself as its extra data.

use crate::checkpoint::{Checkpoint, PublicKey, base64, unbase64};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::hash::Hash;
use crate::store::Store;
use crate::tree;

const HEADER: &str = "c2sp.org/tlog-proof@v1";

/// Writes the proof that event `seq` is among those that a checkpoint covers.
pub fn prove(store: &mut dyn Store, seq: u64, checkpoint: &Checkpoint, note: &str) -> Result<String> {
    let row = store.events(seq, None, 1)?.into_iter().find(|row| row.seq == seq);
    let row = row.ok_or_else(|| Error::Malformed(format!("there is no event {seq}")))?;
    let hashes = tree::prove_event(store, checkpoint.size, seq)?;
    let mut text = format!("{HEADER}\nextra {}\nindex {}\n", base64(row.body.as_bytes()), seq - 1);
    for hash in hashes {
        text.push_str(&base64(&hash.0));
        text.push('\n');
    }
    Ok(text + "\n" + note)
}

/// What a proof showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proven {
    /// The event's place in the log.
    pub seq: u64,
    /// Its canonical bytes.
    pub body: String,
    /// The log that it is in.
    pub checkpoint: Checkpoint,
}

/// Verifies a proof.
pub fn verify_proof(text: &str, keys: &[PublicKey]) -> Result<Proven> {
    let refused = |why: &str| Error::Malformed(format!("the proof does not hold: {why}"));
    let (head, note) = text.split_once("\n\n").ok_or_else(|| refused("it has no checkpoint"))?;
    let mut lines = head.lines();
    if lines.next() != Some(HEADER) {
        return Err(refused("it does not begin as one"));
    }
    let extra = lines.next().and_then(|line| line.strip_prefix("extra ")).and_then(unbase64);
    let body = extra.and_then(|it| String::from_utf8(it).ok()).ok_or_else(|| refused("it has no event"))?;
    let index =
        lines.next().and_then(|line| line.strip_prefix("index ")).filter(|it| *it == "0" || !it.starts_with('0'));
    let index: u64 = index.and_then(|it| it.parse().ok()).ok_or_else(|| refused("it names no index"))?;
    let hash = |line: &str| Some(Hash(unbase64(line)?.try_into().ok()?));
    let hashes: Option<Vec<Hash>> = lines.map(hash).collect();
    let hashes = hashes.ok_or_else(|| refused("a line of it is no hash"))?;
    let checkpoint = Checkpoint::open(note, keys)?;
    let event = Event::read(&body).map_err(|_| refused("what it is about is no event"))?;
    let seq = index.saturating_add(1);
    if event.seq != seq || event.project != checkpoint.project {
        return Err(refused("the event says that it stands elsewhere"));
    }
    if !tree::check_event(&hashes, checkpoint.size, checkpoint.root, seq, tree::leaf(&body)) {
        return Err(refused("the hashes do not lead from the event to the checkpoint"));
    }
    Ok(Proven { seq, body, checkpoint })
}
