//! The Model Context Protocol: what an agent's client calls. Over standard input and output for one client
//! ([`stdio::serve`]), and over Streamable HTTP for many ([`service`]).
//!
//! Tools are rows of the engine's tables under names that agents know ([`tools`]); `check`, `fix` and `explain` are what the
//! verbs of the same names do. What is refused is a result that says so, never an error of the protocol, so that the agent
//! can read why.
//!
//! **Invariant:** who calls is known from the connection, or from what the client says of a call ([`Caller`]). No argument says it.
//! **Invariant:** everything that an agent must know stands in `structuredContent`; the text beside it says the same.
//! **Absent on purpose:** logic. What may pass is decided below.

mod answer;
mod caller;
mod carry_out;
mod documents;
mod handoffs;
mod http;
mod prompts;
mod resources;
mod schemas;
mod server;
pub mod stdio;
mod tools;

pub use caller::{Bearer, Caller, Sessions};
pub use http::{request_max, service};
pub use server::Server;

use crate::project::Project;
use crate::world::Around;
use countersign_engine::{Call, Engine, Failure, Reply};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// How many documents are checked or repaired at a time. Others wait, and keep nobody from giving a sign of life.
const SLOW_AT_A_TIME: usize = 4;

/// What all connections share: a project, with its ledger.
#[derive(Clone)]
pub struct Shared {
    engine: Arc<Engine>,
    project: Arc<Project>,
    slow: Arc<Semaphore>,
}

impl Shared {
    /// A project and its ledger.
    pub fn new(engine: Arc<Engine>, project: Arc<Project>) -> Self {
        Self { engine, project, slow: Arc::new(Semaphore::new(SLOW_AT_A_TIME)) }
    }

    /// Asks for a command.
    fn ask(&self, call: &Call, id: &str, request: &str) -> Result<Reply, Failure> {
        self.engine.ask(&Around::of(&self.project), call, id, request)
    }

    /// Asks a question.
    fn look(&self, call: &Call, id: &str, question: &str) -> Result<Value, Failure> {
        self.engine.ledger().must_be_open()?;
        self.engine.look(&Around::of(&self.project), call, id, question)
    }
}
