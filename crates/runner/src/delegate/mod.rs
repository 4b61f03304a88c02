//! Carrying out delegated actions: once for each instruction, with the audit entry before the response.
//!
//! ```text
//! receive ─▶ ids are reserved ─▶ start ─▶ act ─▶ answer: entry and response in one command ─▶ entry as a file ─▶ looked at ─▶ response
//!               │ invalid                 └ begun before: look first whether it is done        ▲
//!               └──────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! What is new, and nobody else has, is received and begun in one commit; and where the executor itself looks at what it did, what
//! it saw goes with the answer. So an action is on the disk twice before it is answered, not four times.
//!
//! It can be killed between any two steps. Whoever is given the same instruction again goes on from what the ledger says:
//! what was begun is looked for before anything is done, what was answered is answered alike.
//!
//! **Invariant:** nothing is sent before the ledger says that it will be.
//! **Invariant:** at one place one process acts on an instruction at a time; it holds the lock of that instruction there.
//! **Absent on purpose:** what an instruction needs to be valid, and what an entry and a response hold. The domain says.

mod address;
mod asking;
pub mod carry;
mod dry;
pub mod entry;
mod git;
mod github;
mod handed;
mod place;
mod platform;
mod said;
mod unrecorded;
mod wanted;

pub use carry::{Answered, Looked, Setup, carry_out, carry_out_handed};
pub use dry::DryRun;
pub use git::GitExecutor;
pub use github::{GITHUB, GithubExecutor};
pub use handed::Handed;
pub use platform::{Github, Platform};

use countersign_domain::delegation::command::ExecutorKind;
use countersign_domain::delegation::payload::DelegationInstruction;
use serde_json::{Value, json};

/// Somebody who can carry actions out.
pub trait Executor {
    /// Which one it is.
    fn kind(&self) -> ExecutorKind;

    /// How long it acts at the longest, in seconds. It ends itself before that.
    fn seconds(&self) -> u32;

    /// Begins to look at what `obstacles` will ask of a valid instruction, where that changes nothing and can be done beside
    /// something else. Nobody has to come back for it.
    fn foresee(&self, _: &DelegationInstruction) {}

    /// Why it cannot carry this out, as far as it can tell without acting. `valid`: nothing else is wrong with it. What is not
    /// valid is not shown to a platform, not even to ask.
    fn obstacles(&self, instruction: &DelegationInstruction, valid: bool) -> Vec<Obstacle>;

    /// What is there before anybody acts, where that tells afterwards what became of it: what a name is at that is to be
    /// deleted. It is kept before anything is done, for whoever comes after.
    fn before(&self, instruction: &DelegationInstruction) -> Option<String>;

    /// Carries it out and says what came of it, as `delegation.answer` takes it. If an earlier attempt may have done it
    /// already, that is looked for first, and what was done is not done again. An error means that it is not known what
    /// came of it; then nothing is answered, and whoever tries again looks first.
    fn act(&self, instruction: &DelegationInstruction, attempt: &Attempt<'_>) -> Result<Value, String>;

    /// What it saw of a success when it had just acted on this instruction, if it looked then as `verify` does. None, if it did
    /// not: somebody has to look.
    fn saw(&self, _: &DelegationInstruction) -> Option<Seen> {
        None
    }

    /// Looks whether what was answered with success is there, as it was asked for. It changes nothing. An error means that it
    /// could not be looked.
    fn verify(&self, instruction: &DelegationInstruction, response: &Value) -> Result<Seen, String>;

    /// What stands against an action now, as far as can be seen without acting; none, if nothing is seen to. It changes nothing.
    fn constraint(&self, instruction: &DelegationInstruction) -> Result<Option<String>, String>;
}

/// An attempt at an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attempt<'a> {
    /// Whether somebody acted before, and may have done it.
    pub again: bool,
    /// What was there before anybody acted, as far as it is known.
    pub before: Option<&'a str>,
    /// When the first attempt began.
    pub first: Option<jiff::Timestamp>,
}

/// What somebody saw who looked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Whether it is so.
    pub holds: bool,
    /// What was seen.
    pub says: String,
}

/// A reason not to carry something out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The field of the instruction.
    pub field: &'static str,
    /// What is wrong with it.
    pub error: String,
    /// What it should be.
    pub expected: String,
}

impl Obstacle {
    fn to_value(&self) -> Value {
        let mut value = json!({ "FIELD": self.field, "ERROR": self.error, "EXPECTED": self.expected });
        // What it names may be what is wrong with the instruction.
        countersign_contract::redact_value(&mut value);
        value
    }
}

/// The time, in whole seconds.
fn now() -> String {
    in_seconds(jiff::Timestamp::now())
}

/// A time in whole seconds.
fn in_seconds(time: jiff::Timestamp) -> String {
    jiff::Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}
