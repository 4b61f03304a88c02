//! Where a project's ledger is, and opening it.

use crate::cli::{Global, wrong};
use crate::home::Home;
use crate::project::{FOLDER, Project};
use crate::token::{self, Tokens};
use anyhow::{Context, bail};
use countersign_domain::deciding::Role;
use countersign_engine::{Call, Engine};
use countersign_ledger::{Clock, Ledger, Postgres, Sqlite, Store};
use std::io::Read;
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

    /// The ledger of a project, open: what was named, what the configuration says, or the file in `.countersign/`. The file
    /// is opened once, and found out if it was replaced.
    pub fn engine_of(project: &Project, named: Option<&str>) -> anyhow::Result<Engine> {
        let (None, Some(root), None) = (named, &project.root, &project.ledger) else {
            return Self::of(project, named)?.engine();
        };
        let place = Self::File(root.join(FOLDER).join(FILE));
        let engine = place.engine()?;
        place.must_be_of(root, engine.ledger().project())?;
        Ok(engine)
    }

    /// The ledger of a project: what was named, what the configuration says, or the file in `.countersign/`.
    pub fn of(project: &Project, named: Option<&str>) -> anyhow::Result<Self> {
        if let Some(named) = named {
            let place = Self::parse(named, Path::new(""), project.id.as_deref())?;
            place.trust()?;
            return Ok(place);
        }
        let (Some(root), Some(place)) = (&project.root, Self::own(project)?) else {
            bail!("there is no project here; run `countersign init`, or name one with --project");
        };
        place.must_be_trusted()?;
        place.must_be_pinned(root)?;
        Ok(place)
    }

    /// Where the ledger of a project belongs, whether it is there and may be used or not.
    fn own(project: &Project) -> anyhow::Result<Option<Self>> {
        let Some(root) = &project.root else { return Ok(None) };
        Ok(Some(match &project.ledger {
            Some(configured) => Self::parse(configured, root, project.id.as_deref())?,
            None => Self::File(root.join(FOLDER).join(FILE)),
        }))
    }

    /// Whether a project's ledger belongs here, by whatever name the place was called.
    pub fn is_own_of(&self, project: &Project) -> bool {
        let whole = |place: &Self| match place {
            Place::File(path) => Place::File(std::path::absolute(path).unwrap_or_else(|_| path.clone())),
            Place::Database(url, _) => Place::Database(url.clone(), None),
        };
        Self::own(project).is_ok_and(|own| own.is_some_and(|own| whole(&own) == whole(self)))
    }

    /// The project that a directory is, as far as that binds what may be here: a database is asked for the one that the
    /// settings name, a file must be of the one that was made here.
    pub fn expected(&self, project: &Project) -> Option<String> {
        let pinned = project.root.as_deref().and_then(pinned);
        match self {
            Place::File(_) => pinned,
            Place::Database(_, named) => named.clone().or(pinned),
        }
    }

    /// Whether the ledger of a project is here. A file that was begun and is nobody's yet can become it.
    pub fn holds(&self, project: &str) -> anyhow::Result<bool> {
        match self {
            Place::File(path) if !is_there(path)? => Ok(false),
            Place::File(_) => Ok(Ledger::project_in(self.open()?)?.is_none_or(|found| found == project)),
            Place::Database(url, _) => Ok(Postgres::projects(url)?.iter().any(|known| known == project)),
        }
    }

    /// Remembers a database that was named, so that the project's settings may name it from now on.
    pub fn trust(&self) -> anyhow::Result<()> {
        match self {
            Place::Database(url, _) if !Postgres::has_password(url)? => Home::find()?.trust(url),
            _ => Ok(()),
        }
    }

    fn must_be_trusted(&self) -> anyhow::Result<()> {
        if let Place::Database(url, _) = self
            && !Home::find()?.trusts(url)
        {
            bail!(
                "the project's settings name the database {self}, which this user has not named before; if it is the right \
                 one, name it once with --ledger"
            );
        }
        Ok(())
    }

    /// A ledger file that is of another project than the one that was made here has been replaced.
    fn must_be_pinned(&self, root: &Path) -> anyhow::Result<()> {
        let Place::File(path) = self else { return Ok(()) };
        if !is_there(path)? || pinned(root).is_none() {
            return Ok(());
        }
        match Ledger::project_in(self.open()?)? {
            Some(found) => self.must_be_of(root, &found),
            None => Ok(()),
        }
    }

    fn must_be_of(&self, root: &Path, found: &str) -> anyhow::Result<()> {
        match pinned(root) {
            Some(pinned) if found != pinned => bail!(
                "the ledger {self} is of project {found}, and {} was made project {pinned}: it was replaced; put a backup of \
                 that project in its place, or move this one away and say what the directory is to be from now on, with \
                 `countersign import FILE --new` or `countersign init --new`",
                root.display()
            ),
            _ => Ok(()),
        }
    }

    /// Opens the store that is there.
    pub fn open(&self) -> anyhow::Result<Box<dyn Store>> {
        match self {
            Place::File(path) if !is_there(path)? => {
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
                        "{self} holds several projects ({names}); say which in .countersign/config.toml, as `project` \
                         under [ledger]"
                    )
                }
            },
        }
    }

    /// The name under which a database has the log; a file has none.
    pub fn name_of_log(&self) -> anyhow::Result<Option<String>> {
        match self {
            Place::File(_) => Ok(None),
            Place::Database(_, Some(project)) => Ok(Some(project.clone())),
            Place::Database(url, None) => Ok(Postgres::projects(url)?.into_iter().next()),
        }
    }

    /// Opens the store of a project that is there, or makes an empty one. Of several who make it at once, one does.
    pub fn open_or_create(&self, project: &str) -> anyhow::Result<Box<dyn Store>> {
        match self {
            Place::File(path) if is_there(path)? => self.open(),
            Place::File(path) => match Sqlite::create(path, Clock::System) {
                Ok(store) => Ok(Box::new(store)),
                Err(_) if path.exists() => self.open(),
                Err(error) => Err(error.into()),
            },
            Place::Database(url, _) if self.holds(project)? => Ok(Box::new(Postgres::open(url, project)?)),
            Place::Database(url, _) => match Postgres::create(url, project) {
                Ok(store) => Ok(Box::new(store)),
                Err(error) if !self.holds(project)? => Err(error.into()),
                Err(_) => Ok(Box::new(Postgres::open(url, project)?)),
            },
        }
    }

    /// The ledger that is there, open.
    pub fn engine(&self) -> anyhow::Result<Engine> {
        Engine::open(self.open()?).with_context(|| format!("the ledger {self} cannot be opened"))
    }

    /// What is to stand in the configuration of a project so that this place is found; nothing, if it is found without.
    pub fn to_configure(&self, root: &Path) -> anyhow::Result<Option<String>> {
        match self {
            Place::File(path) => {
                let path = std::path::absolute(path)?;
                let own = root.join(FOLDER).join(FILE);
                let inside = path.strip_prefix(root).unwrap_or(&path);
                Ok((path != own).then(|| inside.display().to_string()))
            }
            Place::Database(url, _) if Postgres::has_password(url)? => {
                bail!("a password does not belong into the project; leave it out of the address and set PGPASSWORD")
            }
            Place::Database(url, _) => Ok(Some(url.clone())),
        }
    }
}

/// Whether something is at a path. What may not be looked at is not therefore gone: whoever took it for that would go on
/// as if nothing were managed there.
pub fn is_there(path: &Path) -> anyhow::Result<bool> {
    match path.try_exists() {
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Ok(false),
        known => known.with_context(|| format!("whether there is a ledger at {} cannot be seen", path.display())),
    }
}

/// Whether what a file begins with is what every SQLite file begins with, a ledger among them.
pub fn begins_as_ledger(bytes: &[u8]) -> bool {
    bytes.starts_with(b"SQLite format 3\0")
}

/// Refuses to write something else over a ledger. It is asked before one is opened: a file that is closed takes the locks
/// with it that SQLite has on it.
pub fn must_be_no_ledger(out: Option<&Path>) -> anyhow::Result<()> {
    let Some(path) = out.filter(|path| path.is_file()) else { return Ok(()) };
    let mut begins = Vec::new();
    // What cannot be read is no ledger that could be used here.
    let _ = std::fs::File::open(path).and_then(|file| file.take(16).read_to_end(&mut begins));
    if begins_as_ledger(&begins) {
        bail!("{} is a ledger, and would be lost; choose another name", path.display());
    }
    Ok(())
}

/// The project that a directory was made.
pub fn pinned(root: &Path) -> Option<String> {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    Home::find().ok()?.pinned(&root)
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

/// Who asks: whom a token names, `--as`, or else the user. How that is known: by the token, because somebody is at a
/// terminal, or because they say so; with it go the user and the process, which nobody says.
pub fn call(global: &Global, project: &str, key: Option<&str>) -> anyhow::Result<Call> {
    let actor = named(global);
    must_be_usable("--as", Some(&actor))?;
    must_be_usable("--key", key)?;
    let key = key.map(str::to_owned);
    if let Some(shown) = shown_token(global)? {
        return Ok(Call { key, ..call_by(&shown, project)? });
    }
    let mut roles = vec![Role::Agent, Role::Orchestrator];
    // What an agent starts is no person, whatever terminal it is given.
    let at_terminal = crate::terminal::can_ask() && std::env::var_os("COUNTERSIGN_ATTEMPT").is_none();
    if at_terminal {
        roles.extend([Role::Reviewer, Role::Owner]);
    }
    let authn = format!("{} {}", if at_terminal { "terminal" } else { "declared" }, process());
    Ok(Call { actor, authn, roles, bound: None, key })
}

/// Whom a token names that is shown, if it is one of the project's and still good.
pub fn call_by(shown: &str, project: &str) -> anyhow::Result<Call> {
    let Some(token) = Tokens::of(&Home::find()?, project).find(shown)? else {
        bail!("the token is none of this project's, or it has ended or was taken back");
    };
    let authn = format!("token {} {}", token.id, process());
    Ok(Call { actor: token.actor.clone(), authn, roles: token.roles(), bound: token.bound(), key: None })
}

/// The name of whoever asks without a token: what `--as` or `COUNTERSIGN_ACTOR` says, or else the user, as the system calls
/// them. Verbs and the hooks of git have this one rule, so that whoever claims a task can commit what it holds.
pub fn named(global: &Global) -> String {
    let set = |name: &&str| std::env::var(name).ok().filter(|user| !user.is_empty());
    let user = || ["USER", "LOGNAME", "USERNAME"].iter().find_map(set);
    let user = || user().map_or_else(|| "user".to_owned(), |user| format!("user:{user}"));
    global.actor.clone().unwrap_or_else(user)
}

/// The token that is shown: from a file, or from the environment.
pub fn shown_token(global: &Global) -> anyhow::Result<Option<String>> {
    if let Some(path) = &global.token_file {
        return token::read_file(path).map(Some);
    }
    Ok(std::env::var("COUNTERSIGN_TOKEN").ok().filter(|token| !token.is_empty()))
}

/// The user and the process that ask, as the system knows them.
fn process() -> String {
    #[cfg(unix)]
    let user = format!("uid={} ", rustix::process::getuid().as_raw());
    #[cfg(not(unix))]
    let user = "";
    format!("{user}pid={}", std::process::id())
}

/// Refuses a name that cannot be recorded, or should not be, as called wrongly.
pub fn must_be_usable(what: &str, name: Option<&str>) -> anyhow::Result<()> {
    let Some(name) = name else { return Ok(()) };
    let blank = name.trim().is_empty().then_some("it is empty");
    if let Some(why) = blank.or_else(|| countersign_ledger::name_fault(name)) {
        return Err(wrong(format!("what {what} says cannot be used: {why}")));
    }
    if countersign_contract::scan::redact(name).is_some() {
        return Err(wrong(format!("what {what} says has a secret in it, and it would be recorded for ever")));
    }
    Ok(())
}
