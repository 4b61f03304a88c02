//! Who asks, and what they are answered.

use crate::stored::Stored;
use countersign_contract::diagnostic::{Code, Decision, Diagnostic};
use countersign_domain::deciding::{About, CommandInfo, Refusal, Role};
use countersign_ledger as ledger;
use serde_json::Value;

/// Who asks, and how often it is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Who.
    pub actor: String,
    /// How that is known: `declared`, `terminal`, `token` or `session`, and what goes with it.
    pub authn: String,
    /// What they are.
    pub roles: Vec<Role>,
    /// The only task that they may speak for.
    pub bound: Option<Bound>,
    /// What makes a repetition of it the same call.
    pub key: Option<String>,
}

/// A task that a caller is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The run.
    pub run: String,
    /// The task.
    pub task: String,
}

impl Call {
    /// Somebody who says who they are, and has what that gives: agents' and orchestrators' commands.
    pub fn declared(actor: impl Into<String>) -> Self {
        let roles = vec![Role::Agent, Role::Orchestrator];
        Self { actor: actor.into(), authn: "declared".to_owned(), roles, bound: None, key: None }
    }

    /// Whether they are somebody who answers for what is accepted.
    pub fn is_person(&self) -> bool {
        self.roles.iter().any(|role| matches!(role, Role::Owner | Role::Reviewer))
    }

    /// Refuses what is for other roles than the caller's. An owner may everything; what is for nobody else is for owners.
    pub fn may(&self, what: &str, roles: &[Role]) -> Result<(), Refusal> {
        if self.roles.contains(&Role::Owner) || roles.iter().any(|role| self.roles.contains(role)) {
            return Ok(());
        }
        // In a run that follows a plan an orchestrator's token alone does not do; an owner's always does.
        let who =
            if roles.contains(&Role::Reviewer) { "the token of an owner or a reviewer" } else { "an owner's token" };
        let roles: Vec<&str> = roles.iter().map(|role| role.as_str()).collect();
        let roles = if roles.is_empty() { "owner".to_owned() } else { roles.join(" or ") };
        let reason = format!("`{what}` is for the role {roles}, and {} has no such role", self.actor);
        let help = format!("have it done by somebody who answers for it: at a terminal, or with {who} (--token-file)");
        Err(Refusal::new(Code::AuthorizationMissing, reason, help))
    }

    /// Refuses what the caller may not ask for.
    pub(crate) fn authorise(&self, info: &CommandInfo, about: impl FnOnce() -> Option<About>) -> Result<(), Refusal> {
        self.may(info.id, info.may)?;
        let Some(bound) = &self.bound else { return Ok(()) };
        let Bound { run, task } = bound;
        let (reason, help) = match about() {
            None => {
                let reason = format!("{} may speak for {task} alone, and `{}` is not about it", self.actor, info.id);
                (reason, "name the task; the orchestrator gives other tasks out")
            }
            Some(about) if about.task != *task => {
                let reason = format!("{} may speak for {task} alone, not for {}", self.actor, about.task);
                (reason, "do what was assigned; the orchestrator gives other tasks out")
            }
            // Another run may have a task of the same name, and the only open run may be another one.
            Some(about) if about.run.as_ref() != Some(run) => {
                let reason = format!("{} may speak for {task} of run {run} alone", self.actor);
                (reason, "name that run; the orchestrator gives other tasks out")
            }
            Some(_) => return Ok(()),
        };
        Err(Refusal::new(Code::AuthorizationMissing, reason, help).of_run(run))
    }
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply<A = Value> {
    /// What it is answered with, made from the events.
    pub answer: A,
    /// The events that it recorded, as they were stored. None, if everything was so already.
    pub events: Vec<Stored>,
    /// Whether they were recorded by an earlier call with the same key.
    pub repeated: bool,
    /// What was found in its payload that is no error.
    pub findings: Vec<Diagnostic>,
}

/// Why a command was not carried out, or a question not answered.
#[derive(Debug)]
pub enum Failure {
    /// There is nothing of that name.
    Unknown(String),
    /// The request is not of its shape.
    Malformed(Box<Decision>),
    /// It was understood, and the answer is no.
    Refused(Box<Refusal>),
    /// The ledger could not take it.
    Ledger(ledger::Error),
}

impl From<ledger::Error> for Failure {
    fn from(error: ledger::Error) -> Self {
        Self::Ledger(error)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}
