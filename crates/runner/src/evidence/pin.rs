//! Putting pinned resources back to what they were before the work.
//!
//! The files that decide whether work is accepted are not the worker's to change. git itself compares and writes, with
//! an index of its own, so that nothing that the worker staged, hid or ignored plays a part; attributes are those of
//! the base, too.

use crate::{names, program};
use countersign_contract::show;
use countersign_domain::work::scope;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long putting back may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// Settings that would run something, wait for something, or hide changes.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.ignoreStat=false",
    "core.untrackedCache=false",
    "core.sparseCheckout=false",
    "submodule.recurse=false",
];

/// Why pinned resources could not be put back. Some may have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinFault(String);

impl fmt::Display for PinFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for PinFault {}

/// Puts files and folders of a checkout back to what they were in a commit. What the commit does not have there is
/// removed, also what git ignores. Gives the resources that differed; what is in submodules is left alone.
pub fn pin(checkout: &Path, base: &str, pins: &[String]) -> Result<Vec<String>, PinFault> {
    let pins = normal(pins)?;
    if pins.is_empty() {
        return Ok(Vec::new());
    }
    if !(4..=64).contains(&base.len()) || !base.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(PinFault(format!("`{}` is no commit; give its hash", show(base))));
    }
    let work = Work::new(checkout, base, pins)?;
    let differed = work.differences()?;
    for name in &differed.extra {
        remove(&checkout.join(names::path(name)))?;
    }
    if !differed.changed.is_empty() {
        work.write(&differed.changed)?;
    }
    let left = work.differences()?;
    if let Some(name) = left.changed.iter().chain(&left.extra).next() {
        return Err(PinFault(format!("`{}` could not be put back to what it was", show(&names::resource(name)))));
    }
    Ok(differed.changed.iter().chain(&differed.extra).map(|name| names::resource(name)).collect())
}

fn normal(pins: &[String]) -> Result<Vec<String>, PinFault> {
    let of = |pin: &String| match scope::normal(pin) {
        Ok(normal) => Ok(normal.into_owned()),
        Err(refused) => Err(PinFault(format!("`{}` cannot be pinned: {}", show(pin), refused.why()))),
    };
    pins.iter().map(of).collect()
}

fn remove(path: &Path) -> Result<(), PinFault> {
    let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let removed = if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            Err(PinFault(format!("`{}` cannot be removed: {error}", show(&name))))
        }
        _ => Ok(()),
    }
}

/// Names relative to the checkout.
struct Differences {
    /// What the commit has otherwise.
    changed: BTreeSet<Vec<u8>>,
    /// What it does not have.
    extra: BTreeSet<Vec<u8>>,
}

struct Work<'a> {
    checkout: &'a Path,
    base: &'a str,
    pins: Vec<String>,
    /// An index that holds the commit, and is nobody else's. It goes when this goes.
    index: PathBuf,
    until: Instant,
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.index);
    }
}

impl<'a> Work<'a> {
    fn new(checkout: &'a Path, base: &'a str, pins: Vec<String>) -> Result<Self, PinFault> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let until = Instant::now() + PATIENCE;
        let mut work = Self { checkout, base, pins, index: PathBuf::new(), until };
        let folder = work.ask(&["rev-parse", "--absolute-git-dir"], &[])?;
        let folder = names::path(folder.strip_suffix(b"\n").unwrap_or(&folder));
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        work.index = folder.join(format!("countersign-pins-{}-{number}", std::process::id()));
        work.ask(&["read-tree", &format!("{base}^{{commit}}")], &[])?;
        Ok(work)
    }

    fn differences(&self) -> Result<Differences, PinFault> {
        let pins = || self.pins.iter().map(String::as_str);
        // It ends with 1 where something differs, which is for the next call to say.
        let refreshed = program::run(self.git(&["update-index", "-q", "--refresh"]), &[], self.until);
        refreshed.ok_or_else(|| self.fault("update-index"))?;
        let mut changed =
            vec!["diff-files", "-z", "--name-only", "--relative", "--no-renames", "--ignore-submodules=all", "--"];
        changed.extend(pins());
        let mut extra = vec!["ls-files", "-z", "--others", "--"];
        extra.extend(pins());
        let list = |out: Vec<u8>| -> BTreeSet<Vec<u8>> {
            let names = out.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            names.map(|name| name.strip_suffix(b"/").unwrap_or(name).to_vec()).collect()
        };
        Ok(Differences { changed: list(self.ask(&changed, &[])?), extra: list(self.ask(&extra, &[])?) })
    }

    /// Writes files as the commit has them.
    fn write(&self, names: &BTreeSet<Vec<u8>>) -> Result<(), PinFault> {
        let input: Vec<u8> = names.iter().flat_map(|name| name.iter().copied().chain([0])).collect();
        self.ask(&["checkout-index", "--force", "-u", "-z", "--stdin"], &input).map(|_| ())
    }

    fn ask(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, PinFault> {
        let said = program::run(self.git(arguments), input, self.until).filter(|said| said.ok);
        said.map(|said| said.out).ok_or_else(|| self.fault(arguments.first().unwrap_or(&"")))
    }

    fn fault(&self, verb: &str) -> PinFault {
        PinFault(format!(
            "pinned files could not be put back: `git {verb}` failed; the checkout must be a working tree that has {}",
            self.base
        ))
    }

    /// A call of git that knows nothing of whoever calls.
    fn git(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        let inherited = std::env::vars_os().map(|(name, _)| name);
        for name in inherited.filter(|name| name.to_string_lossy().to_ascii_uppercase().starts_with("GIT_")) {
            command.env_remove(name);
        }
        command.current_dir(self.checkout).env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_NO_REPLACE_OBJECTS", "1").env("GIT_LITERAL_PATHSPECS", "1").env("GIT_ATTR_SOURCE", self.base);
        if !self.index.as_os_str().is_empty() {
            command.env("GIT_INDEX_FILE", &self.index);
        }
        command.arg("--no-pager");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(arguments);
        command
    }
}
