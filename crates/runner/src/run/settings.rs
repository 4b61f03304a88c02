//! How git reads and writes files stays as it was when the run began.
//!
//! A filter or an attribute in a repository's own settings can make a file in a checkout something else than what was
//! committed, pinned or not, and an agent can set one like anybody else. Filters that were there before are the project's and
//! count. So what the settings are is noted when the run begins, and looked at again whenever somebody has worked: by their
//! files alone, as long as those are the same. Their hash stands in the ledger; the file with their names beside it only helps to
//! say which of them are others by now, and counts for nothing where it does not fit that hash.
//!
//! **Absent:** whoever changes settings while checks run, and puts them back before they end, is not seen.

use super::Run;
use super::kept::FOLDERS;
use super::no::{No, Work};
use crate::worktree::Layout;
use crate::worktree::call::{Git, pieces};
use crate::{content, files};
use countersign_contract::show;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Settings by which a file becomes another when it is read, written or merged. Those with a dot at their end are meant with all
/// below.
const TELLING: &[&str] = &[
    "attr.",
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
    "extensions.",
    "filter.",
    "merge.",
];
/// The file in which it is kept what they were, beside what is kept of folders.
const KEPT: &str = "git-settings.json";
/// How many settings are named.
const NAMED_MAX: usize = 20;
/// How large a file may be.
const SIZE_MAX: usize = 4 << 20;

/// What every setting that tells is, as a hash, by its name; files of attributes likewise.
type Telling = BTreeMap<String, String>;

/// How git reads and writes files in a repository.
pub(super) struct Settings {
    place: Option<Place>,
    /// The hash of what it was when the run began.
    hash: Option<String>,
    /// What it was then, if that is still known.
    before: Option<Telling>,
    /// The files in which settings stand, as they were when everything was last seen to be as before.
    seen: Mutex<BTreeMap<PathBuf, Option<String>>>,
}

/// Where settings stand.
struct Place {
    top: PathBuf,
    common: PathBuf,
}

impl Settings {
    /// Those of a repository, as they were when the run began: which is now, if the ledger has no hash of them.
    ///
    /// # Errors
    /// They cannot be read or kept.
    pub(super) fn of(layout: Option<&Layout>, spool: &Path, began: Option<&str>) -> Result<Self, String> {
        let Some(layout) = layout else {
            return Ok(Self { place: None, hash: None, before: None, seen: Mutex::default() });
        };
        let place = Place { top: layout.top.clone(), common: layout.common.clone() };
        let (now, files) = place.look()?;
        let hash = began.map_or_else(|| hash_of_all(&now), str::to_owned);
        let is_same = hash == hash_of_all(&now);
        let before = if is_same { Some(keep(spool, now)?) } else { kept(spool, &hash) };
        // Where they are not what they were, it is looked at them each time.
        let seen = Mutex::new(if is_same { files } else { BTreeMap::new() });
        Ok(Self { place: Some(place), hash: Some(hash), before, seen })
    }

    /// The hash of what they were when the run began.
    pub(super) fn hash(&self) -> Option<&str> {
        self.hash.as_deref()
    }

    /// What is not as it was, as far as that can be told, and the hash of what it is now. None, if everything is.
    fn changed(&self) -> Result<Option<(Vec<String>, String)>, String> {
        let Some(place) = &self.place else { return Ok(None) };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.is_empty() && seen.iter().all(|(path, was)| hash_of(path) == *was) {
            return Ok(None);
        }
        let (now, files) = place.look()?;
        let hash = hash_of_all(&now);
        if Some(&hash) == self.hash.as_ref() {
            *seen = files;
            return Ok(None);
        }
        let Some(before) = &self.before else { return Ok(Some((Vec::new(), hash))) };
        let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let names = names.into_iter().filter(|name| before.get(*name) != now.get(*name)).cloned().collect();
        Ok(Some((names, hash)))
    }
}

/// Refuses to go on with a task while files are read and written in another way than when the run began, until a person has
/// accepted that.
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
    let named = if named.is_empty() { "which, is not known any more".to_owned() } else { named.join(", ") + more };
    let reason = format!(
        "how git reads and writes files was changed since the run began: {named}; `git config --show-origin --list` shows \
         where; put it back and have it looked at again with `countersign task unblock {task} --reason TEXT`, or accept it as it \
         is with `countersign run accept {now} --reason TEXT --run {}`, as `countersign inbox` has them",
        run.setup.run
    );
    Err(No::held(now, work, reason))
}

impl Place {
    /// What tells, and every file in which that stands.
    fn look(&self) -> Result<(Telling, BTreeMap<PathBuf, Option<String>>), String> {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let own = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let own = own.unwrap_or_else(|| home.join(".config")).join("git");
        let attributes = [self.common.join("info/attributes"), own.join("attributes")];
        let mut files = vec![self.common.join("config"), home.join(".gitconfig"), own.join("config")];
        files.extend(attributes.clone());
        let out = Git::at(&self.top).run(&["config", "--list", "--show-origin", "-z"], &[])?;
        let mut values: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
        let mut named = Vec::from(attributes);
        let mut parts = pieces(&out);
        while let (Some(origin), Some(entry)) = (parts.next(), parts.next()) {
            let mut halves = entry.splitn(2, |byte| *byte == b'\n');
            let name = String::from_utf8_lossy(halves.next().unwrap_or_default()).to_lowercase();
            let value = halves.next().unwrap_or_default().to_vec();
            let from = origin.strip_prefix(b"file:").map(|path| self.top.join(crate::names::path(path)));
            if name == "core.attributesfile" {
                named.push(led_to(&home, &self.top, &value));
            }
            if name == "include.path" || name.starts_with("includeif.") {
                let above = from.as_deref().and_then(Path::parent).unwrap_or(&self.top);
                files.push(led_to(&home, above, &value));
            }
            files.extend(from);
            // What is said on the command line is the same every time.
            if origin != b"command line:" && is_telling(&name) {
                values.entry(name).or_default().push(value);
            }
        }
        let hashed = |values: &Vec<Vec<u8>>| {
            content::hash(&values.iter().flat_map(|it| [it.as_slice(), b"\0"]).collect::<Vec<_>>())
        };
        let mut telling: Telling = values.iter().map(|(name, values)| (name.clone(), hashed(values))).collect();
        for path in &named {
            let shown = path.strip_prefix(&self.common).unwrap_or(path).display().to_string();
            telling.extend(hash_of(path).map(|hash| (shown, hash)));
        }
        files.extend(named);
        Ok((telling, files.into_iter().map(|path| (path.clone(), hash_of(&path))).collect()))
    }
}

fn is_telling(name: &str) -> bool {
    TELLING.iter().any(|it| if it.ends_with('.') { name.starts_with(it) } else { name == *it })
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

/// What was kept when the run began, if it is still that.
fn kept(spool: &Path, hash: &str) -> Option<Telling> {
    let bytes = files::read(&spool.join(FOLDERS).join(KEPT), SIZE_MAX).ok()?;
    serde_json::from_slice(&bytes).ok().filter(|kept| hash_of_all(kept) == hash)
}

/// Keeps what is there now, so that it can be said later what has become of it.
fn keep(spool: &Path, now: Telling) -> Result<Telling, String> {
    let folder = spool.join(FOLDERS);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
    let text = serde_json::to_string(&now).map_err(|error| error.to_string())?;
    files::write(&folder.join(KEPT), &text).map_err(|error| format!("{error:#}"))?;
    Ok(now)
}
