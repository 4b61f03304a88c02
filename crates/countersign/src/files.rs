//! Reading and writing files so that neither half is ever seen.

use anyhow::Context;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Reads a file of at most `size_max` bytes. A longer one is refused before it is in memory.
pub fn read(path: &Path, size_max: usize) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| reason(&error))?;
    let kind = file.metadata().map_err(|error| reason(&error))?;
    if kind.is_dir() {
        return Err("it is a directory".to_owned());
    }
    limited(file, size_max, usize::try_from(kind.len()).unwrap_or(usize::MAX))
}

/// Reads standard input.
pub fn read_stdin(size_max: usize) -> Result<Vec<u8>, String> {
    limited(std::io::stdin().lock(), size_max, 0)
}

fn limited(from: impl Read, size_max: usize, expected: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(expected.min(size_max) + 1);
    // One byte more than allowed is enough to know that there is too much.
    let mut from = from.take(size_max as u64 + 1);
    from.read_to_end(&mut bytes).map_err(|error| reason(&error))?;
    Ok(bytes)
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission was denied".to_owned(),
        _ => error.to_string(),
    }
}

/// Writes a whole file or nothing: into a new file beside it, synced, then put in its place with its permissions.
pub fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let target = real_target(path);
    let folder = target.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let context = || format!("{} cannot be written", path.display());
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(context)?;
    file.write_all(text.as_bytes()).with_context(context)?;
    if let Ok(old) = std::fs::metadata(&target) {
        file.as_file().set_permissions(old.permissions()).with_context(context)?;
    }
    file.as_file().sync_all().with_context(context)?;
    file.persist(&target).with_context(context)?;
    // The name is safe only once the directory is; not every file system lets a directory be synced.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// A link stays a link: what it leads to is replaced.
fn real_target(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
