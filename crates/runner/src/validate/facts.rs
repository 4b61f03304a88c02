//! What a request says of itself, and whether that is so.
//!
//! Files and commits are claims: one that is not there refutes the request. Services are what must be there to look: one
//! that is not keeps everybody from looking.

use super::Job;
use super::checks::shaped;
use super::clock::Clock;
use super::ground::Ground;
use crate::evidence::{self, Evidence, Site, Status};
use crate::git;
use countersign_contract::show;
use countersign_domain::plan::evidence::EvidenceKind;
use countersign_domain::plan::payload::Check;
use countersign_domain::validation::payload::{ValidationRequest, ValidationType};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// How long a service may take to answer.
const ANSWER: Duration = Duration::from_secs(20);
/// How long a page may take to be seen.
const PAGE: Duration = Duration::from_secs(60);

/// Looks for the services that the request names.
pub(super) fn services(job: &Job<'_>, clock: &Clock) -> Vec<Evidence> {
    let Some(services) = &job.request.services else { return Vec::new() };
    let mut seen = Vec::new();
    for port in services.required_ports.iter().flat_map(|ports| ports.iter()) {
        seen.push(service(job, clock, EvidenceKind::Port, json!({ "port": port.get() })));
    }
    if let Some(url) = &services.api_url {
        seen.push(service(job, clock, EvidenceKind::Http, json!({ "http": { "url": url.as_str() } })));
    }
    if let Some(url) = &services.app_url {
        seen.push(match job.request.validation_type {
            ValidationType::Code => service(job, clock, EvidenceKind::Http, json!({ "http": { "url": url.as_str() } })),
            ValidationType::Browser | ValidationType::Both => {
                service(job, clock, EvidenceKind::Page, json!({ "page": { "url": url.as_str() } }))
            }
        });
    }
    seen
}

/// One that is not there blocks. One that answers over HTTP is there, unless it says that it is broken: which answer is
/// the right one only a check can say.
fn service(job: &Job<'_>, clock: &Clock, kind: EvidenceKind, wanted: Value) -> Evidence {
    let check: Check = match shaped("the request", &wanted.to_string()) {
        Ok(check) => check,
        Err(why) => return Evidence::new(kind, Status::Blocked, why),
    };
    let longest = if kind == EvidenceKind::Page { PAGE } else { ANSWER };
    let site = Site {
        allowed_hosts: job.allowed_hosts,
        pictures: job.pictures,
        patience: longest.min(clock.patience()),
        ..Site::at(job.root)
    };
    let mut seen = evidence::collect(&check, &site);
    if let (EvidenceKind::Http, Some(answer)) = (kind, &seen.answer) {
        let (url, code) = (show(&answer.url), answer.status_code);
        match code {
            Some(code) if code < 500 => {
                (seen.status, seen.says) = (Status::Pass, format!("{url} answered {code}"));
            }
            Some(code) => seen.says = format!("{url} answered {code}"),
            None => seen.says = format!("{url}: {}", seen.says),
        }
    }
    if seen.status != Status::Pass {
        seen.status = Status::Blocked;
    }
    seen
}

/// The files that the request claims.
pub(super) fn files_claimed(request: &ValidationRequest) -> Vec<String> {
    let claimed = request.claimed_evidence.as_ref().and_then(|claimed| claimed.files_modified.as_ref());
    claimed.iter().flat_map(|files| files.iter()).map(|file| file.as_str().to_owned()).collect()
}

/// Looks for the files that the request claims. One that the claimed commit itself removes need not be there.
pub(super) fn files(job: &Job<'_>, ground: &Ground, folder: &Path) -> Vec<Evidence> {
    let look = |path: String| {
        let wanted = json!({ "file": { "path": path } }).to_string();
        let mut seen = match shaped::<Check>("the request", &wanted) {
            Ok(check) => evidence::collect(&check, &Site::at(folder)),
            Err(why) => return Evidence::new(EvidenceKind::File, Status::Blocked, why),
        };
        let is_gone = seen.file.as_ref().is_some_and(|file| !file.exists);
        match &ground.commit {
            Some(commit) if is_gone && removes(folder, commit, &path) => {
                (seen.status, seen.says) =
                    (Status::Pass, format!("`{}` is removed by the claimed commit", show(&path)));
            }
            _ if seen.status == Status::Fail => seen.says.push_str(", although the request claims a change of it"),
            _ if seen.status == Status::Pass => seen.says = format!("`{}` is there", show(&path)),
            _ => {}
        }
        seen
    };
    files_claimed(job.request).into_iter().map(look).collect()
}

/// Whether a commit removes a file that was there before it.
fn removes(folder: &Path, commit: &str, path: &str) -> bool {
    let before = format!("{commit}^");
    let ask = ["diff-tree", "-r", "--no-renames", "--diff-filter=D", "--name-only", &before, commit, "--", path];
    git::ask_one(folder, &ask).is_some()
}

/// What a check of differences finds where nothing is known to differ from.
pub(super) fn undiffed() -> Evidence {
    let says = "no commit with one before it is claimed, so that there is nothing to compare; name one in \
                `claimed_evidence.commit_hash`";
    Evidence::new(EvidenceKind::Diff, Status::Blocked, says)
}
