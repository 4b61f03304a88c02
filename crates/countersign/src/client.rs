//! What the verbs talk to: the engine over the project's ledger, with who asks and what can be seen of the world; or a server
//! that has all of it.

use crate::cli::Global;
use crate::home::Home;
use crate::place::{self, Place};
use crate::project::Project;
use crate::remote::{self, Remote};
use crate::world::{Around, Bringing};
use anyhow::{Context, bail};
use countersign_engine::{Call, Engine, Failure, Reply};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A project that can be asked.
pub struct Client<'p>(Way<'p>);

enum Way<'p> {
    Local(Box<Local<'p>>),
    Remote(Box<Remote>),
}

struct Local<'p> {
    engine: Engine,
    around: Around<'p>,
    call: Call,
    /// The file that the payload of the next command was read from.
    brought: Option<PathBuf>,
}

impl<'p> Client<'p> {
    /// Opens the ledger of a project, for whoever calls; or reaches the server that was named.
    pub fn open(project: &'p Project, global: &Global) -> anyhow::Result<Self> {
        if let Some(url) = server(project, global)? {
            let token = place::shown_token(global)?;
            let token =
                token.with_context(|| format!("the server {url} wants a token; name its file with --token-file"))?;
            return Ok(Self(Way::Remote(Box::new(Remote::new(&url, token)?))));
        }
        let engine = Place::engine_of(project, global.ledger.as_deref())?;
        let call = place::call(global, engine.ledger().project(), None)?;
        Ok(Self(Way::Local(Box::new(Local { engine, around: Around::of(project), call, brought: None }))))
    }

    /// The same, with what makes a repetition the same call.
    pub fn with_key(mut self, key: Option<&str>) -> anyhow::Result<Self> {
        place::must_be_usable("--key", key)?;
        let key = key.map(str::to_owned);
        match &mut self.0 {
            Way::Local(local) => local.call.key = key,
            Way::Remote(remote) => remote.set_key(key),
        }
        Ok(self)
    }

    /// The same, for a payload that was read from a file. A server has no part in where its callers keep theirs.
    pub fn bringing(mut self, file: &Path) -> Self {
        if let Way::Local(local) = &mut self.0 {
            local.brought = file.canonicalize().ok();
        }
        self
    }

    fn local(&self) -> anyhow::Result<&Local<'p>> {
        match &self.0 {
            Way::Local(local) => Ok(local),
            Way::Remote(_) => bail!(NEEDS_LEDGER),
        }
    }

    /// Who calls. A server tells that by the token.
    pub fn call(&self) -> anyhow::Result<&Call> {
        Ok(&self.local()?.call)
    }

    /// The engine itself, where the ledger is at hand.
    pub fn engine(&self) -> anyhow::Result<&Engine> {
        Ok(&self.local()?.engine)
    }

    /// What can be seen of the world.
    pub fn around(&self) -> anyhow::Result<&Around<'p>> {
        Ok(&self.local()?.around)
    }

    /// Asks for a command.
    pub fn ask(&self, id: &str, request: &Value) -> Result<Reply, Failure> {
        match &self.0 {
            Way::Local(it) => match &it.brought {
                None => it.engine.ask(&it.around, &it.call, id, &request.to_string()),
                Some(file) => it.engine.ask(&Bringing(&it.around, file), &it.call, id, &request.to_string()),
            },
            Way::Remote(remote) => remote.ask(id, request),
        }
    }

    /// Asks a question.
    pub fn look(&self, id: &str, question: &Value) -> Result<Value, Failure> {
        match &self.0 {
            Way::Local(it) => it.engine.look(&it.around, &it.call, id, &question.to_string()),
            Way::Remote(remote) => remote.look(id, question),
        }
    }
}

const NEEDS_LEDGER: &str = "this verb needs the ledger itself, and a server was named; run it where the ledger is";

/// The server that was named, or that the settings name. Those may not choose where a token is sent: the user must have named
/// that server before.
pub fn server(project: &Project, global: &Global) -> anyhow::Result<Option<String>> {
    if let Some(named) = &global.server {
        if global.ledger.is_some() {
            bail!("both a server and a ledger were named; name one of them");
        }
        remote::is_encrypted(named)?;
        Home::find()?.trust(named)?;
        return Ok(Some(named.clone()));
    }
    let Some(configured) = project.server.as_ref().filter(|_| global.ledger.is_none()) else { return Ok(None) };
    if !Home::find()?.trusts(configured) {
        bail!(
            "the project's settings name the server {configured}, which this user has not named before; if it is the right one, \
             name it once with --server"
        );
    }
    Ok(Some(configured.clone()))
}

/// Refuses a verb that needs the ledger itself, where a server was named instead of it.
pub fn must_be_local(project: &Project, global: &Global) -> anyhow::Result<()> {
    let configured = project.server.is_some() && global.ledger.is_none();
    if global.server.is_some() || configured { bail!(NEEDS_LEDGER) } else { Ok(()) }
}
