//! How a command is decided: what it asks to see, what it is shown, and what follows.
//!
//! ```text
//! needs(seen) ─▶ what to look up ─▶ … a few rounds … ─▶ decide(desk) ─▶ happenings on the desk, or a refusal
//! ```
//!
//! Nothing here reads a clock or a store: time and what was found come in, what has happened goes out.

mod desk;
mod facts;
mod seen;

pub use desk::{Decided, Desk, Moment};
pub use facts::{Facts, Row};
pub use seen::{Found, Hit, Hold, Key, Need, Place, Range, Seen};

use countersign_contract::diagnostic::{Code, Diagnostic};
use countersign_contract::{Checked, Checker, Outside, Shape, Untrusted};
use serde_json::Value;

/// How often a command may ask for more. Choosing among tasks takes the most: the run, what is ready, the tasks, their
/// scopes, who holds those, who else does if those have all lapsed; and once more of it when the first few are all taken.
pub const ROUNDS_MAX: usize = 14;

/// Something that has happened, as a domain says it.
#[derive(Debug, Clone, PartialEq)]
pub struct Happening {
    /// What: a name in the past tense, with its domain before it.
    pub kind: &'static str,
    /// The version of its facts.
    pub v: u32,
    /// The run it belongs to.
    pub run: Option<String>,
    /// The data class.
    pub class: &'static str,
    /// The taint.
    pub taint: &'static str,
    /// Ids, states, numbers, paths and hashes.
    pub facts: Value,
    /// What can be erased.
    pub texts: Vec<Untrusted<String>>,
    /// The texts that it empties: event and number.
    pub erase: Vec<(u64, u32)>,
    /// What it does to a lease.
    pub lease: Option<LeaseStep>,
}

/// What a happening does to a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseStep {
    /// Somebody holds it from here on. The happening's sequence number is the fencing number.
    Grant {
        /// Who.
        holder: String,
        /// What is leased.
        name: String,
        /// How long it lasts without a sign of life, in milliseconds.
        ttl: i64,
    },
    /// It lasts longer, or less long, from here on.
    Extend {
        /// What is leased.
        name: String,
        /// The fencing number.
        number: u64,
        /// How long it lasts without a sign of life, in milliseconds.
        ttl: i64,
    },
    /// It was given back.
    Release {
        /// What is leased.
        name: String,
        /// The fencing number.
        number: u64,
    },
    /// Its time ran out.
    Expire {
        /// What is leased.
        name: String,
        /// The fencing number.
        number: u64,
    },
}

/// The version of the facts that events are written with, and the newest that is understood. All kinds have the same.
pub const VERSION: u32 = 1;

impl Happening {
    /// One with facts alone.
    pub fn new(kind: &'static str, facts: Value) -> Self {
        let (class, taint) = ("internal", "none");
        Self { kind, v: VERSION, run: None, class, taint, facts, texts: Vec::new(), erase: Vec::new(), lease: None }
    }

    /// The same, of a run.
    pub fn of_run(kind: &'static str, run: &str, facts: Value) -> Self {
        Self { run: Some(run.to_owned()), ..Self::new(kind, facts) }
    }

    /// The same with texts, which nobody vouches for.
    pub fn with_texts(mut self, texts: Vec<Untrusted<String>>) -> Self {
        self.taint = if texts.is_empty() { self.taint } else { "untrusted" };
        self.texts = texts;
        self
    }

    /// The same with what it does to a lease.
    pub fn with_lease(mut self, lease: LeaseStep) -> Self {
        self.lease = Some(lease);
        self
    }
}

/// Why a command is not carried out: the payload is right, and yet not now or not so.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// What it is filed under.
    pub code: Code,
    /// One sentence.
    pub reason: String,
    /// What to do.
    pub help: Box<str>,
    /// The run that it is about.
    pub run: Option<String>,
    /// What was found in a payload that came with the command.
    pub findings: Vec<Diagnostic>,
    /// What happened all the same: evidence that is kept although what it claims is refused.
    pub kept: Box<[Happening]>,
    /// Whether what was named does not exist. Doors that tell that apart from a conflict do so by this.
    pub absent: bool,
    /// The run of somebody else that it tells of, and what is said instead to those who may not see that run.
    pub elsewhere: Option<Box<(String, String)>>,
}

impl Refusal {
    /// A refusal.
    pub fn new(code: Code, reason: impl Into<String>, help: impl Into<String>) -> Self {
        let (run, findings, kept, elsewhere) = (None, Vec::new(), Box::default(), None);
        let (reason, help) = (reason.into(), help.into().into_boxed_str());
        Self { code, reason, help, run, findings, kept, absent: false, elsewhere }
    }

    /// The same, because what was named does not exist.
    pub fn of_absent(mut self) -> Self {
        self.absent = true;
        self
    }

    /// The same, about a run.
    pub fn of_run(mut self, run: &str) -> Self {
        self.run = Some(run.to_owned());
        self
    }
}

/// Somebody's part, which says what they may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Does tasks.
    Agent,
    /// Makes tasks and gives them out.
    Orchestrator,
    /// Answers for what is accepted.
    Reviewer,
    /// Answers for the project.
    Owner,
    /// Reads.
    Auditor,
}

impl Role {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Agent => "agent",
            Role::Orchestrator => "orchestrator",
            Role::Reviewer => "reviewer",
            Role::Owner => "owner",
            Role::Auditor => "auditor",
        }
    }

    /// The role with this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Role::Agent, Role::Orchestrator, Role::Reviewer, Role::Owner, Role::Auditor]
            .into_iter()
            .find(|role| role.as_str() == name)
    }
}

/// What a command leaves behind when it is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// Events.
    Events,
    /// A sign of life, which is a row beside the log.
    Liveness,
}

/// What is known of a command before it is asked for.
#[derive(Debug, Clone, Copy)]
pub struct CommandInfo {
    /// Its name: what it is about, and what is done.
    pub id: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Who may ask for it. An owner may everything.
    pub may: &'static [Role],
    /// The views that show something else afterwards.
    pub invalidates: &'static [&'static str],
    /// The codes it is refused with, beside those of a request that is malformed.
    pub refuses: &'static [Code],
    /// What it leaves behind.
    pub writes: Writes,
}

impl CommandInfo {
    /// What makes a repetition harmless: a key under which events are recorded once, or that a sign of life can be given again.
    pub fn idempotency(&self) -> &'static str {
        match self.writes {
            Writes::Events => "by key",
            Writes::Liveness => "by nature",
        }
    }

    /// What it is counted and traced as: what it is about.
    pub fn telemetry(&self) -> &'static str {
        self.id.split_once('.').map_or(self.id, |(about, _)| about)
    }
}

/// What can be seen before a command is decided: the ledger as it stands, with its texts, and the world.
pub trait Observer {
    /// Looks up what is asked for.
    fn look(&self, seen: &mut Seen, needs: Vec<Need>) -> Result<(), String>;

    /// What payloads are checked with.
    fn checker(&self) -> Checker<'_>;

    /// The time and fresh ids.
    fn outside(&self) -> Outside;

    /// The time, fresh ids, and whether the files are there that a document refers to. None, if it refers to none.
    fn look_for_files(&self, checked: &Checked, name: &str) -> Option<Outside>;

    /// An event by its number: its kind and its facts.
    fn event(&self, seq: u64) -> Result<Option<(String, Value)>, String>;

    /// The working tree, compared with a commit. None, where there is none to be seen.
    fn tree(&self, base: Option<&str>) -> Option<Tree>;

    /// Whether who asks answers for what is accepted: a person, as far as the door can tell.
    fn is_person(&self) -> bool;

    /// Whether the evidence that comes with a request was collected by the process that asks, and not handed to it.
    fn has_collected(&self) -> bool;

    /// Whether whoever asks is no process of this machine.
    fn is_afar(&self) -> bool;

    /// Whether this is the file of the working tree that the payload of a request was read from, and git does not know it.
    fn is_brought(&self, path: &str, base: &str) -> bool;
}

/// What stands for a commit where there is none yet, as git writes it.
pub const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

/// A working tree as it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tree {
    /// The commit that is checked out.
    pub commit: Option<String>,
    /// Each file that differs from the commit asked about, with the hash of what it is; gone, if it is none.
    pub changed: std::collections::BTreeMap<String, Option<String>>,
}

/// The task that a command speaks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The run, if it is named.
    pub run: Option<String>,
    /// The task.
    pub task: String,
}

/// Something that can be asked for. Its fields are the request.
pub trait Command: Shape + Clone + Send + Sync + 'static {
    /// What is known of it.
    const INFO: CommandInfo;

    /// What it is answered with.
    type Answer: Shape;

    /// The task that it speaks for, if it is one, and its run, if that is named.
    fn about(&self) -> Option<About> {
        let request = serde_json::to_value(self).ok()?;
        let task = request["task_id"].as_str()?.to_owned();
        Some(About { run: request["run_id"].as_str().map(str::to_owned), task })
    }

    /// Looks at what lies outside of the transaction: checks the payload that came with it, the texts and the world.
    /// What it was bound to is looked at again when it is decided.
    fn observe(&self, _: &dyn Observer) -> Result<Observed, Refusal> {
        Ok(Observed::default())
    }

    /// What it must see, given what it has seen.
    fn needs(&self, seen: &Seen, moment: &Moment) -> Vec<Need>;

    /// What follows from it, put on the desk. Nothing at all means that everything is so already.
    fn decide(&self, desk: &mut Desk, observed: &Observed) -> Result<(), Refusal>;

    /// What is answered.
    fn answer(&self, stored: &Answered<'_>) -> Self::Answer;
}

/// What came of a command, as it was stored.
#[derive(Debug, Default)]
pub struct Answered<'a> {
    /// The events. None of them, if everything was so already.
    pub events: &'a [Happened<'a>],
    /// When the lease lapses that was given a sign of life, in milliseconds since 1970.
    pub deadline: Option<i64>,
}

/// What a command saw before it was decided.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    /// The working tree.
    pub tree: Option<Tree>,
    /// What it made of what it saw: its own to read.
    pub facts: Value,
    /// What was found in the payload that is no error.
    pub findings: Vec<Diagnostic>,
    /// Why the payload may not pass, if that is to be said only after who brings it was looked at.
    pub refusal: Option<Box<Refusal>>,
}

/// What is known of a view.
#[derive(Debug, Clone, Copy)]
pub struct ViewInfo {
    /// Its name.
    pub id: &'static str,
    /// One line.
    pub summary: &'static str,
}

/// Something that can be looked at. Its fields are the question.
pub trait View: Shape + Clone + Send + 'static {
    /// What is known of it.
    const INFO: ViewInfo;

    /// What is shown.
    type Shown: Shape;

    /// The working tree, if it plays a part.
    fn tree(&self, _: &dyn Observer, _: &Moment) -> Option<Tree> {
        None
    }

    /// What it must see, given what it has seen.
    fn needs(&self, seen: &Seen, moment: &Moment) -> Vec<Need>;

    /// What is shown.
    fn render(&self, seen: &Seen, moment: &Moment, tree: Option<&Tree>) -> Result<Self::Shown, Refusal>;
}

/// An event as a domain reads it.
#[derive(Debug, Clone, Copy)]
pub struct Happened<'a> {
    /// Its place in the log.
    pub seq: u64,
    /// What happened.
    pub kind: &'a str,
    /// The version of its facts.
    pub v: u32,
    /// Who did it.
    pub actor: &'a str,
    /// When, as RFC 3339.
    pub time: &'a str,
    /// The facts.
    pub facts: &'a Value,
}
