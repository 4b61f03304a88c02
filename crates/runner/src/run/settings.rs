//! How git reads and writes files stays as it was when the run began.
//!
//! A filter or an attribute in a repository's own settings can make a file in a checkout something else than what was
//! committed, pinned or not, and an agent can set one like anybody else. Filters that were there before are the project's and
//! count. So what the settings are is noted in the ledger when the run begins, and looked at again whenever somebody has worked:
//! by their files alone, as long as those are the same.
//!
//! **Absent:** whoever changes settings while checks run, and puts them back before they end, is not seen.

use super::Run;
use super::no::{No, Work};
use crate::content;
use crate::worktree::Layout;
use crate::worktree::call::{Git, pieces};
use countersign_contract::show;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Settings by which a file becomes another when it is read, written or merged. A star stands for any text. Of those for merges
/// only what runs a program or makes other files of the same two sides: what people look at conflicts with is their own.
const TELLING: &[&str] = &[
    "attr.*",
    "core.attributesfile",
    "core.autocrlf",
    "core.bigfilethreshold",
    "core.checkroundtripencoding",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.safecrlf",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "core.worktree",
    "diff.renamelimit",
    "diff.renames",
    "extensions.*",
    "filter.*",
    "merge.*.driver",
    "merge.*.recursive",
    "merge.default",
    "merge.directoryrenames",
    "merge.renamelimit",
    "merge.renames",
    "merge.renormalize",
];
/// The setting with which each working tree has settings of its own.
const EACH_ITS_OWN: &str = "extensions.worktreeconfig";
/// What the file with those is called.
const ITS_OWN: &str = "config.worktree";
/// How many settings are named at a time.
const NAMED_MAX: usize = 20;

/// What every setting that tells is, as a hash, by its name; files of attributes likewise.
pub(super) type Telling = BTreeMap<String, String>;

/// How git reads and writes files in a repository.
pub(super) struct Settings {
    place: Option<Place>,
    /// What it was when the run began.
    before: Telling,
    /// The files in which settings stand, as they were when everything was last seen to be as before. None of them, where it
    /// must be looked at the settings each time.
    seen: Mutex<BTreeMap<PathBuf, Option<String>>>,
}

/// Where settings stand.
struct Place {
    top: PathBuf,
    common: PathBuf,
}

/// What was seen of settings.
struct Look {
    telling: Telling,
    /// Every file in which they stand; none, if there may be more of them the next time.
    files: BTreeMap<PathBuf, Option<String>>,
}

impl Settings {
    /// Those of a repository, as they were noted when the run began; that is now, if nothing was noted.
    ///
    /// # Errors
    /// They cannot be read.
    pub(super) fn of(layout: Option<&Layout>, noted: Option<Telling>) -> Result<Self, String> {
        let Some(layout) = layout else {
            return Ok(Self { place: None, before: Telling::new(), seen: Mutex::default() });
        };
        let place = Place { top: layout.top.clone(), common: layout.common.clone() };
        let now = place.look()?;
        let before = noted.unwrap_or_else(|| now.telling.clone());
        let seen = if before == now.telling { now.files } else { BTreeMap::new() };
        Ok(Self { place: Some(place), before, seen: Mutex::new(seen) })
    }

    /// What they were when the run began. None where there is no repository.
    pub(super) fn before(&self) -> Option<&Telling> {
        self.place.as_ref().map(|_| &self.before)
    }

    /// What is not as it was, and a hash of what it is now. None, if everything is.
    fn changed(&self) -> Result<Option<(Vec<String>, String)>, String> {
        let Some(place) = &self.place else { return Ok(None) };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.is_empty() && seen.iter().all(|(path, was)| hash_of(path) == *was) {
            return Ok(None);
        }
        let Look { telling: now, files } = place.look()?;
        if now == self.before {
            *seen = files;
            return Ok(None);
        }
        let names: BTreeSet<&String> = self.before.keys().chain(now.keys()).collect();
        let names = names.into_iter().filter(|name| self.before.get(*name) != now.get(*name)).cloned().collect();
        Ok(Some((names, hash_of_all(&now))))
    }
}

/// Refuses to go on with a task while files are read and written in another way than when the run began, until a person has
/// accepted that. Work that an agent has ended by then waits for them, and is not done again.
///
/// # Errors
/// That is so, or it cannot be told.
pub(super) fn must_be(run: &Run<'_>, task: &str, work: Work) -> Result<(), No> {
    let Some((names, now)) = run.settings.changed().map_err(No::from)? else { return Ok(()) };
    if run.desk.own_row()?.accepted.contains(&now) {
        return Ok(());
    }
    let named: Vec<String> = names.iter().take(NAMED_MAX).map(|name| show(name)).collect();
    let more = if names.len() > NAMED_MAX { " and others" } else { "" };
    let reason = format!(
        "how git reads and writes files was changed since the run began: {}{more}; `git config --show-origin --list` shows \
         where; put it back and have it looked at again with `countersign task unblock {task} --reason TEXT`, or accept it as it \
         is with `countersign run accept {now} --reason TEXT --run {}`, as `countersign inbox` has them",
        named.join(", "),
        run.setup.run
    );
    Err(No::held(now, work, reason))
}

impl Place {
    /// What tells, and every file in which that stands.
    fn look(&self) -> Result<Look, String> {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let own = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let own = own.unwrap_or_else(|| home.join(".config")).join("git");
        let attributes = [self.common.join("info/attributes"), own.join("attributes")];
        let mut files = vec![self.common.join("config"), home.join(".gitconfig"), own.join("config")];
        files.extend(attributes.clone());
        let mut values: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
        let (mut named, mut elsewhere) = (Vec::from(attributes), Vec::new());
        let out = Git::at(&self.top).run(&["config", "--list", "--show-origin", "-z"], &[])?;
        let mut parts = pieces(&out);
        while let (Some(origin), Some(entry)) = (parts.next(), parts.next()) {
            let (name, value) = setting(entry);
            let from = origin.strip_prefix(b"file:").map(|path| self.top.join(crate::names::path(path)));
            if name == "core.attributesfile" {
                named.push(led_to(&home, &self.top, &value));
            }
            if name == "include.path" || name.starts_with("includeif.") {
                let above = from.as_deref().and_then(Path::parent).unwrap_or(&self.top);
                let path = led_to(&home, above, &value);
                // Whether a condition holds is another thing in another working tree.
                if name != "include.path" {
                    elsewhere.push((path.display().to_string(), path.clone()));
                }
                files.push(path);
            }
            files.extend(from);
            // What is said on the command line is the same every time.
            if origin != b"command line:" && is_telling(&name) {
                values.entry(name).or_default().push(value);
            }
        }
        let each_its_own = values.contains_key(EACH_ITS_OWN);
        if each_its_own {
            elsewhere.extend(self.of_trees().into_iter().map(|path| (ITS_OWN.to_owned(), path)));
        }
        let mut telling: Telling = values.iter().map(|(name, values)| (name.clone(), hashed(values))).collect();
        telling.extend(self.told_in(&elsewhere)?);
        for path in &named {
            let shown = path.strip_prefix(&self.common).unwrap_or(path).display().to_string();
            telling.extend(hash_of(path).map(|hash| (shown, hash)));
        }
        files.extend(named);
        let files = files.into_iter().filter(|_| !each_its_own).map(|path| (path.clone(), hash_of(&path))).collect();
        Ok(Look { telling, files })
    }

    /// The files with the settings of each working tree, as far as there are any.
    fn of_trees(&self) -> Vec<PathBuf> {
        let linked = std::fs::read_dir(self.common.join("worktrees")).into_iter().flatten().flatten();
        let all = linked.map(|entry| entry.path()).chain([self.common.clone()]).map(|folder| folder.join(ITS_OWN));
        all.filter(|path| path.is_file()).collect()
    }

    /// What tells in files that are not read from here, under what each is called: every value that is there, once. Working trees
    /// come and go, and a new one has the settings of another.
    fn told_in(&self, files: &[(String, PathBuf)]) -> Result<Telling, String> {
        let mut values: BTreeMap<String, BTreeSet<Vec<u8>>> = BTreeMap::new();
        for (called, path) in files.iter().filter(|(_, path)| path.is_file()) {
            let path = path.display().to_string();
            let out = match Git::at(&self.top).run(&["config", "--list", "-z", "--includes", "--file", &path], &[]) {
                Ok(out) => out,
                // A working tree that is gone by now says nothing.
                Err(_) if !Path::new(&path).exists() => continue,
                Err(fault) => return Err(fault.text),
            };
            for (name, value) in pieces(&out).map(setting).filter(|(name, _)| is_telling(name)) {
                values.entry(format!("{name} in {called}")).or_default().insert(value);
            }
        }
        Ok(values.iter().map(|(name, values)| (name.clone(), hashed(values))).collect())
    }
}

/// A setting as git lists it: its name, and what it is.
fn setting(entry: &[u8]) -> (String, Vec<u8>) {
    let mut halves = entry.splitn(2, |byte| *byte == b'\n');
    let name = String::from_utf8_lossy(halves.next().unwrap_or_default()).to_lowercase();
    (name, halves.next().unwrap_or_default().to_vec())
}

fn hashed<'v>(values: impl IntoIterator<Item = &'v Vec<u8>>) -> String {
    content::hash(&values.into_iter().flat_map(|it| [it.as_slice(), b"\0"]).collect::<Vec<_>>())
}

fn is_telling(name: &str) -> bool {
    TELLING.iter().any(|it| match it.split_once('*') {
        Some((before, after)) => {
            name.len() > before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
        }
        None => name == *it,
    })
}

/// The path that a setting means.
fn led_to(home: &Path, above: &Path, value: &[u8]) -> PathBuf {
    match value.strip_prefix(b"~/") {
        Some(rest) => home.join(crate::names::path(rest)),
        None => above.join(crate::names::path(value)),
    }
}

/// What is in a file. None, if it is not there; one that is empty says as little.
fn hash_of(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok().filter(|bytes| !bytes.is_empty())?;
    Some(content::hash(&[&bytes]))
}

/// One hash of everything that tells, as it is accepted.
fn hash_of_all(telling: &Telling) -> String {
    let all: Vec<&[u8]> = telling.iter().flat_map(|(name, hash)| [name.as_bytes(), hash.as_bytes()]).collect();
    format!("sha256:{}", content::hash(&all))
}
