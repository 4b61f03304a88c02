//! Tests that must have run, all of them, and passed.
//!
//! The counts are read from what the tests report; the exit code alone is no evidence that any test ran. A skipped test
//! is not passed, and no tests at all are a failure. Whatever a worker's tests print, every report in the output must
//! be content: a second, better summary does not hide the first.

use super::own_report::OwnReport;
use super::report::{self, Counts, Reading};
use super::{Evidence, Site, Status, command, junit_files, plain};
use countersign_contract::show;
use countersign_domain::plan::evidence::EvidenceKind;
use std::time::Duration;

/// How much of the output is kept. Counts are not read from an output with something left out.
const KEEPS: usize = 8 << 20;

/// Runs tests, and reads their counts.
pub(super) fn collect(arguments: &[String], site: &Site<'_>, patience: Duration) -> Evidence {
    let kind = EvidenceKind::Test;
    let reports = junit_files::Reports::before(site.checkout);
    let own = match OwnReport::of(arguments) {
        Ok(own) => own,
        Err(why) => return command::unstarted(kind, arguments, why),
    };
    let environment = own.as_ref().map(|own| own.asked(site.environment));
    let environment = environment.as_deref().unwrap_or(site.environment);
    let ended = match command::run(arguments, &Site { environment, ..*site }, patience, KEEPS) {
        Ok(ended) => ended,
        Err(why) => return command::unstarted(kind, arguments, why),
    };
    let raw = plain::text(&ended.output);
    let readings = if ended.was_cut { Vec::new() } else { readings(&raw, arguments, &reports) };
    let failure = command::failure(&command::name(arguments), &ended, patience);
    let (status, says) = match (judge(&readings, failure, ended.was_cut), own) {
        ((Status::Pass, says), Some(own)) => borne_out(says, own.read()),
        (judged, _) => judged,
    };
    let evidence = command::of(Evidence::new(kind, status, says), arguments, &ended, &plain::redacted(raw));
    Evidence { counts: report::decisive(&readings).cloned(), ..evidence }
}

/// What every reporter reads in the output; where none reads anything, what files say that the run has written.
fn readings(text: &str, arguments: &[String], reports: &junit_files::Reports<'_>) -> Vec<Reading> {
    let found = report::read(text, arguments);
    if found.is_empty() { reports.after().into_iter().collect() } else { found }
}

fn judge(readings: &[Reading], failure: Option<String>, was_cut: bool) -> (Status, String) {
    let fault = readings.iter().find_map(fault);
    let counts = report::decisive(readings);
    let says = match (failure, counts, fault) {
        (Some(failure), Some(Counts { passed: 0, failed: 0, skipped: 0, from, .. }), _) => {
            format!("{failure}: no test ran, says {from}")
        }
        (Some(failure), Some(counts), _) if counts.failed == 0 => {
            format!("{failure}, although {}; such a summary is not believed", sum(counts))
        }
        (Some(failure), Some(counts), _) => format!("{failure}: {}", sum(counts)),
        (Some(failure), None, Some(fault)) => format!("{failure}: {fault}"),
        (Some(failure), None, None) => failure,
        (None, _, Some(fault)) => fault,
        (None, None, None) if was_cut => format!(
            "the tests said more than {} MiB, so that their counts cannot be read; make them say less",
            KEEPS >> 20
        ),
        (None, None, None) => {
            format!("it ended with 0, and no counts of tests were read; known reports are {}", report::KNOWN)
        }
        (None, Some(counts), None) => return (Status::Pass, sum(counts)),
    };
    (Status::Fail, says)
}

/// Whether the report that we asked for says as well that tests ran and passed.
fn borne_out(says: String, own: Option<Reading>) -> (Status, String) {
    let against = match &own {
        None => Some("it wrote no report of its own, as when something ends it before its end".to_owned()),
        Some(reading) => fault(reading),
    };
    match against {
        None => (Status::Pass, says),
        Some(why) => (Status::Fail, format!("{says}, and that is not believed: {why}")),
    }
}

/// Why a reading is not good enough, if it is not.
fn fault(reading: &Reading) -> Option<String> {
    let counts = match reading {
        Reading::Contradicts { from, why } => {
            return Some(format!("the report of {from} is not believed: {why}; let one check run one set of tests"));
        }
        Reading::Counts(counts) => counts,
    };
    if counts.failed > 0 {
        return Some(format!("it ended with 0, although {}", sum(counts)));
    }
    if counts.skipped > 0 {
        let names: Vec<String> = counts.which.iter().take(5).map(|name| format!("`{}`", show(name))).collect();
        let which = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        let help = counts.help.map(|help| format!("; {help}")).unwrap_or_default();
        return Some(format!("{}{which}; a skipped test is not a passed one{help}", sum(counts)));
    }
    (counts.passed == 0).then(|| format!("no test ran, says {}", counts.from))
}

fn sum(counts: &Counts) -> String {
    let Counts { passed, failed, skipped, from, .. } = counts;
    format!("{from} counts {passed} passed, {failed} failed and {skipped} skipped")
}
