//! A place where instructions are acted on: a folder with a name that no other has, and a lock for each instruction.

use crate::worktree::lock::{lock, lock_now};
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file that has the name.
const NAME: &str = "place";
/// How long a name may be.
const NAME_MAX: usize = 100;

/// A folder of locks.
pub(super) struct Place {
    folder: PathBuf,
    /// What it is called. Whoever holds a lock here knows that nobody else does who calls it the same.
    pub(super) name: String,
}

impl Place {
    /// The place in a folder, which is made if it is not there.
    pub(super) fn at(folder: &Path) -> Result<Self, String> {
        let said = |what: &Path, error: std::io::Error| format!("{} cannot be made: {error}", what.display());
        std::fs::create_dir_all(folder).map_err(|error| said(folder, error))?;
        let path = folder.join(NAME);
        if !path.exists() {
            let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|error| said(&path, error))?;
            file.write_all(drawn().as_bytes()).map_err(|error| said(&path, error))?;
            file.as_file().sync_all().map_err(|error| said(&path, error))?;
            // If somebody else was faster, theirs counts.
            if let Err(unput) = file.persist_noclobber(&path)
                && unput.error.kind() != std::io::ErrorKind::AlreadyExists
            {
                return Err(said(&path, unput.error));
            }
        }
        let name =
            std::fs::read_to_string(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        let fits = !name.is_empty() && name.len() <= NAME_MAX && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !fits {
            return Err(format!("{} holds no name of a place; remove it when nobody acts", path.display()));
        }
        Ok(Self { folder: folder.to_owned(), name })
    }

    /// Waits until nobody else here acts on an instruction. It ends when it is dropped, and with the process.
    pub(super) fn lock(&self, instruction: &str) -> Result<File, String> {
        lock(&self.file(instruction))
    }

    /// The same without waiting. None, if somebody else has it; whoever then waits for it is told what else is wrong with it.
    pub(super) fn lock_now(&self, instruction: &str) -> Option<File> {
        lock_now(&self.file(instruction))
    }

    fn file(&self, instruction: &str) -> PathBuf {
        self.folder.join(format!("{instruction}.lock"))
    }
}

/// A name that no other place has: the keys of the standard library's hashers are drawn by the system.
fn drawn() -> String {
    let draw = || std::collections::hash_map::RandomState::new().build_hasher().finish();
    let pid = std::process::id();
    let time = jiff::Timestamp::now().as_nanosecond();
    countersign_contract::sha256_hex(format!("{:x}{:x}{pid}{time}", draw(), draw()).as_bytes())[..32].to_owned()
}
