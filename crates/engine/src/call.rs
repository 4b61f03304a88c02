//! Who asks, and what they are answered.

use crate::stored::Stored;
use countersign_contract::diagnostic::{Code, Decision, Diagnostic};
use countersign_domain::deciding::{CommandInfo, Refusal, Role};
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

    /// Refuses what the caller may not ask for.
    pub(crate) fn authorise(&self, info: &CommandInfo, about: Option<&str>) -> Result<(), Refusal> {
        let may = self.roles.contains(&Role::Owner) || info.may.iter().any(|role| self.roles.contains(role));
        if !may {
            let roles: Vec<&str> = info.may.iter().map(|role| role.as_str()).collect();
            let roles = if roles.is_empty() { "owner".to_owned() } else { roles.join(" or ") };
            let reason = format!("`{}` is for the role {roles}, and {} has no such role", info.id, self.actor);
            let help = "have it done by somebody who answers for it: at a terminal, or with a token of that role";
            return Err(Refusal::new(Code::AuthorizationMissing, reason, help));
        }
        match (&self.bound, about) {
            (Some(bound), Some(about)) if bound.task != about => {
                let reason = format!("{} may speak for {} alone, not for {about}", self.actor, bound.task);
                let help = "do what was assigned; the orchestrator gives other tasks out";
                Err(Refusal::new(Code::AuthorizationMissing, reason, help).of_run(&bound.run))
            }
            (Some(bound), None) => {
                let reason =
                    format!("{} may speak for {} alone, and `{}` is not about it", self.actor, bound.task, info.id);
                let help = "name the task; the orchestrator gives other tasks out";
                Err(Refusal::new(Code::AuthorizationMissing, reason, help).of_run(&bound.run))
            }
            _ => Ok(()),
        }
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
