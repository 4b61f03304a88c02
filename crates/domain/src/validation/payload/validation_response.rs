//! The answer: what a validator saw, criterion by criterion.

use super::{CriterionId, Promise, Seconds, ValidationTaskId};
use crate::validation::verdict::{CriterionStatus, Verdict};
use crate::validation::{rules, tolerant};
use crate::work::authorship;
use crate::work::payload::{HandoffBundle, OrchestratorOutput, WorklogEntry};
use countersign_contract::fix::Rung;
use countersign_contract::{
    AnyTimestamp, Contract, Int, Kin, List, Name, Outside, Ratio, Rule, Text, Untrusted, choice, shape,
};
use serde_json::Value;

shape! {
    /// Answers a validation request: a status and evidence for every criterion, and the verdict that follows.
    pub struct ValidationResponse {
        /// The task of the request that this answers.
        pub task_id: ValidationTaskId,
        /// What the results come to. It follows from them.
        pub verdict: Verdict,
        /// One answer for each criterion of the request.
        pub criteria_results: List<CriterionResult, 1>,
        /// What was captured on the way.
        pub evidence_collected: Option<EvidenceCollected>,
        /// The assessment as a whole.
        pub reasoning: Option<String>,
        /// How sure the validator is.
        pub confidence: Option<Ratio>,
        /// How long it took.
        pub duration_seconds: Option<Seconds>,
        /// When it was finished.
        pub timestamp: AnyTimestamp,
        /// Who looked.
        pub validator_id: Option<Name>,
    }
}

shape! {
    /// The answer for one criterion.
    pub struct CriterionResult {
        /// The criterion, by its id in the request.
        pub criterion_id: CriterionId,
        /// What was found.
        pub status: CriterionStatus,
        /// What shows it: paths, output, what was seen. For SKIP and BLOCKED, why it could not be seen.
        pub evidence: Untrusted<Text> = "POST /checkout with an empty cart answered 400 in tests/checkout.rs:41",
        /// What has to be done for it to hold. May be empty unless the status is FAIL.
        pub remediation: Option<String>,
    }
}

shape! {
    /// What was captured while looking.
    pub struct EvidenceCollected {
        /// Pictures of the application.
        pub screenshots: Option<List<Screenshot>>,
        /// A run of the tests.
        pub test_results: Option<TestResults>,
        /// What the API answered.
        pub api_responses: Option<List<ApiResponse>>,
        /// Files that were looked at.
        pub file_checks: Option<List<FileCheck>>,
    }
}

shape! {
    /// A picture of the application.
    pub struct Screenshot {
        /// Where it lies.
        pub path: Text = "evidence/checkout.png",
        /// What is to be seen.
        pub description: Option<String>,
        /// At which step it was taken.
        pub step: Option<String>,
    }
}

shape! {
    /// A run of the tests.
    pub struct TestResults {
        /// What was run.
        pub command: Text = "cargo test",
        /// How it ended.
        pub exit_code: Int<-2147483648, 4294967295>,
        /// How many tests passed.
        pub passed: Option<Int>,
        /// How many failed.
        pub failed: Option<Int>,
        /// How many were not run.
        pub skipped: Option<Int>,
        /// The beginning of the output.
        pub output_snippet: Option<Untrusted<Text<0, 500>>>,
    }
}

choice! {
    /// A method of HTTP.
    pub enum HttpMethod {
        /// Read.
        Get = "GET",
        /// Read without the body.
        Head = "HEAD",
        /// Submit.
        Post = "POST",
        /// Put in place.
        Put = "PUT",
        /// Change in part.
        Patch = "PATCH",
        /// Remove.
        Delete = "DELETE",
        /// Ask what is possible.
        Options = "OPTIONS",
    }
}

shape! {
    /// What the API answered.
    pub struct ApiResponse {
        /// What was asked for.
        pub endpoint: Text = "/checkout",
        /// How.
        pub method: Option<HttpMethod>,
        /// The status that came back.
        pub status_code: Int<100, 599> = 400,
        /// A part of what came back.
        pub response_snippet: Option<Untrusted<String>>,
    }
}

shape! {
    /// A file that was looked at.
    pub struct FileCheck {
        /// Where it should lie.
        pub path: Text = "src/checkout.rs",
        /// Whether it is there.
        pub exists: bool,
        /// How large it is.
        pub size_bytes: Option<Int>,
        /// Whether it holds what was expected.
        pub contains_expected: Option<bool>,
        /// What was seen.
        pub note: Option<String>,
    }
}

impl ValidationResponse {
    /// The verdict that follows from the results.
    pub fn verdict_that_follows(&self) -> Verdict {
        Verdict::of(self.criteria_results.iter().map(|result| result.status))
    }

    /// The test run that was captured, if one was.
    pub fn test_results(&self) -> Option<&TestResults> {
        self.evidence_collected.as_ref()?.test_results.as_ref()
    }

    /// The files that were looked at.
    pub fn file_checks(&self) -> &[FileCheck] {
        let checks = self.evidence_collected.as_ref().and_then(|it| it.file_checks.as_deref());
        checks.unwrap_or_default()
    }

    /// The pictures that were taken.
    pub fn screenshots(&self) -> &[Screenshot] {
        let taken = self.evidence_collected.as_ref().and_then(|it| it.screenshots.as_deref());
        taken.unwrap_or_default()
    }
}

impl Contract for ValidationResponse {
    const NAME: &'static str = "validation_response";
    const VERSION: &'static str = "1.0.0";
    const DOMAIN: &'static str = "validation";
    const SUMMARY: &'static str = "Answers a validation request, criterion by criterion, with evidence and a verdict";
    const MARKS: &'static [&'static str] = &["criteria_results"];
    const HAS_PAST: bool = true;

    fn rules() -> &'static [&'static Rule<Self>] {
        rules::validation_response::RULES
    }

    fn names(&self) -> Vec<String> {
        vec![self.task_id.to_string()]
    }

    fn kin(&self) -> Vec<Kin> {
        let task = self.task_id.as_str();
        let work = [WorklogEntry::NAME, OrchestratorOutput::NAME, HandoffBundle::NAME];
        let work = work.map(|contract| Kin::among(contract, authorship::of_task(task)));
        let asked = Kin::required("validation_request", task);
        [asked, Kin::among(Promise::NAME, task)].into_iter().chain(work).collect()
    }

    /// The verdict follows from the results. Nothing else about an answer can be filled in by anyone but who gave it;
    /// when it was finished least of all, since a late answer counts for nothing.
    fn default_for(pointer: &str, document: &Value, _: &Outside) -> Option<Value> {
        (pointer == "/verdict").then(|| tolerant::verdict_of_results(document))?.map(|it| it.as_str().into())
    }

    fn rungs() -> &'static [Rung] {
        &[tolerant::RUNG]
    }
}
