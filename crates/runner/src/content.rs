//! What a file is, as a hash.

use sha2::{Digest, Sha256};
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;
use std::time::Instant;

/// How much of a file is in memory at a time.
const PIECE: usize = 1 << 16;

/// What stands at a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Nothing.
    Gone,
    /// A folder.
    Folder,
    /// A file, a link or something else, by its hash: of what it holds, or of where it leads.
    Hash(String),
}

/// What stands at a path. Links are not followed. None, if the time was too short to read it.
pub(crate) fn of(path: &Path, until: Instant) -> Option<Content> {
    let Ok(found) = path.symlink_metadata() else { return Some(Content::Gone) };
    if found.is_dir() {
        return Some(Content::Folder);
    }
    if found.is_symlink() {
        let leads = std::fs::read_link(path).map(|to| to.into_os_string()).unwrap_or_default();
        return Some(Content::Hash(hash(&[leads.as_encoded_bytes()])));
    }
    if !found.is_file() {
        return Some(Content::Hash(hash(&[b"neither file nor link"])));
    }
    match open(path) {
        Ok(file) => stream(file, until).map(Content::Hash),
        // It differs, and nobody can say how: what is known of it has to do.
        Err(_) => Some(Content::Hash(hash(&[b"unreadable", &found.len().to_be_bytes(), &changed_at(&found)]))),
    }
}

/// The hash of some pieces, each with its length.
pub(crate) fn hash(pieces: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    if let [only] = pieces {
        hasher.update(only);
    } else {
        for piece in pieces {
            hasher.update((piece.len() as u64).to_be_bytes());
            hasher.update(piece);
        }
    }
    hex(&hasher.finalize())
}

fn stream(mut file: File, until: Instant) -> Option<String> {
    let mut hasher = Sha256::new();
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece) {
            Ok(0) | Err(_) => return Some(hex(&hasher.finalize())),
            Ok(read) => hasher.update(&piece[..read]),
        }
        if Instant::now() >= until {
            return None;
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn changed_at(found: &Metadata) -> Vec<u8> {
    let since = found.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since.map(|since| since.as_nanos().to_be_bytes().to_vec()).unwrap_or_default()
}

/// Opens a file so that neither a link nor a pipe that took its place is waited for.
#[cfg(unix)]
pub(crate) fn open(path: &Path) -> std::io::Result<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    File::options().read(true).custom_flags(flags.cast_signed()).open(path)
}

#[cfg(not(unix))]
pub(crate) fn open(path: &Path) -> std::io::Result<File> {
    File::open(path)
}
