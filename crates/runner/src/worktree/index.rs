//! Git's index of a working tree, as a file that is kept.

use std::fs::File;
use std::path::Path;
use std::time::SystemTime;

/// What of an entry stands before the name of its object: when it changed, where it is, what it may.
const STAT: usize = 40;
/// The bit that says that an entry has two bytes more, in its flags; and those for the length of its name.
const EXTENDED: u16 = 0x4000;
const LENGTH: u16 = 0x0fff;

/// An index as it was, with its time: git goes by that when it looks which files it must read again.
#[derive(Clone, Debug)]
pub(super) struct Index {
    bytes: Vec<u8>,
    time: SystemTime,
}

impl Index {
    pub(super) fn read(path: &Path) -> std::io::Result<Self> {
        let time = path.metadata()?.modified()?;
        Ok(Self { bytes: std::fs::read(path)?, time })
    }

    pub(super) fn write(&self, path: &Path) -> std::io::Result<()> {
        std::fs::write(path, &self.bytes)?;
        File::options().write(true).open(path)?.set_modified(self.time)
    }

    /// The files in it that say how others are written into a tree, each with the name of its object, which is `hash` bytes
    /// long. None, if the index has another form than that in which we have git write it.
    pub(super) fn attributes(&self, hash: usize) -> Option<Vec<(&[u8], &[u8])>> {
        let number = |at: usize| Some(u32::from_be_bytes(self.bytes.get(at..at + 4)?.try_into().ok()?));
        if self.bytes.get(..4)? != b"DIRC" || !matches!(number(4)?, 2 | 3) {
            return None;
        }
        let (mut found, mut at) = (Vec::new(), 12);
        for _ in 0..number(8)? {
            let object = self.bytes.get(at + STAT..at + STAT + hash)?;
            let flags = u16::from_be_bytes(self.bytes.get(at + STAT + hash..at + STAT + hash + 2)?.try_into().ok()?);
            let head = STAT + hash + if flags & EXTENDED == 0 { 2 } else { 4 };
            let rest = self.bytes.get(at + head..)?;
            let length = match flags & LENGTH {
                LENGTH => memchr::memchr(0, rest)?,
                length => usize::from(length),
            };
            let name = rest.get(..length)?;
            if name == b".gitattributes" || name.ends_with(b"/.gitattributes") {
                found.push((name, object));
            }
            // At least one zero byte, and as many as make it a multiple of eight.
            at += (head + length + 8) & !7;
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
