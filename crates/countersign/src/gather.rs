//! Which documents are meant.

use crate::files::{self, Unread};
use anyhow::{Context, bail};
use countersign_contract::Form;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A document that was asked for.
#[derive(Debug, Clone)]
pub struct Input {
    /// Where it is; none for standard input.
    pub path: Option<PathBuf>,
    /// How it is called in output.
    pub name: String,
    /// Whether it was found in a directory rather than named, and so may be none of ours.
    pub found: bool,
    /// What came of reading it, where that is kept.
    once: Arc<OnceLock<Read>>,
    /// How much of files may still be kept, by all that were asked for together.
    room: Arc<AtomicUsize>,
}

/// What came of reading a document.
pub type Read = Result<Arc<Vec<u8>>, Unread>;

/// How many bytes of files are kept in memory from one reading to the next. Documents that are checked together are read for
/// their names before they are checked, and again when others ask for them: up to here, each is read once. However large a
/// directory is, no more is kept.
const KEPT_MAX: usize = 32 << 20;

/// What the arguments mean.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The documents, in the order of the arguments; those of a directory by name.
    pub inputs: Vec<Input>,
    /// How many links were left alone, because they lead nowhere or out of the directory that was walked.
    pub links_left: usize,
    /// Folders that could not be looked into, each with the reason.
    pub unread: Vec<String>,
}

/// The documents that the arguments mean.
pub fn inputs(arguments: &[PathBuf], stdin_name: Option<&str>) -> anyhow::Result<Gathered> {
    let mut gathered = Gathered::default();
    let room = Arc::new(AtomicUsize::new(KEPT_MAX));
    for argument in arguments {
        if argument.is_dir() {
            walk(argument, &mut gathered)?;
        } else {
            gathered.inputs.push(Input::named(argument, stdin_name));
        }
    }
    gathered.inputs.iter_mut().for_each(|input| input.room = Arc::clone(&room));
    if gathered.inputs.iter().filter(|input| input.path.is_none()).count() > 1 {
        bail!("standard input can be read only once; name `-` one time");
    }
    Ok(gathered)
}

/// Files whose ending is one that documents have, in order; what `.gitignore` names is left out, and nothing else: what
/// is checked must not hang on settings that only one machine has.
fn walk(directory: &Path, gathered: &mut Gathered) -> anyhow::Result<()> {
    let context = || format!("`{}` cannot be walked", directory.display());
    let real = directory.canonicalize().with_context(context)?;
    let mut walk = ignore::WalkBuilder::new(directory);
    // Evidence lives in folders that begin with a dot.
    walk.hidden(false).require_git(false).ignore(false).git_global(false).git_exclude(false);
    walk.sort_by_file_path(Ord::cmp);
    walk.filter_entry(|entry| entry.file_name() != ".git" && entry.file_name() != crate::project::FOLDER);
    for entry in walk.build() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                gathered.unread.push(format!("a folder cannot be looked into: {error}"));
                continue;
            }
        };
        let (link, file) = (entry.path_is_symlink(), entry.file_type().is_some_and(|kind| kind.is_file()));
        let path = entry.into_path();
        let document = Form::of_name(&path.to_string_lossy()).is_some();
        // The directory itself may be named by a link.
        if link && path != directory {
            match path.canonicalize().ok().filter(|to| to.starts_with(&real)) {
                // A folder that lies beneath is walked where it lies.
                Some(to) if !to.is_file() => continue,
                Some(_) if document => {}
                Some(_) => continue,
                None => {
                    gathered.links_left += usize::from(document || path.is_dir());
                    continue;
                }
            }
        } else if !file || !document {
            continue;
        }
        let input = Input::named(path.strip_prefix("./").unwrap_or(&path), None);
        gathered.inputs.push(Input { found: true, ..input });
    }
    Ok(())
}

impl Input {
    /// A document by the name that was given; `-` is standard input.
    pub fn named(path: &Path, stdin_name: Option<&str>) -> Self {
        let (path, name) = if path.as_os_str() == "-" {
            (None, stdin_name.unwrap_or("<stdin>").to_owned())
        } else {
            (Some(path.to_owned()), path.display().to_string())
        };
        Self { path, name, found: false, once: Arc::default(), room: Arc::new(AtomicUsize::new(KEPT_MAX)) }
    }

    /// A document that lies at `path`, whatever that is called.
    pub fn file(path: &Path) -> Self {
        Self { path: Some(path.to_owned()), name: path.display().to_string(), ..Self::named(path, None) }
    }

    /// The bytes of the document, or why they cannot be had. They are kept for whoever asks again, a file's while there is
    /// room; what is no file gives them once, and a second look would find it empty.
    pub fn read(&self, size_max: usize) -> Read {
        if let Some(read) = self.once.get() {
            return read.clone();
        }
        match &self.path {
            Some(path) if self.found || path.is_file() => self.keep(files::read(path, size_max).map(Arc::new)),
            Some(path) => self.once.get_or_init(|| files::read(path, size_max).map(Arc::new)).clone(),
            None => files::read_stdin(size_max).map(Arc::new),
        }
    }

    fn keep(&self, read: Read) -> Read {
        let size = read.as_ref().map_or(0, |bytes| bytes.len());
        let taken = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| room.checked_sub(size));
        if taken.is_err() {
            return read;
        }
        // Of two who read it at once, both have what the first has read.
        self.once.get_or_init(|| read).clone()
    }

    /// Whether this is the document that lies at `path`.
    pub fn lies_at(&self, path: &Path) -> bool {
        let whole = |path: &Path| std::path::absolute(path).ok();
        let same = |own: &Path| own == path || own.file_name() == path.file_name() && whole(own) == whole(path);
        self.path.as_deref().is_some_and(same)
    }

    /// The text of the document. It is an error if that cannot be had.
    pub fn text(&self, size_max: usize) -> anyhow::Result<String> {
        let unread = |why: String| anyhow::anyhow!("`{}` cannot be read: {why}", self.name);
        let bytes = self.read(size_max).map_err(|why| unread(why.why(size_max)))?;
        countersign_contract::utf8(&bytes).map(str::to_owned).map_err(|fault| unread(fault.message))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once_while_there_is_room_and_no_more_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (name, text) in [("a.json", "one"), ("b.json", "two"), ("c.json", "three")] {
            std::fs::write(path(name), text).unwrap();
        }
        let inputs = inputs(&[folder.path().to_owned(), path("a.json")], None).unwrap().inputs;
        inputs.iter().for_each(|input| input.room.store(9, Ordering::Relaxed));
        let read = |number: usize| inputs[number].read(100).map(|bytes| bytes.to_vec()).ok();
        let first: Vec<_> = (0..3).map(read).collect();
        for name in ["a.json", "b.json", "c.json"] {
            std::fs::write(path(name), "otherwise").unwrap();
        }
        // Two have room, and are what they were; the third is read anew each time.
        assert_eq!(first, ["one", "two", "three"].map(|text| Some(text.into())));
        assert_eq!([read(0), read(1), read(2)], ["one", "two", "otherwise"].map(|text| Some(text.into())));
        assert!(inputs[3].lies_at(&path("a.json")) && !inputs[3].lies_at(&path("b.json")));
    }
}
