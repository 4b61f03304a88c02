//! Reading and writing files so that neither half is ever seen.

use anyhow::{Context, bail};
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// Why a document cannot be had.
#[derive(Debug, Clone)]
pub enum Unread {
    /// It is longer than allowed, and so was not read to its end.
    TooLarge,
    /// It is not there, or may not be read.
    Failed(String),
}

impl Unread {
    /// The reason as a clause.
    pub fn why(&self, size_max: usize) -> String {
        match self {
            Unread::TooLarge => format!("it has more than the {size_max} bytes allowed"),
            Unread::Failed(why) => why.clone(),
        }
    }
}

/// Reads a file of at most `size_max` bytes. Of a longer one no more than that is ever in memory.
pub fn read(path: &Path, size_max: usize) -> Result<Vec<u8>, Unread> {
    let (file, length) = open(path).map_err(Unread::Failed)?;
    if length > size_max as u64 {
        return Err(Unread::TooLarge);
    }
    limited(file, size_max, length)
}

/// The same for a path that a document names: only a regular file is read. A pipe there would be waited for as long as
/// nobody writes into it.
pub fn read_regular(path: &Path, size_max: usize) -> Result<Vec<u8>, Unread> {
    let failed = |error: std::io::Error| Unread::Failed(reason(&error));
    let file = open_at_once(path).map_err(failed)?;
    let kind = file.metadata().map_err(failed)?;
    if !kind.is_file() {
        return Err(Unread::Failed("it is no regular file".to_owned()));
    }
    if kind.len() > size_max as u64 {
        return Err(Unread::TooLarge);
    }
    limited(file, size_max, kind.len())
}

/// A file that was named, to be read bit by bit, however long it is.
pub fn opened(path: &Path) -> anyhow::Result<BufReader<File>> {
    let (file, _) = open(path).map_err(|why| unread(path, &why))?;
    Ok(BufReader::with_capacity(1 << 20, file))
}

/// The text of a file that was named.
pub fn text(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    opened(path)?.read_to_string(&mut text).map_err(|error| unread(path, &reason(&error)))?;
    Ok(text)
}

fn unread(path: &Path, why: &str) -> anyhow::Error {
    anyhow::anyhow!("`{}` cannot be read: {why}", path.display())
}

/// Reads standard input.
pub fn read_stdin(size_max: usize) -> Result<Vec<u8>, Unread> {
    limited(std::io::stdin().lock(), size_max, 0)
}

fn open(path: &Path) -> Result<(File, u64), String> {
    let file = File::open(path).map_err(|error| reason(&error))?;
    let kind = file.metadata().map_err(|error| reason(&error))?;
    if kind.is_dir() {
        return Err("it is a directory".to_owned());
    }
    Ok((file, kind.len()))
}

/// Opens without waiting for anybody at the other end.
#[cfg(unix)]
fn open_at_once(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NONBLOCK.bits();
    File::options().read(true).custom_flags(flags.cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open_at_once(path: &Path) -> std::io::Result<File> {
    File::open(path)
}

fn limited(from: impl Read, size_max: usize, expected: u64) -> Result<Vec<u8>, Unread> {
    let expected = usize::try_from(expected).unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(expected.min(size_max) + 1);
    // One byte more than allowed is enough to know that there is too much; what a file says of its length may be old.
    let mut from = from.take(size_max as u64 + 1);
    from.read_to_end(&mut bytes).map_err(|error| Unread::Failed(reason(&error)))?;
    if bytes.len() > size_max { Err(Unread::TooLarge) } else { Ok(bytes) }
}

/// Hands a file of any length to `look` piece by piece, until it has seen enough. Each piece begins with the last
/// `overlap` bytes of the one before, so that nothing that short is cut in two.
pub fn in_pieces(path: &Path, overlap: usize, mut look: impl FnMut(&[u8]) -> bool) -> Result<(), String> {
    const PIECE: u64 = 1 << 18;
    let (mut file, _) = open(path)?;
    let mut piece = Vec::new();
    loop {
        let kept = piece.len();
        let read = Read::by_ref(&mut file).take(PIECE).read_to_end(&mut piece).map_err(|error| reason(&error))?;
        if read == 0 || look(&piece) {
            return Ok(());
        }
        piece.drain(..(kept + read).saturating_sub(overlap));
    }
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission was denied".to_owned(),
        _ => error.to_string(),
    }
}

/// Writes a whole file or nothing: into a new file beside it, synced, then put in its place with its permissions.
pub fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    write_by(path, |file| file.write_all(text.as_bytes()).with_context(|| unwritten(path)))
}

/// The same, of what is written piece by piece, by whoever says best what went wrong with that.
pub fn write_by(path: &Path, fill: impl FnOnce(&mut File) -> anyhow::Result<()>) -> anyhow::Result<()> {
    match std::fs::metadata(path) {
        Ok(there) if there.is_dir() => bail!("{}: it is a directory", unwritten(path)),
        // A device or a pipe is written to. Nothing takes its place.
        Ok(there) if !there.is_file() => {
            fill(&mut File::options().write(true).open(path).with_context(|| unwritten(path))?)
        }
        _ => put(path, true, fill),
    }
}

/// Writes a whole new file or nothing. One that is there already stays as it is, and that is an error.
pub fn write_new(path: &Path, text: &str) -> anyhow::Result<()> {
    put(path, false, |file| file.write_all(text.as_bytes()).with_context(|| unwritten(path)))
}

fn unwritten(path: &Path) -> String {
    format!("{} cannot be written", path.display())
}

fn put(path: &Path, replace: bool, fill: impl FnOnce(&mut File) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let target = if replace { real_target(path) } else { path.to_owned() };
    let folder = target.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let context = || unwritten(path);
    if !folder.is_dir() {
        bail!("{}: there is no directory {}", context(), folder.display());
    }
    // The new file's own name is nobody's business.
    let unmade = |error: std::io::Error| std::io::Error::from(error.kind());
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(unmade).with_context(context)?;
    fill(file.as_file_mut())?;
    if let (true, Ok(old)) = (replace, std::fs::metadata(&target)) {
        file.as_file().set_permissions(old.permissions()).with_context(context)?;
    }
    file.as_file().sync_all().with_context(context)?;
    let put = if replace { file.persist(&target) } else { file.persist_noclobber(&target) };
    if let Err(unput) = put {
        if !replace && unput.error.kind() == std::io::ErrorKind::AlreadyExists {
            bail!("{} exists already; choose another name", path.display());
        }
        return Err(unput.error).with_context(context);
    }
    // The name is safe only once the directory is; not every file system lets a directory be synced.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// A link stays a link: what it leads to is replaced.
fn real_target(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_takes_no_one_elses_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept.json");
        write_new(&path, "first").unwrap();
        let said = format!("{:#}", write_new(&path, "second").unwrap_err());
        assert_eq!(said, format!("{} exists already; choose another name", path.display()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "first");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_written_to_and_stays_what_it_is() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0);
        made.unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for path in [&pipe, &link] {
            let reader = std::thread::spawn({
                let pipe = pipe.clone();
                move || std::fs::read_to_string(pipe).unwrap()
            });
            write(path, "through it").unwrap();
            assert_eq!(reader.join().unwrap(), "through it");
            assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
            assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        }
        let said = format!("{:#}", write(folder.path(), "text").unwrap_err());
        assert_eq!(said, format!("{} cannot be written: it is a directory", folder.path().display()));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_missing_directory_is_named_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        let path = missing.join("new.json");
        for written in [write(&path, "text"), write_new(&path, "text")] {
            let wanted = format!("{} cannot be written: there is no directory {}", path.display(), missing.display());
            assert_eq!(format!("{:#}", written.unwrap_err()), wanted);
        }
    }

    #[test]
    fn a_file_beyond_the_limit_is_not_read_and_pieces_overlap() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large");
        let text: String = (0..200_000).map(|number| format!("{number} ")).collect();
        std::fs::write(&path, &text).unwrap();
        assert!(matches!(read(&path, text.len() - 1), Err(Unread::TooLarge)));
        assert_eq!(read(&path, text.len()).unwrap().len(), text.len());
        for word in [" 37449 ", " 100000 ", " 199999 "] {
            let mut seen = false;
            in_pieces(&path, 16, |piece| {
                seen |= String::from_utf8_lossy(piece).contains(word);
                seen
            })
            .unwrap();
            assert!(seen, "{word}");
        }
    }
}
