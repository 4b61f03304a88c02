//! What a process did to its files, as strace saw it, and what a disk may have of it when the power goes.
//!
//! Of a file there is what was synced; of each later write any of its sectors may be there or not. Names are there once their
//! folder was synced; of later changes in a folder, as many as the disk got to, in their order.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use crate::dice::Dice;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// What a disk writes whole or not at all.
const SECTOR: usize = 512;

/// A call that succeeded.
pub struct Call {
    name: String,
    arguments: Vec<String>,
    /// When it began and when it returned, as lines of what was recorded.
    began: usize,
    ended: usize,
}

impl Call {
    /// Whether it asked for something to be safe.
    pub fn syncs(&self) -> bool {
        matches!(self.name.as_str(), "fsync" | "fdatasync")
    }

    /// What it said to whoever listens.
    pub fn said(&self) -> Option<String> {
        let to_output = self.name == "write" && self.arguments[0].starts_with("1<");
        to_output.then(|| String::from_utf8(bytes(&self.arguments[1])).unwrap())
    }

    /// The file that it was about, by the name that this had then.
    fn file(&self) -> PathBuf {
        let (_, name) = self.arguments[0].split_once('<').unwrap();
        path(name.split_once('>').unwrap().0)
    }

    /// The names that it was given.
    fn names(&self) -> Vec<PathBuf> {
        self.arguments.iter().filter(|it| it.starts_with('"')).map(|it| path(it)).collect()
    }

    fn number(&self, argument: usize) -> usize {
        self.arguments[argument].parse().unwrap()
    }
}

/// The bytes of a string as strace writes them when it is told to write all of them as numbers.
fn bytes(text: &str) -> Vec<u8> {
    let digits = text.trim_matches('"').split("\\x").skip(1);
    digits.map(|it| u8::from_str_radix(it, 16).unwrap()).collect()
}

fn path(text: &str) -> PathBuf {
    OsString::from_vec(bytes(text)).into()
}

/// Reads what strace wrote. A call during which others were made stands in two lines, and counts when it returns.
pub fn read(log: &Path) -> Vec<Call> {
    let text = std::fs::read_to_string(log).unwrap();
    let mut unfinished: HashMap<&str, (usize, &str)> = HashMap::new();
    let mut calls = Vec::new();
    for (ended, line) in text.lines().enumerate() {
        let (process, rest) = line.split_once(' ').unwrap();
        let rest = rest.trim_start();
        if let Some(begun) = rest.strip_suffix("<unfinished ...>") {
            unfinished.insert(process, (ended, begun));
            continue;
        }
        let (began, whole) = match rest.split_once(" resumed>") {
            Some((_, end)) => {
                let (began, begun) = unfinished.remove(process).unwrap();
                (began, format!("{}{end}", begun.trim_end()))
            }
            None => (ended, rest.to_owned()),
        };
        let Some((asked, result)) = whole.rsplit_once(" = ") else { continue };
        let Some((name, arguments)) = asked.trim_end().strip_suffix(')').and_then(|it| it.split_once('(')) else {
            continue;
        };
        if !result.starts_with('-') && !result.starts_with('?') {
            let arguments = arguments.split(',').map(|it| it.trim().to_owned()).collect();
            calls.push(Call { name: name.to_owned(), arguments, began, ended });
        }
    }
    calls
}

#[derive(Clone, Copy)]
enum Node {
    Folder,
    File(usize),
}

/// A change of names in a folder.
struct Change {
    at: usize,
    folder: PathBuf,
    take: Option<PathBuf>,
    put: Option<(PathBuf, Node)>,
}

impl Change {
    fn make(&self, names: &mut BTreeMap<PathBuf, Node>) {
        if let Some(path) = &self.take {
            names.remove(path);
        }
        names.extend(self.put.clone());
    }
}

enum Edit {
    Write(usize, Vec<u8>),
    Length(usize),
}

#[derive(Default)]
struct File {
    synced: Vec<u8>,
    /// What came after that, and when.
    edits: Vec<(usize, Edit)>,
    /// Where the next piece goes that does not say where.
    cursor: usize,
}

/// A folder on a disk.
pub struct Disk {
    root: PathBuf,
    files: Vec<File>,
    names: BTreeMap<PathBuf, Node>,
    synced: BTreeMap<PathBuf, Node>,
    changes: Vec<Change>,
}

impl Disk {
    /// As a folder is now, and all of it safe. There are only files in it.
    pub fn of(root: &Path) -> Self {
        let root = root.canonicalize().unwrap();
        let (mut files, mut names) = (Vec::new(), BTreeMap::new());
        for path in std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()) {
            names.insert(path.clone(), Node::File(files.len()));
            files.push(File { synced: std::fs::read(path).unwrap(), ..File::default() });
        }
        Self { root, files, synced: names.clone(), names, changes: Vec::new() }
    }

    /// Does what a call did.
    pub fn take(&mut self, call: &Call) {
        match call.name.as_str() {
            "openat" => self.open(call),
            "pwrite64" => self.edit(call, Edit::Write(call.number(3), bytes(&call.arguments[1]))),
            "write" => self.append(call),
            "ftruncate" => self.edit(call, Edit::Length(call.number(1))),
            "fsync" | "fdatasync" => self.sync(call),
            "rename" | "renameat" | "renameat2" => self.change(call, true, self.node(call.names().first())),
            "link" | "linkat" => self.change(call, false, self.node(call.names().first())),
            "unlink" | "unlinkat" => self.change(call, true, None),
            "mkdir" | "mkdirat" => self.change(call, false, Some(Node::Folder)),
            other => panic!("{other} was not expected"),
        }
    }

    fn node(&self, path: Option<&PathBuf>) -> Option<Node> {
        self.names.get(path?).copied()
    }

    fn file(&mut self, path: &Path) -> Option<&mut File> {
        match self.names.get(path)? {
            Node::File(number) => self.files.get_mut(*number),
            Node::Folder => None,
        }
    }

    fn edit(&mut self, call: &Call, edit: Edit) {
        if let Some(file) = self.file(&call.file()) {
            file.edits.push((call.ended, edit));
        }
    }

    fn append(&mut self, call: &Call) {
        let bytes = bytes(&call.arguments[1]);
        if let Some(file) = self.file(&call.file()) {
            let at = file.cursor;
            file.cursor += bytes.len();
            file.edits.push((call.ended, Edit::Write(at, bytes)));
        }
    }

    fn open(&mut self, call: &Call) {
        let Some(path) = call.names().pop().filter(|path| path.starts_with(&self.root)) else { return };
        let flags = &call.arguments[2];
        if flags.contains("O_CREAT") && !self.names.contains_key(&path) {
            self.files.push(File::default());
            self.change(call, false, Some(Node::File(self.files.len() - 1)));
        }
        if let Some(file) = self.file(&path) {
            file.cursor = 0;
            if flags.contains("O_TRUNC") {
                file.edits.push((call.ended, Edit::Length(0)));
            }
        }
    }

    /// The first name goes, if it is taken; the last one is what was put there.
    fn change(&mut self, call: &Call, take: bool, put: Option<Node>) {
        let names = call.names();
        let (Some(first), Some(last)) = (names.first(), names.last()) else { return };
        if !last.starts_with(&self.root) {
            return;
        }
        let folder = last.parent().unwrap().to_owned();
        let put = put.map(|node| (last.clone(), node));
        let change = Change { at: call.ended, folder, take: take.then(|| first.clone()), put };
        change.make(&mut self.names);
        self.changes.push(change);
    }

    /// What was there when a sync began is safe once it returns.
    fn sync(&mut self, call: &Call) {
        let path = call.file();
        if let Some(file) = self.file(&path) {
            let (safe, rest) = std::mem::take(&mut file.edits).into_iter().partition(|(at, _)| *at < call.began);
            file.edits = rest;
            let safe: Vec<_> = safe;
            safe.iter().for_each(|(_, edit)| edit.make(&mut file.synced, None));
            return;
        }
        let (safe, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.changes).into_iter().partition(|it| it.folder == path && it.at < call.began);
        self.changes = rest;
        safe.iter().for_each(|change| change.make(&mut self.synced));
    }

    /// Writes what is there after the power has gone: what is safe, and of the rest what the dice say, or nothing.
    pub fn cut(&self, mut dice: Option<&mut Dice>, to: &Path) {
        let mut names = self.synced.clone();
        let mut reached: BTreeMap<&Path, bool> = BTreeMap::new();
        for change in &self.changes {
            let on = reached.entry(&change.folder).or_insert(true);
            *on = *on && dice.as_mut().is_some_and(|dice| dice.below(4) > 0);
            if *on {
                change.make(&mut names);
            }
        }
        for (path, node) in &names {
            let folders = path.ancestors().skip(1).take_while(|it| *it != self.root);
            let Node::File(number) = node else { continue };
            // What processes share is in memory only.
            let shared = path.to_string_lossy().ends_with("-shm");
            if shared || !folders.into_iter().all(|it| matches!(names.get(it), Some(Node::Folder))) {
                continue;
            }
            let file = &self.files[*number];
            let mut body = file.synced.clone();
            if let Some(dice) = &mut dice {
                file.edits.iter().for_each(|(_, edit)| edit.make(&mut body, Some(dice)));
            }
            let target = to.join(path.strip_prefix(&self.root).unwrap());
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::write(target, body).unwrap();
        }
    }
}

impl Edit {
    /// Makes it, whole or as far as the dice say.
    fn make(&self, body: &mut Vec<u8>, mut dice: Option<&mut Dice>) {
        let mut does = || dice.as_mut().is_none_or(|dice| dice.below(2) > 0);
        match self {
            Edit::Length(length) if does() => body.resize(*length, 0),
            Edit::Length(_) => {}
            Edit::Write(at, bytes) => {
                for (sector, part) in bytes.chunks(SECTOR).enumerate() {
                    let at = at + sector * SECTOR;
                    if does() {
                        body.resize(body.len().max(at + part.len()), 0);
                        body[at..at + part.len()].copy_from_slice(part);
                    }
                }
            }
        }
    }
}
