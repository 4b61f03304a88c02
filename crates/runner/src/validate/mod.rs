//! A validation request, carried out by itself.
//!
//! ```text
//! request ─ground─▶ a clean checkout of what is claimed
//!                       ├─facts──▶ what the request says of itself
//!                       ├─checks─▶ what the user has named for each criterion ─┐
//!                       └─asking─▶ what a validator answers                    ─┴─settle─▶ response
//! ```
//!
//! **Invariant:** no program, and no argument of one, comes from the request. What is run is named by whoever validates.
//! **Invariant:** what the request says of itself can refute it or keep it from being looked at; it shows no criterion to
//! hold. A criterion that nothing decides is SKIP.
//! **Invariant:** whoever answers, what was seen not to hold is FAIL, and what could not be seen is not PASS. Past the
//! request's time, nothing was seen.
//! **Absent on purpose:** whether an answer may pass. Its contract says that.

mod asking;
mod checks;
mod clock;
mod facts;
mod ground;
mod kept;
mod lying;
mod settle;

pub use checks::Checks;

use crate::agent::Stop;
use crate::evidence::{self, Evidence, Site, Status};
use crate::run::answering::shown;
use clock::Clock;
use countersign_contract::show;
use countersign_domain::plan::payload::Check;
use countersign_domain::validation::evidence::EvidenceKind;
use countersign_domain::validation::payload::ValidationRequest;
use ground::Ground;
use lying::Lying;
use serde_json::{Value, json};
use std::path::Path;

/// A request, and what it is carried out with.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The request. It has passed its contract.
    pub request: &'a ValidationRequest,
    /// The same as JSON, for a validator that is a program.
    pub input: &'a str,
    /// The project. Work lies below it, or in a working tree of the same repository.
    pub root: &'a Path,
    /// Where the work lies, if the user has said so. It may be anywhere.
    pub worktree: Option<&'a Path>,
    /// What decides each criterion.
    pub checks: &'a Checks,
    /// A program that validates, and its arguments.
    pub program: Option<&'a [String]>,
    /// Who validates.
    pub validator: &'a str,
    /// Hosts that may be asked, beside this machine.
    pub allowed_hosts: &'a [String],
    /// Where pictures of pages go. The folder is there.
    pub pictures: Option<&'a Path>,
    /// Asks for an early end.
    pub stop: &'a Stop,
}

/// Carries a request out, and gives the response. `take` reads what a validator has answered: it gives a response to this
/// request that may pass, or says why it is none.
///
/// # Errors
/// The request leads to where it may not, something that it needs could not be started, or it was stopped: then there is
/// no response.
pub fn validate(job: &Job<'_>, take: &mut dyn FnMut(&str) -> Result<Value, String>) -> Result<Value, String> {
    carry_out(job, take).map(|(response, _)| response)
}

/// The same by checks alone, for the gates of a promise: the response, and the evidence as it goes into the ledger.
///
/// # Errors
/// As of `validate`.
pub fn collect(job: &Job<'_>) -> Result<(Value, Vec<Value>), String> {
    let nobody = &mut |_: &str| Err("nobody was asked".to_owned());
    let (response, seen) = carry_out(&Job { program: None, ..*job }, nobody)?;
    // They were carried out one after the other.
    let criteria = job.request.acceptance_criteria.iter();
    let digests = criteria.flat_map(|criterion| job.checks.digests(criterion.id.as_str()));
    let known = |(found, digest): (&(usize, Evidence), String)| {
        let mut shown = shown(found);
        shown["check"] = json!(digest);
        shown
    };
    Ok((response, seen.found.iter().zip(digests).map(known).collect()))
}

fn carry_out(job: &Job<'_>, take: &mut dyn FnMut(&str) -> Result<Value, String>) -> Result<(Value, Seen), String> {
    let clock = Clock::start(job.request.timeout_seconds());
    let mut ground = Ground::find(job)?;
    let seen = look(job, &mut ground, &clock);
    let answer = job.program.map(|program| asking::ask(job, program, &mut ground, &clock)).transpose();
    let stands_on = ground.says.clone();
    ground.leave();
    let answer = answer?.map(|answer| answer.and_then(|text| take(&text)));
    if job.stop.is_asked() {
        return Err("the validation was stopped, and there is no response".to_owned());
    }
    Ok((settle::settle(job, &seen, answer, &stands_on, &clock), seen))
}

/// What was seen.
struct Seen {
    /// About the request as a whole.
    facts: Vec<Evidence>,
    /// About one criterion: its number, and the evidence.
    found: Vec<(usize, Evidence)>,
}

fn look(job: &Job<'_>, ground: &mut Ground, clock: &Clock) -> Seen {
    let mut facts = ground.faults.clone();
    facts.extend(facts::services(job, clock));
    let mut found = Vec::new();
    let Some(folder) = ground.folder.clone() else { return Seen { facts, found } };
    facts.extend(facts::files(job, ground, &folder));
    let declared = facts::files_claimed(job.request);
    let scope = [".".to_owned()];
    let changed = ground.changed.clone();
    let lying = ground.is_lying().then(|| Lying::of(job, &folder));
    let mut spoilt: Option<String> = None;
    let site = Site {
        allowed_hosts: job.allowed_hosts,
        declared: &declared,
        changed: changed.as_deref().unwrap_or_default(),
        scope: &scope,
        pictures: job.pictures,
        ..Site::at(&folder)
    };
    for (number, criterion) in job.request.acceptance_criteria.iter().enumerate() {
        for check in job.checks.of(criterion.id.as_str()) {
            if job.stop.is_asked() || clock.is_over() {
                return Seen { facts, found };
            }
            let check = clock.bounded(check);
            let evidence = match (&changed, &spoilt, ground.fresh()) {
                (None, _, _) if check.diff.is_some() => facts::undiffed(),
                (_, Some(why), _) => blocked(&check, why.clone()),
                (_, None, Err(why)) => blocked(&check, why),
                (_, None, Ok(checkout)) => {
                    let checkout = checkout.as_deref().unwrap_or(&folder);
                    evidence::collect(&check, &Site { checkout, patience: clock.patience(), ..site })
                }
            };
            let runs = check.program().is_some() && spoilt.is_none();
            if runs {
                ground.use_up();
                let path = lying.as_ref().and_then(|lying| lying.changed());
                spoilt = path.map(|path| has_changed(criterion.id.as_str(), path));
            }
            let evidence = match &spoilt {
                Some(why) if evidence.passed() => blocked(&check, why.clone()),
                _ => evidence,
            };
            found.push((number, evidence));
        }
    }
    Seen { facts, found }
}

/// Why nothing passes any more in a folder that is looked at as it lies.
fn has_changed(id: &str, path: &str) -> String {
    format!(
        "what a check of {id} ran has changed `{}`, and the folder is not what was claimed any more; name a commit, and each \
         check has a checkout of its own",
        show(path)
    )
}

fn blocked(check: &Check, why: String) -> Evidence {
    Evidence::new(check.kinds().first().copied().unwrap_or(EvidenceKind::Statement), Status::Blocked, why)
}
