//! Where a handoff is written: below its session, or else in the temporary directory.

use super::make::Args;
use crate::cli::asking::Here;
use crate::cli::output;
use crate::{files, world};
use anyhow::Context;
use serde_json::Value;
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// How many names are tried for a handoff.
const NAMES_MAX: usize = 100;

/// Where a handoff will lie.
pub struct Place {
    /// What was named; none, if the convention says where.
    out: Option<PathBuf>,
    folder: Option<PathBuf>,
    name: String,
    fallback: Cell<bool>,
}

/// The directory of a session, as the handoff names it: below the project's where there is one, and else in full, so that it
/// is found from wherever the handoff lies.
pub fn session(args: &Args, here: &Here<'_>, workflow: &str) -> String {
    let own = args.session_path.clone().unwrap_or_else(|| PathBuf::from(".countersign/sessions").join(safe(workflow)));
    let full = match (&here.project.root, std::env::current_dir()) {
        // What is named at the command line is meant from where one stands.
        (Some(_), _) if args.session_path.is_none() => return own.display().to_string(),
        (_, Ok(current)) => current.join(&own),
        (_, Err(_)) => own,
    };
    let root = here.project.root.as_ref().and_then(|root| root.canonicalize().ok());
    let below = root.and_then(|root| full.strip_prefix(root).ok().map(Path::to_owned));
    below.filter(|it| !it.as_os_str().is_empty()).unwrap_or(full).display().to_string()
}

/// Where the handoff will lie: `{session}/handoffs/{source}-to-{target}-{time}.json`.
pub fn place(args: &Args, here: &Here<'_>, value: &Value) -> Place {
    let word = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let time: String = word("/handoff/timestamp").chars().filter(|it| it.is_ascii_alphanumeric()).collect();
    let seconds = time.get(..15).map_or(time.clone(), |seconds| format!("{seconds}Z"));
    let (source, target) = (safe(word("/handoff/source/skill")), safe(word("/handoff/target/skill")));
    let session = word("/handoff/source/session_path");
    let root = here.project.root.as_deref().unwrap_or(Path::new("."));
    let folder = match args.session_path.is_some() {
        // Whoever named it at the command line may write there.
        true => Some(root.join(session)),
        false => world::place(session, Path::new(""), here.project),
    };
    Place {
        out: args.out.clone(),
        folder: folder.map(|folder| folder.join("handoffs")),
        name: format!("{source}-to-{target}-{seconds}"),
        fallback: Cell::new(false),
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
fn temporary() -> PathBuf {
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

    /// Whether it could not be written where it should be.
    pub fn is_fallback(&self) -> bool {
        self.fallback.get()
    }

    /// Writes the handoff, and says where it is; none on standard output. What is there already is never written over.
    pub fn write(&self, text: &str) -> anyhow::Result<Option<PathBuf>> {
        match &self.out {
            Some(out) if out.as_os_str() == "-" => return Ok(None),
            Some(out) => return files::write_new(out, text).map(|()| Some(out.clone())),
            None => {}
        }
        let folder = self.folder.as_deref().context("the session lies outside the project and the temporary directory");
        let error = match folder.and_then(|folder| self.write_in(folder, text)) {
            Ok(path) => return Ok(Some(path)),
            Err(error) => error,
        };
        let fallback = temporary();
        output::say(&format!("warning: {error:#}; using the fallback location {}", fallback.display()));
        self.fallback.set(true);
        self.write_in(&fallback, text).map(Some).context("the handoff cannot be written anywhere")
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
