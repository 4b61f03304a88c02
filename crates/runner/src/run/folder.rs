//! The project's folder before and after an agent worked in it, where there is no repository that tells what changed.
//!
//! Names are compared first, then sizes and times, and contents where those leave it open. What `.gitignore` files named
//! before the work is left out, whatever they say after it: nobody hides what they did by a rule of their own.

use crate::{content, files, names};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How many files are looked at.
const FILES_MAX: usize = 100_000;
/// How large a file may be that is read before anybody knows whether it changes, and how much is read of all together.
const READ_MAX: u64 = 256 << 10;
const READ_ALL_MAX: u64 = 64 << 20;
/// How coarse the times of files may be.
const GRAIN: Duration = Duration::from_secs(2);
/// How long looking at a folder may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How large a file of rules may be.
const RULES_MAX: usize = 1 << 20;
/// Folders that are never looked into.
const APART: [&str; 2] = [".countersign", ".git"];

/// A folder as it was.
pub(super) struct Folder {
    root: PathBuf,
    /// What is left out, by the folder that says so.
    rules: BTreeMap<PathBuf, Rule>,
    files: BTreeMap<PathBuf, Seen>,
    /// Files that were touched after this could be written to once more without another time to show for it.
    settled: SystemTime,
}

/// What a folder leaves out, as it is written and as it is used.
struct Rule {
    text: String,
    rules: Gitignore,
}

impl Rule {
    fn of(folder: &Path, text: String) -> Self {
        let mut builder = GitignoreBuilder::new(folder);
        for line in text.trim_start_matches('\u{feff}').lines() {
            // One that cannot be understood leaves nothing out.
            let _ = builder.add_line(None, line);
        }
        Self { rules: builder.build().unwrap_or_else(|_| Gitignore::empty()), text }
    }
}

/// A folder as it was, in a form that can be kept. Names are relative, with `%` and digits for every unusual byte.
#[derive(Serialize, Deserialize)]
pub(super) struct Files {
    rules: BTreeMap<String, String>,
    files: BTreeMap<String, Seen>,
    settled: SystemTime,
}

/// A file as it was.
#[derive(Clone, Serialize, Deserialize)]
struct Seen {
    size: u64,
    touched: Option<SystemTime>,
    /// The hash of what it holds, if it was read.
    hash: Option<String>,
}

impl Folder {
    /// The folder as it is now.
    ///
    /// # Errors
    /// There is too much of it to be looked at.
    pub(super) fn of(root: &Path) -> Result<Self, String> {
        let until = Instant::now() + PATIENCE;
        let settled = SystemTime::now().checked_sub(GRAIN).unwrap_or(SystemTime::UNIX_EPOCH);
        let mut folder = Self { root: root.to_owned(), rules: BTreeMap::new(), files: BTreeMap::new(), settled };
        let mut left = READ_ALL_MAX;
        for path in walk(&mut folder.rules, root, Rules::Read, until)? {
            let Ok(meta) = path.symlink_metadata() else { continue };
            let read = !meta.is_file() || (meta.len() <= READ_MAX && meta.len() <= left);
            let hash = if read { hash(&path, until)? } else { None };
            if meta.is_file() && hash.is_some() {
                left = left.saturating_sub(meta.len());
            }
            folder.files.insert(path, Seen { size: meta.len(), touched: touched(&meta), hash });
        }
        Ok(folder)
    }

    /// The folder in a form that can be kept.
    pub(super) fn files(&self) -> Files {
        let name =
            |path: &Path| names::escaped(path.strip_prefix(&self.root).unwrap_or(path).as_os_str().as_encoded_bytes());
        Files {
            rules: self.rules.iter().map(|(folder, rule)| (name(folder), rule.text.clone())).collect(),
            files: self.files.iter().map(|(path, seen)| (name(path), seen.clone())).collect(),
            settled: self.settled,
        }
    }

    /// The folder as it was kept.
    pub(super) fn kept(root: &Path, kept: &Files) -> Self {
        // Joined to nothing, it would end with a separator.
        let path = |name: &String| {
            if name.is_empty() { root.to_owned() } else { root.join(names::path(&names::unescaped(name))) }
        };
        let rule = |(name, text): (&String, &String)| (path(name), Rule::of(&path(name), text.clone()));
        Self {
            root: root.to_owned(),
            rules: kept.rules.iter().map(rule).collect(),
            files: kept.files.iter().map(|(name, seen)| (path(name), seen.clone())).collect(),
            settled: kept.settled,
        }
    }

    /// The files that are something else by now, came or went, relative to the folder.
    ///
    /// # Errors
    /// There is too much of it to be looked at.
    pub(super) fn changed(&mut self) -> Result<Vec<String>, String> {
        let until = Instant::now() + PATIENCE;
        let now = walk(&mut self.rules, &self.root.clone(), Rules::Keep, until)?;
        let mut changed = BTreeSet::new();
        for path in &now {
            let differs = match self.files.get(path) {
                None => true,
                Some(seen) => self.differs(path, seen, until)?,
            };
            if differs {
                changed.insert(self.name(path));
            }
        }
        let now: BTreeSet<&PathBuf> = now.iter().collect();
        changed.extend(self.files.keys().filter(|path| !now.contains(path)).map(|path| self.name(path)));
        Ok(changed.into_iter().collect())
    }

    /// Whether a file is something else than it was.
    fn differs(&self, path: &Path, seen: &Seen, until: Instant) -> Result<bool, String> {
        let Ok(meta) = path.symlink_metadata() else { return Ok(true) };
        if meta.len() != seen.size {
            return Ok(true);
        }
        if seen.touched.is_some_and(|time| time < self.settled) && touched(&meta) == seen.touched {
            return Ok(false);
        }
        // One that was not read before, and was touched since, counts as changed.
        Ok(seen.hash.is_none() || hash(path, until)? != seen.hash)
    }

    fn name(&self, path: &Path) -> String {
        names::resource(path.strip_prefix(&self.root).unwrap_or(path).as_os_str().as_encoded_bytes())
    }
}

/// When a file was last touched, in a way that whoever touches it cannot set back.
#[cfg(unix)]
fn touched(meta: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let since = Duration::new(meta.ctime().try_into().ok()?, meta.ctime_nsec().try_into().ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

/// When a file was last written.
#[cfg(not(unix))]
fn touched(meta: &Metadata) -> Option<SystemTime> {
    meta.modified().ok()
}

fn hash(path: &Path, until: Instant) -> Result<Option<String>, String> {
    match content::of(path, until) {
        Some(content::Content::Hash(hash)) => Ok(Some(hash)),
        Some(_) => Ok(None),
        None => Err(too_much()),
    }
}

fn too_much() -> String {
    format!("the folder has more than {FILES_MAX} files, or takes longer than {} s to look at", PATIENCE.as_secs())
}

/// Whether rules are read on the way, or are those that were read before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rules {
    Read,
    Keep,
}

/// The files and links below a folder, without those that a rule leaves out.
fn walk(rules: &mut BTreeMap<PathBuf, Rule>, root: &Path, read: Rules, until: Instant) -> Result<Vec<PathBuf>, String> {
    let (mut found, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        if read == Rules::Read
            && let Ok(bytes) = files::read(&folder.join(".gitignore"), RULES_MAX)
        {
            let own = Rule::of(&folder, String::from_utf8_lossy(&bytes).into_owned());
            if !own.rules.is_empty() {
                rules.insert(folder.clone(), own);
            }
        }
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if APART.iter().any(|name| entry.file_name() == *name) || is_left_out(rules, root, &path, kind.is_dir()) {
                continue;
            }
            if kind.is_dir() {
                folders.push(path)
            } else {
                found.push(path)
            }
            if found.len() + folders.len() > FILES_MAX || Instant::now() >= until {
                return Err(too_much());
            }
        }
    }
    Ok(found)
}

/// Whether a rule leaves a path out: the nearest one that says anything decides.
fn is_left_out(rules: &BTreeMap<PathBuf, Rule>, root: &Path, path: &Path, is_folder: bool) -> bool {
    let above = path.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    let said = above.filter_map(|folder| rules.get(folder)).map(|rule| rule.rules.matched(path, is_folder));
    let said = said.into_iter().find(|said| !said.is_none());
    matches!(said, Some(Match::Ignore(_)))
}

/// Which tasks are attempted, and which others were at the same time as each of them.
#[derive(Default)]
pub(super) struct Beside(Mutex<BTreeMap<usize, BTreeSet<usize>>>);

/// An attempt. It is over when this is dropped.
pub(super) struct Stay<'b>(&'b Beside, usize);

impl Beside {
    fn all(&self) -> std::sync::MutexGuard<'_, BTreeMap<usize, BTreeSet<usize>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An attempt at a task begins.
    pub(super) fn begin(&self, number: usize) -> Stay<'_> {
        let mut all = self.all();
        let others: BTreeSet<usize> = all.keys().copied().collect();
        all.values_mut().for_each(|met| {
            met.insert(number);
        });
        all.insert(number, others);
        Stay(self, number)
    }

    /// The tasks that were attempted while this one was.
    pub(super) fn met(&self, number: usize) -> BTreeSet<usize> {
        self.all().get(&number).cloned().unwrap_or_default()
    }
}

impl Drop for Stay<'_> {
    fn drop(&mut self) {
        self.0.all().remove(&self.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is done to a folder, and what is found.
    type Case = (&'static str, fn(&Path), &'static [&'static str]);

    fn write(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn what_changed_is_found_and_nothing_else() {
        let cases: [Case; 9] = [
            ("nothing", |_| {}, &[]),
            ("another size", |root| write(root, "src/a", "longer than it was"), &["src/a"]),
            ("the same size", |root| write(root, "src/a", "b"), &["src/a"]),
            ("the same again", |root| write(root, "src/a", "a"), &[]),
            (
                "new and gone",
                |root| {
                    write(root, "src/new/b", "");
                    std::fs::remove_file(root.join("src/a")).unwrap();
                },
                &["src/a", "src/new/b"],
            ),
            ("what is ignored", |root| write(root, "target/out/b", "x"), &[]),
            ("what a nearer rule lets in", |root| write(root, "docs/kept.log", "x"), &["docs/kept.log"]),
            (
                "a rule of one's own",
                |root| {
                    write(root, ".gitignore", "*\n");
                    write(root, "hidden", "x");
                },
                &[".gitignore", "hidden"],
            ),
            ("what is ours", |root| write(root, ".countersign/runs/x", "x"), &[]),
        ];
        for (what, act, wanted) in cases {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path();
            for (name, text) in [("src/a", "a"), (".gitignore", "target/\n*.log\n"), ("docs/.gitignore", "!kept.log\n")]
            {
                write(root, name, text);
            }
            write(root, "target/out/a", "");
            write(root, "odd %41/\u{e9} b", "odd");
            let mut before = Folder::of(root).unwrap();
            let kept = serde_json::to_string(&before.files()).unwrap();
            act(root);
            assert_eq!(before.changed().unwrap(), wanted, "{what}");
            let mut kept = Folder::kept(root, &serde_json::from_str(&kept).unwrap());
            assert_eq!(kept.changed().unwrap(), wanted, "{what}, as it was kept");
        }
    }

    #[test]
    fn whoever_was_there_at_the_same_time_is_known() {
        let beside = Beside::default();
        let first = beside.begin(1);
        assert_eq!(beside.met(1), [].into());
        let second = beside.begin(2);
        drop(second);
        let _third = beside.begin(3);
        assert_eq!((beside.met(1), beside.met(3)), ([2, 3].into(), [1].into()));
        drop(first);
        assert_eq!(beside.begin(4).0.met(4), [3].into());
    }
}
