//! Git's index of a working tree, as it was when it was read.

use super::objects::written;
use crate::content;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::time::SystemTime;

#[cfg(unix)]
mod standing;

/// How long an index may be: some millions of files.
const BYTES_MAX: u64 = 1 << 30;
/// What of an entry stands before the name of its object: when it changed, where it is, what it may.
const STAT: usize = 40;
/// The number of what it may among those.
const MODE: usize = 6;
/// Names in an index, from the top.
type Names<'i> = Vec<&'i [u8]>;

/// What files may be, and links. A repository inside of this one is none of these.
const MODES: [u32; 3] = [0o100_644, 0o100_755, 0o120_000];
/// The bit that says that an entry has two bytes more, in its flags; and those for the length of its name.
const EXTENDED: u16 = 0x4000;
const LENGTH: u16 = 0x0fff;

/// An index as it was, with its time: git goes by that when it looks which files it must read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Index {
    bytes: Vec<u8>,
    time: SystemTime,
}

impl Index {
    /// Reads what is a file, and neither a link nor a pipe: others may have put that there.
    pub(crate) fn read(path: &Path) -> std::io::Result<Self> {
        let file = content::open(path)?;
        let found = file.metadata()?;
        if !found.is_file() || found.len() > BYTES_MAX {
            return Err(std::io::Error::other("it is no file, or far too long for an index"));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or_default());
        file.take(BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(Self { bytes, time: found.modified()? })
    }

    pub(super) fn write(&self, path: &Path) -> std::io::Result<()> {
        std::fs::write(path, &self.bytes)?;
        File::options().write(true).open(path)?.set_modified(self.time)
    }

    /// The same where nothing may be yet: neither what is there is written over, nor where a link leads to.
    pub(super) fn write_new(&self, path: &Path) -> std::io::Result<()> {
        let mut file = File::options().write(true).create_new(true).open(path)?;
        file.write_all(&self.bytes)?;
        file.set_modified(self.time)
    }

    /// Whether everything in it is a file as it usually is, and no repository. Names of objects are `hash` bytes long.
    pub(super) fn is_usual(&self, hash: usize) -> bool {
        self.entries(hash).is_some_and(|(entries, _)| entries.iter().all(Entry::is_usual))
    }

    /// The files in it that say how others are written into a tree, each with the name of its object, which is `hash` bytes
    /// long. None, if the index has another form than that in which we have git write it.
    pub(super) fn attributes(&self, hash: usize) -> Option<Vec<(&[u8], &[u8])>> {
        let (entries, _) = self.entries(hash)?;
        let tells = |entry: &Entry<'_>| entry.name == b".gitattributes" || entry.name.ends_with(b"/.gitattributes");
        Some(entries.into_iter().filter(tells).map(|entry| (entry.name, entry.object)).collect())
    }

    /// Some of the files in it, each with its mode and object, whose names are `hash` bytes long. None, if one of them is not
    /// there, or not as a file usually is, or the index has another form.
    pub(super) fn files<'n>(&self, names: &[&'n [u8]], hash: usize) -> Option<Vec<(&'n [u8], String, String)>> {
        let (entries, _) = self.entries(hash)?;
        let file = |name: &&'n [u8]| {
            let at = entries.binary_search_by(|entry| entry.name.cmp(name)).ok()?;
            let entry = entries.get(at).filter(|entry| entry.is_plain)?;
            Some((*name, format!("{:o}", entry.stat[MODE]), written(entry.object)))
        };
        names.iter().map(file).collect()
    }

    /// The names in it that are new or other than in an earlier one, and those that are gone since. Names of objects are `hash`
    /// bytes long. None, if there is a repository in either, or a file not as it usually is, or they have another form.
    pub(super) fn since<'i>(&'i self, earlier: &'i Self, hash: usize) -> Option<(Names<'i>, Names<'i>)> {
        let ((now, _), (before, _)) = (self.entries(hash)?, earlier.entries(hash)?);
        if !now.iter().chain(&before).all(Entry::is_usual) {
            return None;
        }
        let is_same = |one: &Entry<'_>, other: &Entry<'_>| {
            (one.stat[MODE], one.object, one.name) == (other.stat[MODE], other.object, other.name)
        };
        let find = |all: &[Entry<'i>], name: &[u8]| {
            let at = all.binary_search_by(|entry| entry.name.cmp(name)).ok()?;
            all.get(at).copied()
        };
        let differs = |entry: &&Entry<'i>| !find(&before, entry.name).is_some_and(|was| is_same(entry, &was));
        let there = now.iter().filter(differs).map(|entry| entry.name).collect();
        let is_gone = |entry: &&Entry<'i>| find(&now, entry.name).is_none();
        let gone = before.iter().filter(is_gone).map(|entry| entry.name).collect();
        Some((there, gone))
    }

    /// Everything in it, in the order of the names, and where that ends. Names of objects are `hash` bytes long. None, if the
    /// index has another form than that in which we have git write it.
    fn entries(&self, hash: usize) -> Option<(Vec<Entry<'_>>, usize)> {
        if self.bytes.get(..4)? != b"DIRC" || !matches!(self.number(4)?, 2 | 3) {
            return None;
        }
        let (mut found, mut at) = (Vec::new(), 12);
        for _ in 0..self.number(8)? {
            let object = self.bytes.get(at + STAT..at + STAT + hash)?;
            let flags = u16::from_be_bytes(self.bytes.get(at + STAT + hash..at + STAT + hash + 2)?.try_into().ok()?);
            let head = STAT + hash + if flags & EXTENDED == 0 { 2 } else { 4 };
            let rest = self.bytes.get(at + head..)?;
            let length = match flags & LENGTH {
                LENGTH => memchr::memchr(0, rest)?,
                length => usize::from(length),
            };
            let mut stat = [0; STAT / 4];
            for (n, field) in stat.iter_mut().enumerate() {
                *field = self.number(at + 4 * n)?;
            }
            found.push(Entry { stat, object, is_plain: flags & !LENGTH == 0, name: rest.get(..length)? });
            // At least one zero byte, and as many as make it a multiple of eight.
            at += (head + length + 8) & !7;
        }
        Some((found, at))
    }

    fn number(&self, at: usize) -> Option<u32> {
        Some(u32::from_be_bytes(self.bytes.get(at..at + 4)?.try_into().ok()?))
    }
}

/// One file in an index.
#[derive(Clone, Copy, Debug)]
struct Entry<'i> {
    /// When it was changed, and then when what is in it was, in seconds and parts of them; where it is; its mode, its owner
    /// and its size.
    stat: [u32; STAT / 4],
    object: &'i [u8],
    /// Whether nothing else is said about it: that it is in conflict, is not to be looked at, or is only meant to come.
    is_plain: bool,
    name: &'i [u8],
}

impl Entry<'_> {
    fn is_usual(&self) -> bool {
        self.is_plain && MODES.contains(&self.stat[MODE])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn neither_links_nor_pipes_nor_folders_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "DIRC").unwrap();
        assert_eq!(Index::read(&at("file")).unwrap().bytes, b"DIRC");
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("endless")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        std::fs::create_dir(at("folder")).unwrap();
        File::create(at("huge")).unwrap().set_len(BYTES_MAX + 1).unwrap();
        for name in ["link", "endless", "pipe", "folder", "huge", "nothing"] {
            assert!(Index::read(&at(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn no_index_is_read_beyond_its_end() {
        let entry = |name: &[u8]| {
            let mut entry =
                [vec![7; STAT], vec![8; 20], u16::try_from(name.len()).unwrap().to_be_bytes().to_vec()].concat();
            entry.extend_from_slice(name);
            let padding = ((entry.len() + 8) & !7) - entry.len();
            entry.extend(vec![0; padding]);
            entry
        };
        let head = b"DIRC\0\0\0\x02\0\0\0\x03".to_vec();
        let whole = [head, entry(b".gitattributes"), entry(b"a/b"), entry(b"a/c/.gitattributes")].concat();
        let index = |bytes: &[u8]| Index { bytes: bytes.to_vec(), time: SystemTime::UNIX_EPOCH };
        let object: &[u8] = &[8; 20];
        let expected: Vec<(&[u8], &[u8])> = vec![(b".gitattributes", object), (b"a/c/.gitattributes", object)];
        assert_eq!(index(&whole).attributes(20), Some(expected));
        let names_end = whole.len() - 8;
        for end in 0..names_end {
            assert_eq!(index(&whole[..end]).attributes(20), None, "{end}");
        }
        assert_eq!(index(&[b"DIRC\0\0\0\x04".as_slice(), &whole[8..]].concat()).attributes(20), None);
    }
}
