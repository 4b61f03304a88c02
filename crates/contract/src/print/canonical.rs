//! Canonical JSON (RFC 8785) of what stands in a document.
//!
//! Most of it is copied as it stands in the source, and the pieces are short: what takes the time is to begin and end each
//! copy. So a short piece is taken with what lies behind it, in one step of fixed length, and the next piece is written
//! over what was too much.

use super::{key_order, write_number, write_text};
use crate::document::{Cursor, Document, Kind};
use std::cell::Cell;
use std::cmp::Ordering;
use std::ops::Range;

thread_local! {
    /// The room that the last canonical text was written to. It is long compared with all else that a check allocates, and
    /// would have to be cleared each time.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Longer room is given back to the allocator.
const SPARE_MAX: usize = 64 * 1024;

/// Has `take` look at the canonical text of a value, piece by piece: as soon as `stretch` bytes are there, and what is left
/// at the end.
pub(super) fn written(at: Cursor<'_>, stretch: usize, take: impl FnMut(&[u8])) {
    let mut out = SPARE.take();
    let room = at.span().len() + STEP;
    if out.len() < room {
        out.resize(room, 0);
    }
    let (source, document) = (at.document().text().as_bytes(), at.document());
    let members = Vec::with_capacity(32);
    let mut writer = Writer { source, document, out, end: 0, members, taken: 0, stretch, take };
    writer.value(at);
    writer.pass_on(writer.end);
    if writer.out.len() <= SPARE_MAX {
        SPARE.set(writer.out);
    }
}

/// How much is copied at once.
const STEP: usize = 32;

struct Writer<'d, T> {
    source: &'d [u8],
    document: &'d Document<'d>,
    /// What was written, and room for more. What is in that room is of no meaning.
    out: Vec<u8>,
    /// Where what was written ends.
    end: usize,
    /// Room for the members of the objects that are open; each object uses what it adds to it.
    members: Vec<Member>,
    /// How much of it was looked at, how much is worth a look, and by whom.
    taken: usize,
    stretch: usize,
    take: T,
}

/// What a hash takes at once. A piece is made of whole ones, but for the last.
const BLOCK: usize = 64;

impl<'d, T: FnMut(&[u8])> Writer<'d, T> {
    fn value(&mut self, at: Cursor<'d>) {
        match at.kind() {
            Kind::Text => self.text(at),
            Kind::Null | Kind::Bool => self.word(at),
            Kind::Number if is_canonical(at.raw().as_bytes()) => self.word(at),
            Kind::Number => self.aside(|out| write_number(at.raw().parse().unwrap_or(0.0), out)),
            Kind::List => {
                self.sign(b'[');
                for (index, item) in at.items().enumerate() {
                    if index > 0 {
                        self.sign(b',');
                    }
                    self.value(item);
                }
                self.sign(b']');
            }
            Kind::Object => self.object(at),
        }
    }

    fn object(&mut self, at: Cursor<'d>) {
        let document = self.document;
        let from = self.members.len();
        self.members.extend(at.entries().map(|(key, _)| Member::new(document, key)));
        let to = self.members.len();
        self.members[from..].sort_unstable_by(|one, other| one.order(other, document));
        self.sign(b'{');
        for index in from..to {
            let key = self.members[index].key;
            if index > from {
                self.sign(b',');
            }
            self.text(document.at(key));
            self.sign(b':');
            self.value(document.at(key + 1));
            let fresh = self.end - self.taken;
            if fresh >= self.stretch {
                self.pass_on(self.taken + fresh / BLOCK * BLOCK);
            }
        }
        self.sign(b'}');
        self.members.truncate(from);
    }

    fn pass_on(&mut self, end: usize) {
        (self.take)(self.out.get(self.taken..end).unwrap_or_default());
        self.taken = end;
    }

    /// Most texts are copied as they stand.
    #[inline]
    fn text(&mut self, at: Cursor<'d>) {
        if at.is_as_written() { self.span(at.span()) } else { self.aside(|out| write_text(at.raw(), out)) }
    }

    /// Adds what is neither text nor in need of change.
    #[inline]
    fn word(&mut self, at: Cursor<'d>) {
        if self.document.is_decoded(at.index() as usize) {
            self.piece(at.raw().as_bytes());
        } else {
            self.span(at.span());
        }
    }

    /// Adds a part of the source.
    #[inline]
    fn span(&mut self, span: Range<usize>) {
        let length = span.len();
        let from = self.source.get(span.start..span.start + STEP);
        let to = self.out.get_mut(self.end..self.end + STEP);
        match (from, to) {
            (Some(from), Some(to)) if length <= STEP => {
                to.copy_from_slice(from);
                self.end += length;
            }
            _ => self.piece(self.source.get(span).unwrap_or_default()),
        }
    }

    fn piece(&mut self, piece: &[u8]) {
        let end = self.end + piece.len();
        if self.out.len() < end {
            self.grow(end);
        }
        self.out[self.end..end].copy_from_slice(piece);
        self.end = end;
    }

    #[inline]
    fn sign(&mut self, sign: u8) {
        if self.out.len() <= self.end {
            self.grow(self.end + 1);
        }
        self.out[self.end] = sign;
        self.end += 1;
    }

    /// Canonical numbers and the texts of other forms may be longer than what they were written as.
    #[cold]
    fn grow(&mut self, end: usize) {
        self.out.resize(end * 2 + STEP, 0);
    }

    /// Adds what is written as text.
    #[cold]
    fn aside(&mut self, write: impl FnOnce(&mut String)) {
        let mut text = String::new();
        write(&mut text);
        self.piece(text.as_bytes());
    }
}

/// A member, with the beginning of its name, which nearly always tells its place among the others.
#[derive(Clone, Copy)]
struct Member {
    /// The first eight bytes as a number, so that the order of numbers is that of bytes; a short name is filled up with
    /// zeros.
    head: u64,
    /// The node of the name. That of the value is the next.
    key: u32,
}

impl Member {
    fn new(document: &Document<'_>, key: Cursor<'_>) -> Self {
        let name = document.bytes_of(key.index() as usize);
        let head = match name.first_chunk() {
            Some(head) => u64::from_be_bytes(*head),
            None => {
                let short = name.iter().fold(0, |head, byte| head << 8 | u64::from(*byte));
                // A name of no bytes is a head of zeros already.
                short.checked_shl(8 * (8 - name.len() as u32)).unwrap_or_default()
            }
        };
        Self { head, key: key.index() }
    }

    fn order(&self, other: &Self, document: &Document<'_>) -> Ordering {
        /// The bits that are set in bytes beyond ASCII, whose order is not that of their bytes.
        const BEYOND: u64 = 0x8080_8080_8080_8080;
        if self.head != other.head && (self.head | other.head) & BEYOND == 0 {
            return self.head.cmp(&other.head);
        }
        key_order(document.at(self.key).raw(), document.at(other.key).raw())
    }
}

/// Whether a number stands as canonical JSON writes it, as far as can be told without reading it: at most fifteen digits,
/// which always come back from a float, with no exponent, no zero at the end, and not so small that it would get one.
fn is_canonical(written: &[u8]) -> bool {
    let digits = written.strip_prefix(b"-").unwrap_or(written);
    let whole = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if written.len() > 15 || written == b"-0" {
        return false;
    }
    match &digits[whole..] {
        [] => true,
        [b'.', fraction @ .., b'1'..=b'9'] => fraction.len() < 6 && fraction.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}
