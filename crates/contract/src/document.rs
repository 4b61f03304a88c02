//! A parsed document: a flat list of nodes, each of which knows its bytes in the source.
//!
//! Nodes stand in the order of the text. A container is followed by its children; a member is a text node for the key
//! followed by the node of the value. There is one list for each document and no allocation for a node, which is why
//! checking can afford to know the place of everything.

use countersign_diagnostic::Pointer;
use std::cell::Cell;
use std::ops::Range;

/// How a document is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// One JSON value.
    Json,
    /// One JSON value on each line; the document is the list of them.
    JsonLines,
    /// One YAML document.
    Yaml,
    /// Markdown whose YAML front matter is the document.
    Markdown,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A text.
    Text,
    /// A list.
    List,
    /// An object.
    Object,
}

impl Kind {
    /// The word for it in messages.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "a boolean",
            Kind::Number => "a number",
            Kind::Text => "a text",
            Kind::List => "a list",
            Kind::Object => "an object",
        }
    }
}

/// Where `link` of a scalar points when its text stands in the source as it is.
const AS_WRITTEN: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Of a container: the node after its last child. Of a scalar: its place in `decoded`, or [`AS_WRITTEN`].
    link: u32,
    pub(crate) kind: Kind,
    /// Whether a text stands in quotes, which are not part of it.
    quoted: bool,
}

/// A parsed document over its source text.
#[derive(Debug)]
pub struct Document<'s> {
    text: &'s str,
    form: Form,
    nodes: Vec<Node>,
    decoded: Vec<Box<str>>,
    /// Whether letters stand in the source as numbers (`\u0041`).
    numbered: bool,
}

thread_local! {
    /// The list of nodes of the last document that is gone. One large allocation for each document costs more than the
    /// rest of a small check: between many small ones it makes the allocator tidy up every time.
    static SPARE: Cell<Vec<Node>> = const { Cell::new(Vec::new()) };
}

/// Lists longer than this are given back to the allocator.
const SPARE_NODES_MAX: usize = 16 * 1024;

impl Drop for Document<'_> {
    fn drop(&mut self) {
        if self.nodes.capacity() <= SPARE_NODES_MAX {
            self.nodes.clear();
            SPARE.set(std::mem::take(&mut self.nodes));
        }
    }
}

impl<'s> Document<'s> {
    pub(crate) fn new(text: &'s str, form: Form) -> Self {
        let mut nodes = SPARE.take();
        // One node for every sixteen bytes is what payloads of ours have; the list grows where there are more.
        nodes.reserve(text.len() / 16 + 8);
        Self { text, form, nodes, decoded: Vec::new(), numbered: false }
    }

    /// The source.
    pub fn text(&self) -> &'s str {
        self.text
    }

    /// How it is written down.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Where the text lies that follows the front matter of a Markdown document.
    pub fn body(&self) -> Option<Range<usize>> {
        let front = crate::front_matter(self.text).filter(|_| self.form == Form::Markdown)?;
        Some(front.end..self.text.len())
    }

    /// The whole document.
    pub fn root(&self) -> Cursor<'_> {
        Cursor { document: self, at: 0 }
    }

    /// The place of a node.
    pub(crate) fn at(&self, node: u32) -> Cursor<'_> {
        Cursor { document: self, at: node }
    }

    /// Every text of the document, keys included, in order.
    pub fn texts(&self) -> impl Iterator<Item = Cursor<'_>> {
        (0u32..)
            .zip(&self.nodes)
            .filter(|(_, node)| node.kind == Kind::Text)
            .map(|(at, _)| Cursor { document: self, at })
    }

    /// Whether looking through the source is as good as looking through the texts: JSON in which no letter is written as
    /// a number.
    pub(crate) fn shows_its_letters(&self) -> bool {
        !self.numbered && self.is_json()
    }

    fn is_json(&self) -> bool {
        matches!(self.form, Form::Json | Form::JsonLines)
    }

    pub(crate) fn mark_numbered(&mut self) {
        self.numbered = true;
    }

    /// The place that a pointer names, if it is there.
    pub fn find(&self, pointer: &Pointer) -> Option<Cursor<'_>> {
        pointer.steps().try_fold(self.root(), |at, step| at.step(&step).map(|(_, value)| value))
    }

    /// The bytes to show for a pointer: the value, or for a container that fills several lines its key, or for what is
    /// absent the nearest thing around it that is there.
    pub fn span(&self, pointer: &Pointer) -> Range<usize> {
        let mut at = self.root();
        let mut key = None;
        for step in pointer.steps() {
            let Some((found_key, value)) = at.step(&step) else {
                return self.brief(key, at);
            };
            (key, at) = (found_key, value);
        }
        self.brief(key, at)
    }

    fn brief(&self, key: Option<Cursor<'_>>, value: Cursor<'_>) -> Range<usize> {
        let span = value.span();
        let long = matches!(value.kind(), Kind::List | Kind::Object) && self.text[span.clone()].contains('\n');
        match (long, key) {
            (false, _) => span,
            (true, Some(key)) => key.span(),
            (true, None) => span.start..self.text.ceil_char_boundary(span.start + 1),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn open(&mut self, kind: Kind, start: usize) -> usize {
        self.nodes.push(Node { start: offset(start), end: 0, link: 0, kind, quoted: false });
        self.nodes.len() - 1
    }

    pub(crate) fn close(&mut self, node: usize, end: usize) {
        let next = offset(self.nodes.len());
        if let Some(node) = self.nodes.get_mut(node) {
            node.end = offset(end);
            node.link = next;
        }
    }

    /// Adds a scalar whose text is the source between `start` and `end`, less its quotes if it has them.
    #[inline]
    pub(crate) fn scalar(&mut self, kind: Kind, start: usize, end: usize, quoted: bool) -> usize {
        self.nodes.push(Node { start: offset(start), end: offset(end), link: AS_WRITTEN, kind, quoted });
        self.nodes.len() - 1
    }

    /// Adds a scalar whose text differs from the source.
    pub(crate) fn scalar_decoded(&mut self, kind: Kind, start: usize, end: usize, text: Box<str>) -> usize {
        let link = offset(self.decoded.len());
        self.decoded.push(text);
        self.nodes.push(Node { start: offset(start), end: offset(end), link, kind, quoted: false });
        self.nodes.len() - 1
    }

    pub(crate) fn kind_of(&self, node: usize) -> Kind {
        self.nodes[node].kind
    }

    pub(crate) fn span_of(&self, node: usize) -> Range<usize> {
        Cursor { document: self, at: offset(node) }.span()
    }

    /// The bytes of a text. Reading needs nothing more of a key, and finding out that they are whole letters costs more
    /// than comparing them.
    #[inline]
    pub(crate) fn bytes_of(&self, node: usize) -> &[u8] {
        let Node { start, end, link, quoted, .. } = self.nodes[node];
        if link != AS_WRITTEN {
            return self.text_of(node).as_bytes();
        }
        let quote = u32::from(quoted);
        self.text.as_bytes().get((start + quote) as usize..(end - quote) as usize).unwrap_or_default()
    }

    /// Whether the text of a scalar differs from the source.
    #[inline]
    pub(crate) fn is_decoded(&self, node: usize) -> bool {
        self.nodes[node].link != AS_WRITTEN
    }

    /// The keys of an object that is not closed yet, up to the key `end`.
    pub(crate) fn keys(&self, object: usize, end: usize) -> impl Iterator<Item = usize> {
        let keys = Entries { document: self, at: offset(object + 1), end: offset(end) };
        keys.map(|(key, _)| key.at as usize)
    }

    pub(crate) fn text_of(&self, node: usize) -> &str {
        Cursor { document: self, at: offset(node) }.raw()
    }
}

/// Sources are at most [`crate::SIZE_MAX_LIMIT`] long, so every offset and every node number fits.
fn offset(value: usize) -> u32 {
    value as u32
}

/// A place in a document.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'d> {
    document: &'d Document<'d>,
    at: u32,
}

impl<'d> Cursor<'d> {
    /// What stands here.
    #[inline]
    pub fn kind(self) -> Kind {
        self.node().kind
    }

    /// The number of this node in its document.
    #[inline]
    pub(crate) fn index(self) -> u32 {
        self.at
    }

    /// The document this is a place of.
    pub fn document(self) -> &'d Document<'d> {
        self.document
    }

    /// The bytes of this value in the source.
    pub fn span(self) -> Range<usize> {
        let node = self.node();
        node.start as usize..node.end as usize
    }

    /// The text, if this is one.
    #[inline]
    pub fn text(self) -> Option<&'d str> {
        (self.node().kind == Kind::Text).then(|| self.raw())
    }

    /// The boolean, if this is one.
    pub fn bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.bytes() == b"true")
    }

    /// The number as written, in JSON's grammar, if this is one.
    pub fn number(self) -> Option<&'d str> {
        (self.kind() == Kind::Number).then(|| self.raw())
    }

    /// Whether this is a text that stands in the source as JSON has to write it: in its quotes, and without escapes.
    #[inline]
    pub fn is_as_written(self) -> bool {
        let node = self.node();
        self.document.is_json() && node.kind == Kind::Text && node.link == AS_WRITTEN
    }

    /// How many bytes [`Cursor::compact`] gives, if that can be told without a look at the texts: in JSON without escapes.
    /// Who contains whom need not be followed for it: a comma or colon stands before every value and key, except before
    /// the whole and before the first of each list or object.
    pub fn compact_len(self) -> Option<usize> {
        const BRACKETS: u32 = 2;
        let nodes = self.document.nodes.get(self.at as usize..self.next() as usize)?;
        let (mut length, mut as_written) = (0, self.document.is_json());
        for (node, next) in nodes.iter().zip(self.at + 1..) {
            if node.kind.is_scalar() {
                length += 1 + node.end - node.start;
                as_written &= node.link == AS_WRITTEN;
            } else {
                length += BRACKETS + u32::from(node.link == next);
            }
        }
        as_written.then_some(length as usize - 1)
    }

    /// The items, if this is a list; otherwise none.
    #[inline]
    pub fn items(self) -> Items<'d> {
        let node = self.node();
        let end = if node.kind == Kind::List { node.link } else { 0 };
        Items { document: self.document, at: self.at + 1, end }
    }

    /// The members, if this is an object; otherwise none.
    #[inline]
    pub fn entries(self) -> Entries<'d> {
        let node = self.node();
        let end = if node.kind == Kind::Object { node.link } else { 0 };
        Entries { document: self.document, at: self.at + 1, end }
    }

    /// The value of a member.
    pub fn get(self, key: &str) -> Option<Cursor<'d>> {
        self.entries().find(|(name, _)| name.bytes() == key.as_bytes()).map(|(_, value)| value)
    }

    /// The pointer of this place.
    pub fn pointer(self) -> Pointer {
        let mut pointer = Pointer::root();
        let mut here = self.document.root();
        while here.at < self.at {
            let within = |child: Cursor<'_>| child.at <= self.at && self.at < child.next();
            match here.kind() {
                Kind::Object => {
                    let Some((key, value)) = here.entries().find(|(key, value)| key.at == self.at || within(*value))
                    else {
                        break;
                    };
                    pointer = pointer.key(key.raw());
                    here = value;
                    if key.at == self.at {
                        break;
                    }
                }
                Kind::List => {
                    let Some((index, item)) = here.items().enumerate().find(|(_, item)| within(*item)) else {
                        break;
                    };
                    pointer = pointer.item(index);
                    here = item;
                }
                _ => break,
            }
        }
        pointer
    }

    fn step(self, step: &str) -> Option<(Option<Cursor<'d>>, Cursor<'d>)> {
        match self.kind() {
            Kind::Object => self.entries().find(|(key, _)| key.raw() == step).map(|(key, value)| (Some(key), value)),
            Kind::List => self.items().nth(place(step)?).map(|item| (None, item)),
            _ => None,
        }
    }

    #[cold]
    fn decoded(self, node: Node) -> &'d str {
        self.document.decoded.get(node.link as usize).map_or("", |text| text)
    }

    #[inline]
    fn node(self) -> Node {
        self.document.nodes[self.at as usize]
    }

    /// The node after this one and everything in it.
    #[inline]
    fn next(self) -> u32 {
        let node = self.node();
        match node.kind {
            Kind::List | Kind::Object => node.link,
            _ => self.at + 1,
        }
    }

    /// The bytes of a scalar of any kind. Who only compares them need not find out that they are whole letters.
    #[inline]
    pub fn bytes(self) -> &'d [u8] {
        self.document.bytes_of(self.at as usize)
    }

    /// The text of a scalar of any kind.
    #[inline]
    pub fn raw(self) -> &'d str {
        let node = self.node();
        if node.link != AS_WRITTEN {
            return self.decoded(node);
        }
        let quote = u32::from(node.quoted);
        self.document.text.get((node.start + quote) as usize..(node.end - quote) as usize).unwrap_or_default()
    }
}

/// The place in a list that a step of a pointer names. It is written in one way only (RFC 6901).
fn place(step: &str) -> Option<usize> {
    let is_plain = step == "0" || !step.starts_with(['0', '+']);
    step.parse().ok().filter(|_| is_plain)
}

/// The items of a list.
#[derive(Debug, Clone)]
pub struct Items<'d> {
    document: &'d Document<'d>,
    at: u32,
    end: u32,
}

impl<'d> Iterator for Items<'d> {
    type Item = Cursor<'d>;

    #[inline]
    fn next(&mut self) -> Option<Cursor<'d>> {
        (self.at < self.end).then(|| {
            let item = Cursor { document: self.document, at: self.at };
            self.at = item.next();
            item
        })
    }
}

/// The members of an object.
#[derive(Debug, Clone)]
pub struct Entries<'d> {
    document: &'d Document<'d>,
    at: u32,
    end: u32,
}

impl<'d> Iterator for Entries<'d> {
    type Item = (Cursor<'d>, Cursor<'d>);

    #[inline]
    fn next(&mut self) -> Option<(Cursor<'d>, Cursor<'d>)> {
        (self.at < self.end).then(|| {
            let key = Cursor { document: self.document, at: self.at };
            let value = Cursor { document: self.document, at: self.at + 1 };
            self.at = value.next();
            (key, value)
        })
    }
}
