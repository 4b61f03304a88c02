//! Where a project's ledger is, and opening it.

use crate::project::{FOLDER, Project};
use anyhow::{Context, bail};
use countersign_engine::{Call, Engine};
use countersign_ledger::{Clock, Sqlite, Store};
use std::path::{Path, PathBuf};

/// The name of the file in `.countersign/`.
pub const FILE: &str = "ledger.db";

/// A place where a ledger can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A SQLite file.
    File(PathBuf),
}

impl Place {
    /// What `--ledger` or the configuration means.
    pub fn parse(text: &str, base: &Path) -> anyhow::Result<Self> {
        if let Some((scheme, _)) = text.split_once("://") {
            bail!("`{scheme}://` is no place for a ledger; name a file");
        }
        Ok(Self::File(base.join(text)))
    }

    /// The ledger of a project: what was named, what the configuration says, or the file in `.countersign/`.
    pub fn of(project: &Project, named: Option<&str>) -> anyhow::Result<Self> {
        if let Some(named) = named {
            return Self::parse(named, Path::new(""));
        }
        let Some(root) = &project.root else {
            bail!("there is no project here; run `countersign init`, or name one with --project");
        };
        match &project.ledger {
            Some(configured) => Self::parse(configured, root),
            None => Ok(Self::File(root.join(FOLDER).join(FILE))),
        }
    }

    /// Opens the store that is there.
    pub fn open(&self) -> anyhow::Result<Box<dyn Store>> {
        match self {
            Place::File(path) if !path.exists() => {
                bail!("there is no ledger at {}; run `countersign init`", path.display())
            }
            Place::File(path) => Ok(Box::new(Sqlite::open(path, Clock::System)?)),
        }
    }

    /// Opens the store that is there, or makes an empty one.
    pub fn open_or_create(&self) -> anyhow::Result<Box<dyn Store>> {
        match self {
            Place::File(path) if path.exists() => self.open(),
            Place::File(path) => Ok(Box::new(Sqlite::create(path, Clock::System)?)),
        }
    }

    /// The ledger that is there, open.
    pub fn engine(&self) -> anyhow::Result<Engine> {
        Engine::open(self.open()?).with_context(|| format!("the ledger {self} cannot be opened"))
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::File(path) => write!(out, "{}", path.display()),
        }
    }
}

/// Who asks: `--as`, or else the user. How that is known: somebody at a terminal, or just said.
pub fn call(actor: Option<&str>, key: Option<&str>) -> anyhow::Result<Call> {
    let user =
        || ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok()).filter(|it| !it.is_empty());
    let actor = match actor {
        Some(actor) => actor.to_owned(),
        None => user().map_or_else(|| "user".to_owned(), |user| format!("user:{user}")),
    };
    if let Some(why) = countersign_ledger::name_fault(&actor) {
        bail!("`{actor}` cannot be a name: {why}");
    }
    let authn = if crate::terminal::can_ask() { "terminal" } else { "declared" };
    Ok(Call { actor, authn: authn.to_owned(), key: key.map(str::to_owned) })
}
