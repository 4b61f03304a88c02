//! Tokens, as far as the ledger knows of them: that one was made, for whom and for what, and that it was taken back.
//!
//! **Absent on purpose:** the token itself, and its hash. They are made and kept in the user's configuration, where no server
//! and no agent makes any; so these two are no rows of the table of commands, which is what doors are made from.

use super::command::not_begun;
use super::event::{TOKEN_MADE, TOKEN_REVOKED};
use super::state::{project_key, token_key};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::ids::{RunId, TaskId};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Text, Timestamp, shape};
use serde_json::json;

shape! {
    /// Record that a token was made.
    pub closed struct MakeToken {
        /// Its id, which is no secret.
        pub token_id: Text<1, 64> = "1f3c5a7b9d2e",
        /// In whose name it speaks.
        pub actor: Text<1, 500> = "coder-1",
        /// What it may ask for.
        pub role: Text<1, 64> = "agent",
        /// The run of the only task that it may speak for.
        pub run_id: Option<RunId>,
        /// That task.
        pub task_id: Option<TaskId>,
        /// When it ends.
        pub expires: Option<Timestamp>,
    }
}

shape! {
    /// Record that a token was taken back.
    pub closed struct RevokeToken {
        /// Its id.
        pub token_id: Text<1, 64> = "1f3c5a7b9d2e",
    }
}

shape! {
    /// What was recorded of a token.
    pub struct TokenAnswer {
        /// The event; none, if everything was so already.
        pub seq: Option<Int>,
    }
}

const fn info(id: &'static str, summary: &'static str) -> CommandInfo {
    let refuses = &[Code::DependencyNotMet];
    CommandInfo { id, summary, may: &[Role::Owner], invalidates: &[], refuses, writes: Writes::Events }
}

fn needs(token: &str) -> Vec<Need> {
    vec![Need::Entity(project_key()), Need::Entity(token_key(token))]
}

fn answer(stored: &Answered<'_>) -> TokenAnswer {
    TokenAnswer { seq: stored.events.first().map(|event| event.seq.into()) }
}

impl Command for MakeToken {
    const INFO: CommandInfo = info("token.make", "Record that a token was made");
    type Answer = TokenAnswer;

    fn needs(&self, _: &Seen, _: &Moment) -> Vec<Need> {
        needs(self.token_id.as_str())
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        if desk.entity(&project_key()).is_none() {
            return Err(not_begun());
        }
        if desk.entity(&token_key(self.token_id.as_str())).is_none() {
            let facts = json!({
                "actor": self.actor, "expires": self.expires, "role": self.role, "run": self.run_id, "task": self.task_id,
                "token": self.token_id,
            });
            desk.record(Happening::new(TOKEN_MADE, facts));
        }
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> TokenAnswer {
        answer(stored)
    }
}

impl Command for RevokeToken {
    const INFO: CommandInfo = info("token.revoke", "Record that a token was taken back");
    type Answer = TokenAnswer;

    fn needs(&self, _: &Seen, _: &Moment) -> Vec<Need> {
        needs(self.token_id.as_str())
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        if desk.entity(&project_key()).is_none() {
            return Err(not_begun());
        }
        // One that was made before there were records of it is taken back all the same.
        let known = desk.entity(&token_key(self.token_id.as_str()));
        if !known.is_some_and(|token| token.facts["revoked"] == true) {
            desk.record(Happening::new(TOKEN_REVOKED, json!({ "token": self.token_id })));
        }
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> TokenAnswer {
        answer(stored)
    }
}
