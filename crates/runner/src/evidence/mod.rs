//! Evidence: what Countersign itself saw when it carried out a check.
//!
//! ```text
//! check ─collect─▶ test · command · file · diff · port · http ─▶ Evidence: a status, a sentence, what was seen
//! ```
//!
//! A check comes from the plan, never from the worker. Its programs run in a checkout of the claimed commit, in a
//! cleaned environment, for a limited time and with limited output.
//!
//! **Invariant:** what cannot be found out is [`Status::Blocked`], with the reason. Only what was seen to hold is
//! [`Status::Pass`]; a weaker look never stands in for the one that was asked for.
//! **Invariant:** no secret that can be told by its form stands in what is handed out, and hashes are taken after
//! secrets are gone.
//! **Absent on purpose:** what follows from evidence, and a sandbox. A program that a check runs may do what its user
//! may; that the files which decide are not the worker's is what [`pin`] is for.

mod beneath;
mod capture;
mod command;
mod diff;
mod escaped;
mod file;
mod hosts;
mod http;
mod junit_files;
mod own_report;
mod page;
mod pin;
mod plain;
mod port;
pub mod process;
mod report;
mod test;

pub use pin::{PinFault, pin};
pub use report::Counts;

use crate::agent::Stop;
use countersign_domain::plan::evidence::EvidenceKind;
use countersign_domain::plan::payload::Check;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a check may take when neither it nor the plan says so.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// How long a check may take whatever is said: no work waits longer for its evidence.
const PATIENCE_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Where a check is carried out, and what is known there.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// A clean checkout of the claimed commit. Programs run in it, files are opened beneath it.
    pub checkout: &'a Path,
    /// What a program sees beside the few variables that every program needs.
    pub environment: &'a [(String, String)],
    /// Hosts that may be asked, beside this machine: names or addresses. An address that is not public is asked only if
    /// it stands here itself; a name that leads there is not enough.
    pub allowed_hosts: &'a [String],
    /// Resources that the worker declared as changed.
    pub declared: &'a [String],
    /// Resources that really differ from the base.
    pub changed: &'a [String],
    /// Resources that the task may change.
    pub scope: &'a [String],
    /// Resources that nobody may change.
    pub forbidden: &'a [String],
    /// How long a check may take that does not say so itself.
    pub patience: Duration,
    /// Where pictures of pages go.
    pub pictures: Option<&'a Path>,
    /// Ends programs before their time. What is found after that was asked for counts for nothing.
    pub stop: Option<&'a Stop>,
}

impl<'a> Site<'a> {
    /// A checkout of which nothing else is known.
    pub fn at(checkout: &'a Path) -> Self {
        Self {
            checkout,
            environment: &[],
            allowed_hosts: &[],
            declared: &[],
            changed: &[],
            scope: &[],
            forbidden: &[],
            patience: PATIENCE,
            pictures: None,
            stop: None,
        }
    }

    /// How long a check may take.
    fn patience_for(&self, check: &Check) -> Duration {
        let own = check.timeout.as_ref().and_then(|span| u64::try_from(span.seconds()).ok()).filter(|it| *it > 0);
        own.map_or(self.patience, Duration::from_secs).min(PATIENCE_MAX)
    }
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It was seen to hold.
    Pass,
    /// It was seen not to hold.
    Fail,
    /// It could not be found out.
    Blocked,
    /// It is not for a machine to say.
    Skip,
}

/// A file that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSeen {
    pub path: String,
    pub exists: bool,
    pub size_bytes: Option<u64>,
    /// Of what was read; none for what is too large or no file.
    pub sha256: Option<String>,
}

/// An answer over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerSeen {
    pub url: String,
    pub method: String,
    pub status_code: Option<u16>,
    /// How the answer begins, without secrets.
    pub snippet: String,
}

/// What was seen when a check was carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    pub kind: EvidenceKind,
    pub status: Status,
    /// What was seen, in one sentence for people; what to do, where something can be done.
    pub says: String,
    /// The program that was run.
    pub command: Option<Vec<String>>,
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    pub timed_out: bool,
    pub counts: Option<Counts>,
    /// Both streams without secrets and escape sequences: how it begins and how it ends.
    pub output: Option<String>,
    /// Of all that was kept of the output, without secrets.
    pub output_sha256: Option<String>,
    /// How much the program said, whether kept or not.
    pub output_bytes: u64,
    pub file: Option<FileSeen>,
    pub answer: Option<AnswerSeen>,
    pub picture: Option<PathBuf>,
    pub took: Duration,
}

impl Evidence {
    pub(crate) fn new(kind: EvidenceKind, status: Status, says: impl Into<String>) -> Self {
        Self {
            kind,
            status,
            says: says.into(),
            command: None,
            exit_code: None,
            signal: None,
            timed_out: false,
            counts: None,
            output: None,
            output_sha256: None,
            output_bytes: 0,
            file: None,
            answer: None,
            picture: None,
            took: Duration::ZERO,
        }
    }

    /// Whether the check was seen to hold.
    pub fn passed(&self) -> bool {
        self.status == Status::Pass
    }
}

/// Carries out a check, and says what was seen.
pub fn collect(check: &Check, site: &Site<'_>) -> Evidence {
    let start = Instant::now();
    let kinds = check.kinds();
    let mut evidence = match kinds.as_slice() {
        [kind] => of_kind(*kind, check, site),
        [] => blocked(EvidenceKind::Statement, "the check says nothing to look at; give it one kind, such as `test`"),
        [first, ..] => blocked(*first, "the check is of several kinds at once; make it several checks"),
    };
    evidence.took = start.elapsed();
    evidence
}

/// What a check says about the base, before the work.
#[derive(Debug, Clone, PartialEq)]
pub enum Before {
    /// It does not hold there, so that holding afterwards says something.
    Red(Evidence),
    /// It holds there already, and so tells nothing about the work.
    TellsNothing(Evidence),
    /// It could not be found out.
    Unknown(Evidence),
}

/// Carries out a check on the base of the work: a checkout of the commit from which it began, with the pinned files in
/// place.
pub fn red(check: &Check, base: &Site<'_>) -> Before {
    let evidence = collect(check, base);
    match evidence.status {
        Status::Fail => Before::Red(evidence),
        Status::Pass => Before::TellsNothing(evidence),
        Status::Blocked | Status::Skip => Before::Unknown(evidence),
    }
}

fn of_kind(kind: EvidenceKind, check: &Check, site: &Site<'_>) -> Evidence {
    let patience = site.patience_for(check);
    match check {
        Check { test: Some(arguments), .. } => test::collect(&command::arguments(arguments), site, patience),
        Check { command: Some(arguments), .. } => command::collect(&command::arguments(arguments), site, patience),
        Check { file: Some(wanted), .. } => file::collect(wanted, site.checkout),
        Check { diff: Some(true), .. } => diff::collect(site),
        Check { diff: Some(false), .. } => blocked(kind, "`diff: false` asks for nothing; leave the check out"),
        Check { port: Some(port), .. } => port::collect(port.get(), check.timeout.as_ref().map(|_| patience)),
        Check { http: Some(wanted), .. } => http::collect(wanted, site.allowed_hosts, patience),
        Check { page: Some(wanted), .. } => page::collect(wanted, site, patience),
        Check { human: Some(_), .. } => Evidence::new(kind, Status::Skip, "a person must say so"),
        _ => blocked(kind, "the check says nothing to look at; give it one kind, such as `test`"),
    }
}

fn blocked(kind: EvidenceKind, says: impl Into<String>) -> Evidence {
    Evidence::new(kind, Status::Blocked, says)
}
