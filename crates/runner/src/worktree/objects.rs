//! Git's objects, without a new process of git for each question: some are kept open, and asked again and again.
//!
//! Git takes far longer to start than to read a tree or to write one. What depends on settings, attributes, filters or on the
//! files of a working tree is not asked here, since a process that is kept open goes by what it has read once: only objects,
//! which never change.
//!
//! Everything here may say that it does not know. Whoever asks then has git do the whole of it, in the usual way.

mod comparing;
mod editing;
mod merging;
mod process;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

pub(crate) use editing::Edit;

use super::call::{Git, Identity, is_commit};
use process::Process;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A folder in a tree, as git writes its mode.
const FOLDER: &str = "40000";
/// How many things in trees are remembered.
const KNOWN_MAX: usize = 100_000;

/// The objects of a repository.
#[derive(Debug)]
pub(crate) struct Objects {
    /// Where git is called.
    folder: PathBuf,
    reader: Mutex<Keeper>,
    trees: Mutex<Keeper>,
    commits: Mutex<Keeper>,
    known: Mutex<Known>,
}

/// A process of git that is started when it is first needed.
#[derive(Debug, Default)]
enum Keeper {
    #[default]
    NotYet,
    Open(Process),
    /// It could not be asked, and is not asked again.
    Broken,
}

/// One thing in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    name: Vec<u8>,
    mode: &'static str,
    object: Vec<u8>,
}

impl Entry {
    fn is_folder(&self) -> bool {
        self.mode == FOLDER
    }

    /// What git orders by: folders as if their names had a slash behind them.
    fn order(&self) -> (&[u8], &[u8]) {
        (&self.name, if self.is_folder() { b"/" } else { b"" })
    }
}

/// A tree by its name, and what is in it.
#[derive(Clone, Debug)]
struct Tree {
    object: String,
    entries: Arc<[Entry]>,
}

/// Trees that were read before. They never change.
#[derive(Debug, Default)]
struct Known {
    trees: HashMap<String, Tree>,
    entries: usize,
}

impl Objects {
    pub(crate) fn of(folder: &Path) -> Self {
        let [reader, trees, commits] = std::array::from_fn(|_| Mutex::default());
        Self { folder: folder.to_owned(), reader, trees, commits, known: Mutex::default() }
    }

    /// The tree of a commit, or a tree, by a full name.
    fn tree(&self, name: &str) -> Option<Tree> {
        if !is_commit(name) {
            return None;
        }
        if let Some(tree) = self.known().trees.get(name) {
            return Some(tree.clone());
        }
        let (object, bytes) = self.ask(&self.reader, &["cat-file", "--batch"], |process| {
            process.say(format!("{name}^{{tree}}\n").as_bytes())?;
            let head = process.line()?;
            let mut fields = head.split(' ');
            let (object, kind, size) = (fields.next()?.to_owned(), fields.next()?, fields.next());
            // `missing`, and there is no more to read.
            let Some(size) = size else { return Some(None) };
            let mut bytes = process.bytes(size.parse::<usize>().ok()?.checked_add(1)?)?;
            bytes.pop();
            Some((kind == "tree").then_some((object, bytes)))
        })??;
        let tree = Tree { entries: entries(&bytes, object.len() / 2)?.into(), object };
        self.known().keep(name, &tree);
        Some(tree)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Nobody leaves it half changed.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a tree. It has something in it.
    fn write_tree(&self, mut entries: Vec<Entry>) -> Option<String> {
        entries.sort_by(|one, other| {
            let ((name, end), (other_name, other_end)) = (one.order(), other.order());
            name.iter().chain(end).cmp(other_name.iter().chain(other_end))
        });
        let mut bytes = Vec::new();
        for Entry { name, mode, object } in &entries {
            bytes.extend_from_slice(mode.as_bytes());
            bytes.push(b' ');
            bytes.extend_from_slice(name);
            bytes.push(0);
            bytes.extend_from_slice(object);
        }
        let object = self.write(&self.trees, "tree", &bytes)?;
        self.known().keep(&object, &Tree { object: object.clone(), entries: entries.into() });
        Some(object)
    }

    /// Writes an object.
    fn write(&self, keeper: &Mutex<Keeper>, kind: &str, bytes: &[u8]) -> Option<String> {
        let (_file, path) = nameless(bytes)?;
        self.ask(keeper, &["hash-object", "-t", kind, "-w", "--no-filters", "--stdin-paths"], |process| {
            process.say(format!("{path}\n").as_bytes())?;
            process.line().filter(|line| is_commit(line))
        })
    }

    /// Writes a commit of a tree on top of another one, in somebody's name and now.
    pub(crate) fn write_commit(&self, tree: &str, parent: &str, message: &str, who: &Identity) -> Option<String> {
        if ![tree, parent].into_iter().all(is_commit) || ![&who.name, &who.email].into_iter().all(|it| is_plain(it)) {
            return None;
        }
        let at = jiff::Zoned::now();
        let minutes = at.offset().seconds() / 60;
        let (sign, size) = (if minutes < 0 { '-' } else { '+' }, minutes.abs());
        let time = format!("{} {sign}{:02}{:02}", at.timestamp().as_second(), size / 60, size % 60);
        let who = format!("{} <{}> {time}", who.name, who.email);
        let text = format!("tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n\n{message}");
        self.write(&self.commits, "commit", text.as_bytes())
    }

    /// Asks a process that is kept open. One that does not answer, or not as it should, is ended.
    fn ask<T>(
        &self,
        keeper: &Mutex<Keeper>,
        arguments: &[&str],
        question: impl FnOnce(&mut Process) -> Option<T>,
    ) -> Option<T> {
        // Whoever broke off may have left an answer in the pipe, which the next question would be given.
        let is_broken = keeper.is_poisoned();
        let mut keeper = keeper.lock().unwrap_or_else(PoisonError::into_inner);
        if is_broken {
            *keeper = Keeper::Broken;
        }
        if matches!(*keeper, Keeper::NotYet) {
            *keeper = Process::start(Git::at(&self.folder).to_be_kept(arguments)).map_or(Keeper::Broken, Keeper::Open);
        }
        let Keeper::Open(process) = &mut *keeper else { return None };
        let answer = question(process);
        if answer.is_none() {
            *keeper = Keeper::Broken;
        }
        answer
    }
}

impl Known {
    fn keep(&mut self, name: &str, tree: &Tree) {
        self.entries += tree.entries.len();
        if self.entries > KNOWN_MAX {
            (self.trees, self.entries) = (HashMap::new(), tree.entries.len());
        }
        self.trees.insert(name.to_owned(), tree.clone());
    }
}

/// What is in a tree. None, if something is that is left to git.
fn entries(bytes: &[u8], hash: usize) -> Option<Vec<Entry>> {
    let (mut found, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let space = memchr::memchr(b' ', rest)?;
        let end = memchr::memchr(0, rest).filter(|end| *end > space)?;
        let mode = known_mode(rest.get(..space)?)?;
        let (name, object) = (rest.get(space + 1..end)?.to_vec(), rest.get(end + 1..end + 1 + hash)?.to_vec());
        found.push(Entry { name, mode, object });
        rest = rest.get(end + 1 + hash..)?;
    }
    Some(found)
}

/// A folder, a file, a file that can be run, or a link. Anything else is left to git.
fn known_mode(mode: &[u8]) -> Option<&'static str> {
    [FOLDER, "100644", "100755", "120000"].into_iter().find(|known| known.as_bytes() == mode)
}

/// The name of an object, as it is written.
pub(super) fn written(object: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = object.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    digits.map(char::from).collect()
}

/// The same as bytes.
fn unwritten(text: &str) -> Option<Vec<u8>> {
    let digit = |letter: u8| char::from(letter).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?)).collect()
}

/// Whether git would take a name or an address as it is.
fn is_plain(text: &str) -> bool {
    let usual = |letter: char| letter.is_alphanumeric() || " .@_-+".contains(letter);
    let ends = [text.chars().next(), text.chars().last()];
    text.chars().all(usual) && ends.into_iter().all(|it| it.is_some_and(char::is_alphanumeric))
}

/// Whether `/proc` knows us by the number by which we know ourselves.
#[cfg(target_os = "linux")]
static IS_OURS: std::sync::OnceLock<bool> = std::sync::OnceLock::new();

/// A file without a name that holds some bytes, and by which path another process opens it. Nothing of it is left, whatever
/// becomes of us.
#[cfg(target_os = "linux")]
fn nameless(bytes: &[u8]) -> Option<(std::fs::File, String)> {
    use std::os::fd::AsRawFd;
    // Where `/proc` is that of others, our number is somebody else's.
    let is_ours =
        || std::fs::read_link("/proc/self").is_ok_and(|own| own == Path::new(&std::process::id().to_string()));
    if !*IS_OURS.get_or_init(is_ours) {
        return None;
    }
    let file = rustix::fs::memfd_create("countersign-object", rustix::fs::MemfdFlags::CLOEXEC).ok()?;
    let mut file = std::fs::File::from(file);
    std::io::Write::write_all(&mut file, bytes).ok()?;
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    Some((file, path))
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &[u8]) -> Option<(std::fs::File, String)> {
    None
}
