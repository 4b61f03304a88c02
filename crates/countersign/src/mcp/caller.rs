//! Who calls.

use crate::hook::Harness;
use crate::project::Project;
use crate::session::{self, Calls};
use countersign_engine::Call;
use rmcp::model::JsonObject;
use serde_json::Value;
use std::sync::Arc;

/// Where Claude Code says which of its calls this is. Its hooks are told the same.
const CLAUDE_CALL: &str = "claudecode/toolUseId";
/// Where Claude Code says which session it started a server for.
const CLAUDE_SESSION: &str = "CLAUDE_CODE_SESSION_ID";
/// Where Codex says which thread calls: the session's own, or that of an agent inside of it.
const CODEX_THREAD: &str = "threadId";
/// Where Codex says more about it, the session among others.
const CODEX_TURN: &str = "x-codex-turn-metadata";

/// Who calls.
#[derive(Debug, Clone)]
pub enum Caller {
    /// Everybody on this connection is one.
    Always(Call),
    /// Whom the token names that was shown when the connection began, for as long as it is good.
    OfToken(Arc<Bearer>),
    /// Whichever session of the client made the call.
    OfSession(Arc<Sessions>),
    /// Whoever the HTTP server found out: a [`Call`] in the extensions of the request. A request without one is refused.
    OfRequest,
}

/// Somebody who has shown a token.
///
/// **Invariant:** a token is looked up for each call: one that has ended or was taken back speaks for nobody from then on.
pub struct Bearer {
    shown: String,
    project: String,
}

impl Bearer {
    /// Whoever has shown this to a project.
    pub fn of(shown: String, project: &str) -> Self {
        Self { shown, project: project.to_owned() }
    }

    /// The call that is made. Otherwise why the token is no longer good, and what to do about it.
    pub fn call(&self) -> Result<Call, (String, &'static str)> {
        let help = "have somebody make another token, and start the server with it";
        crate::place::call_by(&self.shown, &self.project).map_err(|why| (format!("{why:#}"), help))
    }
}

/// Never with the token.
impl std::fmt::Debug for Bearer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Bearer({})", self.project)
    }
}

/// The sessions of a client, each known by the name that its hooks have for it.
///
/// **Invariant:** nothing that an agent writes says who it is; only what its client says of the call does.
#[derive(Debug)]
pub struct Sessions {
    /// Who asks for what needs no name.
    anybody: Call,
    client: Harness,
    /// The session that the server was started for. One process may outlive it, so what is said of a call counts for more.
    started_for: Option<String>,
    calls: Option<Calls>,
}

impl Sessions {
    /// The sessions of a client in a project.
    pub fn of(client: Harness, anybody: Call, project: &Project) -> Self {
        let started_for = std::env::var(CLAUDE_SESSION).ok().filter(|it| !it.is_empty());
        Self { anybody, client, started_for, calls: Calls::of(project) }
    }

    /// The call that was made. None, if it is not known by whom.
    pub fn call(&self, meta: &JsonObject) -> Option<Call> {
        let actor = match self.client {
            Harness::Codex => self.codex(meta),
            _ => self.claude(meta),
        };
        actor.map(|actor| Call { actor, ..self.anybody.clone() })
    }

    /// The same for what needs no name: reading what everybody may read.
    pub fn reading(&self, meta: &JsonObject) -> Call {
        self.call(meta).unwrap_or_else(|| self.anybody.clone())
    }

    /// Why it is not known who calls, and what to do about it.
    pub fn unknown(&self) -> (String, String) {
        let client = self.client.as_str();
        let why = format!("it is not known which session of {client} calls");
        let help = match self.client {
            Harness::Codex => format!(
                "this {client} does not say with a call which of its threads makes it; start the server with `--as NAME` and give \
                 the same name to its hooks in COUNTERSIGN_ACTOR"
            ),
            _ => format!(
                "have somebody run `countersign install {client}`, and `countersign doctor` to see whether its hooks run; or start \
                 the server with `--as NAME` and give the same name to the hooks in COUNTERSIGN_ACTOR"
            ),
        };
        (why, help)
    }

    fn claude(&self, meta: &JsonObject) -> Option<String> {
        let noted = || self.calls.as_ref()?.whose(text(meta.get(CLAUDE_CALL))?);
        let client = self.client.as_str();
        noted().or_else(|| Some(session::name(client, self.started_for.as_deref()?, None)))
    }

    fn codex(&self, meta: &JsonObject) -> Option<String> {
        let turn = |name: &str| text(meta.get(CODEX_TURN)?.get(name));
        let thread = text(meta.get(CODEX_THREAD)).or_else(|| turn("thread_id"));
        let session = turn("session_id").or(thread)?;
        Some(session::name(self.client.as_str(), session, thread.filter(|thread| *thread != session)))
    }
}

fn text(value: Option<&Value>) -> Option<&str> {
    value?.as_str().filter(|text| !text.is_empty())
}
