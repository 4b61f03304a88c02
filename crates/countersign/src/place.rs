//! Where a project's ledger is, and opening it.

use crate::project::{FOLDER, Project};
use anyhow::{Context, bail};
use countersign_engine::{Call, Engine};
use countersign_ledger::{Clock, Postgres, Sqlite, Store};
use std::path::{Path, PathBuf};

/// The name of the file in `.countersign/`.
pub const FILE: &str = "ledger.db";

/// A place where a ledger can be.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    /// A SQLite file.
    File(PathBuf),
    /// A PostgreSQL database, by address, and which of its projects.
    Database(String, Option<String>),
}

impl Place {
    /// What `--ledger` or the configuration means. A file is looked for from `base`.
    pub fn parse(text: &str, base: &Path, project: Option<&str>) -> anyhow::Result<Self> {
        match text.split_once("://") {
            Some(("postgres" | "postgresql", _)) => Ok(Self::Database(text.to_owned(), project.map(str::to_owned))),
            Some((scheme, _)) => bail!("`{scheme}://` is no place for a ledger; name a file, or postgres://…"),
            None => Ok(Self::File(base.join(text))),
        }
    }

    /// The ledger of a project: what was named, what the configuration says, or the file in `.countersign/`.
    pub fn of(project: &Project, named: Option<&str>) -> anyhow::Result<Self> {
        if let Some(named) = named {
            return Self::parse(named, Path::new(""), project.id.as_deref());
        }
        let Some(root) = &project.root else {
            bail!("there is no project here; run `countersign init`, or name one with --project");
        };
        match &project.ledger {
            Some(configured) => Self::parse(configured, root, project.id.as_deref()),
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
            Place::Database(url, Some(project)) => Ok(Box::new(Postgres::open(url, project)?)),
            Place::Database(url, None) => match Postgres::projects(url)?.as_slice() {
                [] => bail!("there is no ledger in {self}; run `countersign init`"),
                [only] => Ok(Box::new(Postgres::open(url, only)?)),
                several => {
                    let names = several.join(", ");
                    bail!(
                        "{self} holds several projects ({names}); say which in .countersign/config.toml, as `project` under [ledger]"
                    )
                }
            },
        }
    }

    /// Opens the store that is there, or makes an empty one for a project.
    pub fn open_or_create(&self, project: &str) -> anyhow::Result<Box<dyn Store>> {
        match self {
            Place::File(path) if path.exists() => self.open(),
            Place::File(path) => Ok(Box::new(Sqlite::create(path, Clock::System)?)),
            Place::Database(url, named) => {
                let project = named.as_deref().unwrap_or(project);
                let there = Postgres::projects(url)?.iter().any(|known| known == project);
                let store = if there { Postgres::open(url, project) } else { Postgres::create(url, project) };
                Ok(Box::new(store?))
            }
        }
    }

    /// The ledger that is there, open.
    pub fn engine(&self) -> anyhow::Result<Engine> {
        Engine::open(self.open()?).with_context(|| format!("the ledger {self} cannot be opened"))
    }

    /// What is to stand in the configuration so that this place is found; nothing, if it is found without.
    pub fn to_configure(&self) -> anyhow::Result<Option<&str>> {
        match self {
            Place::File(_) => Ok(None),
            Place::Database(url, _) if Postgres::has_password(url)? => {
                bail!("a password does not belong into the project; leave it out of the address and set PGPASSWORD")
            }
            Place::Database(url, _) => Ok(Some(url)),
        }
    }
}

/// Never with a password.
impl std::fmt::Display for Place {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::File(path) => write!(out, "{}", path.display()),
            Place::Database(url, _) => {
                out.write_str(&Postgres::said(url).unwrap_or_else(|_| "postgres://…".to_owned()))
            }
        }
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Place({self})")
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
