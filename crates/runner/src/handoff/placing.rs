//! Where a handoff is written: below its session, or else in the temporary directory.

use super::{Making, reach};
use crate::files;
use anyhow::Context;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// How many names are tried for a handoff.
const NAMES_MAX: usize = 100;

/// Where a handoff will lie.
#[derive(Debug)]
pub struct Place {
    /// What was named; none, if the convention says where.
    out: Option<PathBuf>,
    folder: Option<PathBuf>,
    name: String,
}

/// The directory of a session, as the handoff names it: below the project's where there is one, and else in full, so that it
/// is found from wherever the handoff lies.
pub(super) fn session(named: Option<&Path>, root: Option<&Path>, workflow: &str) -> String {
    let own = named.map_or_else(|| Path::new(".countersign/sessions").join(safe(workflow)), Path::to_owned);
    let full = match (root, std::env::current_dir()) {
        // What is named at the command line is meant from where one stands.
        (Some(_), _) if named.is_none() => return own.display().to_string(),
        (_, Ok(current)) => current.join(&own),
        (_, Err(_)) => own,
    };
    let root = root.and_then(|root| root.canonicalize().ok());
    let below = root.and_then(|root| full.strip_prefix(root).ok().map(Path::to_owned));
    below.filter(|it| !it.as_os_str().is_empty()).unwrap_or(full).display().to_string()
}

impl Making<'_> {
    /// Where a handoff will lie: where it was said, or in `{session}/handoffs/{source}-to-{target}-{time}.json`. `trusted` says
    /// that whoever named the session may write there, wherever it is.
    pub fn place(&self, draft: &Value, out: Option<&Path>, trusted: bool) -> Place {
        let word = |pointer: &str| draft.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let time: String = word("/handoff/timestamp").chars().filter(|it| it.is_ascii_alphanumeric()).collect();
        let seconds = time.get(..15).map_or(time.clone(), |seconds| format!("{seconds}Z"));
        let (source, target) = (safe(word("/handoff/source/skill")), safe(word("/handoff/target/skill")));
        let session = word("/handoff/source/session_path");
        let folder = match trusted {
            true => Some(self.root.unwrap_or(Path::new(".")).join(session)),
            false => reach::place(session, Path::new(""), self.root),
        };
        Place {
            out: out.map(Path::to_owned),
            folder: folder.map(|folder| folder.join("handoffs")),
            name: format!("{source}-to-{target}-{seconds}"),
        }
    }
}

/// A name as part of a file's. A secret is not written there either.
fn safe(name: &str) -> String {
    let redacted = countersign_contract::scan::redact(name);
    let name = redacted.as_deref().unwrap_or(name);
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let name: String = name.chars().take(80).map(|letter| if plain(letter) { letter } else { '_' }).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "unnamed".to_owned() } else { name.to_owned() }
}

/// The place for what cannot be written where it should be.
pub(super) fn temporary() -> PathBuf {
    std::env::temp_dir().join("countersign-handoffs")
}

impl Place {
    /// Where the document will be, as far as what it refers to is concerned.
    pub fn document(&self) -> PathBuf {
        match &self.out {
            Some(out) if out.as_os_str() == "-" => PathBuf::new(),
            Some(out) => out.clone(),
            None => {
                let folder = self.folder.clone().unwrap_or_else(temporary);
                // What is kept is looked for from here.
                let _ = std::fs::create_dir_all(&folder);
                folder.join(&self.name)
            }
        }
    }

    /// Writes the handoff, and says where it is, none on standard output, and whether that is not where it should be. What is
    /// there already is never written over.
    pub(super) fn write(&self, text: &str, warn: &dyn Fn(&str)) -> anyhow::Result<(Option<PathBuf>, bool)> {
        match &self.out {
            Some(out) if out.as_os_str() == "-" => return Ok((None, false)),
            Some(out) => return files::write_new(out, text).map(|()| (Some(out.clone()), false)),
            None => {}
        }
        let folder = self.folder.as_deref().context("the session lies outside the project and the temporary directory");
        let error = match folder.and_then(|folder| self.write_in(folder, text)) {
            Ok(path) => return Ok((Some(path), false)),
            Err(error) => error,
        };
        let fallback = temporary();
        warn(&format!("{error:#}; using the fallback location {}", fallback.display()));
        let path = self.write_in(&fallback, text).context("the handoff cannot be written anywhere")?;
        Ok((Some(path), true))
    }

    fn write_in(&self, folder: &Path, text: &str) -> anyhow::Result<PathBuf> {
        std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        let name = |number: usize| match number {
            1 => format!("{}.json", self.name),
            number => format!("{}-{number}.json", self.name),
        };
        let mut paths = (1..=NAMES_MAX).map(|number| folder.join(name(number)));
        let path = paths.find(|path| path.symlink_metadata().is_err());
        let path = path.with_context(|| format!("{} has no name left for it", folder.display()))?;
        files::write_new(&path, text)?;
        Ok(path)
    }
}
