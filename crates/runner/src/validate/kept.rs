//! What was captured on the way, in the form of a response.

use crate::evidence::{Evidence, Status};
use countersign_domain::plan::evidence::EvidenceKind;
use countersign_domain::validation::payload::HttpMethod;
use serde_json::{Map, Value, json};

/// How much of an output goes into a response, in characters.
const SNIPPET_MAX: usize = 500;

/// What was captured, by kind. Kinds of which there is nothing are left out.
pub(super) fn kept<'e>(all: impl Iterator<Item = &'e Evidence> + Clone) -> Map<String, Value> {
    let mut kept = Map::new();
    let mut put = |name: &str, items: Vec<Value>| {
        if !items.is_empty() {
            kept.insert(name.to_owned(), items.into());
        }
    };
    put("screenshots", all.clone().filter_map(screenshot).collect());
    put("api_responses", all.clone().filter_map(answer).collect());
    put("file_checks", all.clone().filter_map(file).collect());
    if let Some(tests) = tests(all) {
        kept.insert("test_results".to_owned(), tests);
    }
    kept
}

fn screenshot(evidence: &Evidence) -> Option<Value> {
    let path = evidence.picture.as_ref()?.to_str()?;
    Some(json!({ "path": path, "description": evidence.says }))
}

fn answer(evidence: &Evidence) -> Option<Value> {
    let answer = evidence.answer.as_ref()?;
    let mut kept = json!({ "endpoint": answer.url, "status_code": answer.status_code? });
    if HttpMethod::parse(&answer.method).is_some() {
        kept["method"] = json!(answer.method);
    }
    if !answer.snippet.trim().is_empty() {
        kept["response_snippet"] = json!(snippet(&answer.snippet));
    }
    Some(kept)
}

fn file(evidence: &Evidence) -> Option<Value> {
    let file = evidence.file.as_ref()?;
    let mut kept = json!({ "path": file.path, "exists": file.exists, "note": evidence.says });
    if let Some(size) = file.size_bytes.filter(|_| file.exists) {
        kept["size_bytes"] = json!(size);
    }
    match evidence.status {
        Status::Pass if file.exists => kept["contains_expected"] = json!(true),
        Status::Fail => kept["contains_expected"] = json!(false),
        _ => {}
    }
    Some(kept)
}

/// One run of tests: the first that did not pass, or else the first. One that contradicts itself, with an exit code of 0
/// beside failed tests, is no run to report; its criterion says so.
fn tests<'e>(all: impl Iterator<Item = &'e Evidence> + Clone) -> Option<Value> {
    let runs = all.filter(|it| it.kind == EvidenceKind::Test && it.command.is_some() && ended(it).is_some());
    let honest = |it: &&Evidence| ended(it) != Some(0) || it.counts.as_ref().is_none_or(|counts| counts.failed == 0);
    let run = runs.clone().filter(honest).find(|it| !it.passed()).or_else(|| runs.clone().find(honest))?;
    let words = run.command.as_deref().unwrap_or_default();
    let mut kept = json!({ "command": words.join(" "), "exit_code": ended(run)? });
    if let Some(counts) = &run.counts {
        kept["passed"] = json!(counts.passed);
        kept["failed"] = json!(counts.failed);
        kept["skipped"] = json!(counts.skipped);
    }
    if let Some(output) = run.output.as_deref().filter(|output| !output.trim().is_empty()) {
        kept["output_snippet"] = json!(snippet(output));
    }
    Some(kept)
}

/// The exit code; of a run that a signal ended, what a shell would say.
fn ended(evidence: &Evidence) -> Option<i32> {
    evidence.exit_code.or_else(|| evidence.signal.map(|signal| 128 + signal))
}

/// How a text begins.
fn snippet(text: &str) -> String {
    let mut cut: String = text.chars().take(SNIPPET_MAX).collect();
    if cut.len() < text.len() {
        cut.pop();
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{AnswerSeen, Counts, FileSeen};

    fn test(exit_code: Option<i32>, signal: Option<i32>, passed: u64, failed: u64) -> Evidence {
        let status = if exit_code == Some(0) && failed == 0 { Status::Pass } else { Status::Fail };
        let counts = Counts { passed, failed, skipped: 0, from: "TAP", which: Vec::new(), help: None };
        let seen = Evidence::new(EvidenceKind::Test, status, "seen");
        Evidence { command: Some(vec!["t".to_owned()]), exit_code, signal, counts: Some(counts), ..seen }
    }

    #[test]
    fn the_worst_honest_run_of_tests_is_reported() {
        let cases = [
            (vec![test(Some(0), None, 2, 0)], Some((0, 2, 0))),
            (vec![test(Some(0), None, 2, 0), test(Some(1), None, 1, 1)], Some((1, 1, 1))),
            (vec![test(Some(0), None, 1, 1)], None),
            (vec![test(Some(0), None, 1, 1), test(Some(0), None, 3, 0)], Some((0, 3, 0))),
            (vec![test(None, Some(9), 0, 0)], Some((137, 0, 0))),
            (vec![test(None, None, 1, 0)], None),
        ];
        for (runs, expected) in cases {
            let kept = kept(runs.iter());
            let found = kept.get("test_results").map(|it| (&it["exit_code"], &it["passed"], &it["failed"]));
            let expected = expected.map(|(code, passed, failed)| (json!(code), json!(passed), json!(failed)));
            assert_eq!(found.map(|(a, b, c)| (a.clone(), b.clone(), c.clone())), expected, "{runs:?}");
        }
    }

    #[test]
    fn snippets_are_cut_and_what_is_missing_has_no_size() {
        let long = AnswerSeen {
            url: "http://localhost/".to_owned(),
            method: "BREW".to_owned(),
            status_code: Some(418),
            snippet: "é".repeat(SNIPPET_MAX + 1),
        };
        let gone = FileSeen { path: "a".to_owned(), exists: false, size_bytes: Some(3), sha256: None };
        let seen = [
            Evidence { answer: Some(long), ..Evidence::new(EvidenceKind::Http, Status::Fail, "no") },
            Evidence { file: Some(gone), ..Evidence::new(EvidenceKind::File, Status::Fail, "no") },
        ];
        let kept = kept(seen.iter());
        let answer = &kept["api_responses"][0];
        assert_eq!(answer["response_snippet"].as_str().map(|it| it.chars().count()), Some(SNIPPET_MAX));
        assert!(answer.get("method").is_none());
        assert!(kept["file_checks"][0].get("size_bytes").is_none());
        assert!(kept.get("screenshots").is_none() && kept.get("test_results").is_none());
    }
}
