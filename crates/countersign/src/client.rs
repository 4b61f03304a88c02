//! What the verbs talk to: the engine over the project's ledger, with who asks and what can be seen of the world.

use crate::cli::Global;
use crate::place::{self, Place};
use crate::project::Project;
use crate::world::Around;
use countersign_engine::{Call, Engine, Failure, Reply};
use serde_json::Value;

/// A project that can be asked.
pub struct Client<'p> {
    engine: Engine,
    around: Around<'p>,
    call: Call,
}

impl<'p> Client<'p> {
    /// Opens the ledger of a project, for whoever calls.
    pub fn open(project: &'p Project, global: &Global) -> anyhow::Result<Self> {
        let engine = Place::engine_of(project, global.ledger.as_deref())?;
        let call = place::call(global, engine.ledger().project(), None)?;
        Ok(Self { engine, around: Around { project }, call })
    }

    /// The same, with what makes a repetition the same call.
    pub fn with_key(mut self, key: Option<&str>) -> anyhow::Result<Self> {
        place::must_be_usable("--key", key)?;
        self.call.key = key.map(str::to_owned);
        Ok(self)
    }

    /// Who calls.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// The engine itself.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// What can be seen of the world.
    pub fn around(&self) -> &Around<'p> {
        &self.around
    }

    /// Asks for a command.
    pub fn ask(&self, id: &str, request: &Value) -> Result<Reply, Failure> {
        self.engine.ask(&self.around, &self.call, id, &request.to_string())
    }

    /// Asks a question.
    pub fn look(&self, id: &str, question: &Value) -> Result<Value, Failure> {
        self.engine.look(&self.around, &self.call, id, &question.to_string())
    }
}
