//! A program that must end with 0.

use super::process::{self, Ended, Program};
use super::{Evidence, Site, Status, plain};
use countersign_contract::{Text, show};
use countersign_domain::plan::evidence::EvidenceKind;
use std::time::Duration;

/// How much of a program's output is kept.
const KEEPS: usize = 1 << 20;

/// Runs a program, and says how it ended.
pub(super) fn collect(arguments: &[String], site: &Site<'_>, patience: Duration) -> Evidence {
    let (kind, name) = (EvidenceKind::Command, name(arguments));
    let ended = match run(arguments, site, patience, KEEPS) {
        Ok(ended) => ended,
        Err(why) => return unstarted(kind, arguments, why),
    };
    let (status, says) = match failure(&name, &ended, patience) {
        None => (Status::Pass, format!("`{name}` ended with 0")),
        Some(failure) => (Status::Fail, failure),
    };
    let text = plain::redacted(plain::text(&ended.output));
    of(Evidence::new(kind, status, says), arguments, &ended, &text)
}

/// The arguments of a check as texts.
pub(super) fn arguments(arguments: &[Text]) -> Vec<String> {
    arguments.iter().map(|it| it.as_str().to_owned()).collect()
}

/// How a program is called in a sentence.
pub(super) fn name(arguments: &[String]) -> String {
    arguments.first().map(|first| show(first)).unwrap_or_default()
}

pub(super) fn run(arguments: &[String], site: &Site<'_>, patience: Duration, keeps: usize) -> Result<Ended, String> {
    let Site { checkout: folder, environment, stop, .. } = *site;
    process::run(&Program { arguments, folder, environment, patience, keeps, stop })
}

/// The evidence of a program that could not be started: nothing was found out.
pub(super) fn unstarted(kind: EvidenceKind, arguments: &[String], why: String) -> Evidence {
    let command = Some(told(arguments));
    Evidence { command, ..Evidence::new(kind, Status::Blocked, why) }
}

/// What is wrong with how a program ended, if anything is.
pub(super) fn failure(name: &str, ended: &Ended, patience: Duration) -> Option<String> {
    if ended.timed_out {
        return Some(format!("`{name}` did not end within {} s, and was ended", patience.as_secs()));
    }
    match (ended.exit_code, ended.signal) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("`{name}` ended with {code}")),
        (None, Some(signal)) => Some(format!("`{name}` was ended by signal {signal}")),
        (None, None) => Some(format!("`{name}` ended, and how is not known")),
    }
}

/// Evidence with what was seen of a program. The text has no secrets any more.
pub(super) fn of(evidence: Evidence, arguments: &[String], ended: &Ended, text: &str) -> Evidence {
    let (output, hash) = plain::shown(text);
    Evidence {
        command: Some(told(arguments)),
        exit_code: ended.exit_code,
        signal: ended.signal,
        timed_out: ended.timed_out,
        output: Some(output),
        output_sha256: Some(hash),
        output_bytes: ended.output_bytes,
        ..evidence
    }
}

/// The arguments without secrets.
fn told(arguments: &[String]) -> Vec<String> {
    arguments.iter().cloned().map(plain::redacted).collect()
}
