//! Acting on a platform that answers as GitHub documents it: what is sent for each action, and what becomes of limits,
//! errors, refusals, and of connections that are cut.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use countersign_contract::diagnostic::Source;
use countersign_contract::{Checker, Outside, Request, Settings, check};
use countersign_domain::delegation::action::ACTIONS;
use countersign_domain::delegation::command::Acted;
use countersign_domain::delegation::payload::DelegationInstruction;
use countersign_runner::delegate::{Executor, GithubExecutor};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SHA: &str = "1f0c3a5b7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80";
const MARK: &str = "<!-- countersign:DI-2025-12-25-001 -->";

/// One request as it came.
#[derive(Clone, Debug)]
struct Asked {
    method: String,
    path: String,
    body: Value,
    headers: String,
}

type Headers = &'static [(&'static str, &'static str)];

/// What the platform does with a request.
enum Does {
    Answers(u16, Headers, Value),
    /// It answers with a text that is no JSON, or with nothing.
    Mumbles(u16, &'static str),
    /// It reads the request and closes the connection.
    Cuts,
    /// It answers too late.
    Dawdles,
}

type Handler = dyn Fn(&Asked, usize) -> Does + Send + Sync;

struct Platform {
    url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    waited: Arc<Mutex<Vec<u64>>>,
}

impl Platform {
    /// A platform whose answers depend on the request and on how many came before it.
    fn new(handler: impl Fn(&Asked, usize) -> Does + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (seen, handler): (_, Arc<Handler>) = (Arc::clone(&asked), Arc::new(handler));
        // It ends with the test.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serve(stream, &seen, handler.as_ref());
            }
        });
        Self { url, asked, waited: Arc::default() }
    }

    fn executor(&self) -> GithubExecutor {
        let waited = Arc::clone(&self.waited);
        let wait = move |time: Duration| waited.lock().unwrap().push(time.as_secs());
        let patience = (Duration::from_millis(700), Duration::from_secs(100));
        GithubExecutor::waiting(&self.url, "token-of-a-test", patience, wait).unwrap()
    }

    fn act(&self, instruction: &DelegationInstruction, again: bool) -> Value {
        let acted = self.executor().act(instruction, again).unwrap();
        // It can be answered with.
        let text = acted.to_string();
        let read = check::read::<Acted>(&checker(), Source { name: "acted", text: &text });
        assert!(read.is_ok(), "{read:?}\n{acted:#}");
        acted
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The requests that change something.
    fn changes(&self) -> Vec<(String, String)> {
        let asked = self.asked().into_iter().filter(|it| it.method != "GET");
        asked.map(|it| (it.method, it.path)).collect()
    }

    fn waited(&self) -> Vec<u64> {
        self.waited.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, seen: &Mutex<Vec<Asked>>, handler: &Handler) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut first, mut headers) = (String::new(), String::new());
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        headers.push_str(&line.to_lowercase());
    }
    let length = headers.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
    let asked = Asked { method, path, body: serde_json::from_slice(&body).unwrap_or_default(), headers };
    let before = {
        let mut seen = seen.lock().unwrap();
        seen.push(asked.clone());
        seen.len() - 1
    };
    let mut stream = stream;
    let mut answer = |status: u16, headers: Headers, body: &str| {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head =
            format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n", body.len());
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    };
    match handler(&asked, before) {
        Does::Answers(204, headers, _) => answer(204, headers, ""),
        Does::Answers(status, headers, body) => answer(status, headers, &body.to_string()),
        Does::Mumbles(status, body) => answer(status, &[], body),
        Does::Cuts => {}
        Does::Dawdles => {
            // Held open past the patience of whoever asks, beside the next request.
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_secs(2));
                drop(stream);
            });
        }
    }
}

fn checker() -> Checker<'static> {
    static SETTINGS: std::sync::LazyLock<Settings> = std::sync::LazyLock::new(Settings::default);
    Checker { contracts: countersign_domain::contracts(), foreign: &[], settings: &SETTINGS, raised: &[] }
}

fn instruction(action: &str, parameters: Value) -> DelegationInstruction {
    let mut document = (countersign_domain::contract("delegation_instruction").unwrap().example)();
    document["ACTION"] = json!({ "TYPE": action, "PARAMETERS": parameters });
    let (text, outside) = (document.to_string(), Outside::default());
    let checked = check(&checker(), &Request::alone(Source { name: "i.json", text: &text }, &outside));
    let record = checked.records.first().and_then(|it| it.downcast_ref::<DelegationInstruction>()).cloned();
    record.unwrap_or_else(|| panic!("{action}: {:?}", checked.decision))
}

fn issue() -> DelegationInstruction {
    instruction("CREATE_GITHUB_ISSUE", json!({ "TITLE": "t", "BODY": "b" }))
}

/// A platform on which everything works.
fn kind(asked: &Asked) -> Does {
    let answers = |status, body| Does::Answers(status, &[], body);
    let thing = json!({
        "id": 7, "node_id": "N_7", "number": 42, "state": "closed", "merged": true,
        "html_url": "https://github.com/acme/shop/pull/42", "labels": [{ "name": "other" }],
        "assignees": [{ "login": "Ana" }], "requested_reviewers": [],
        "created_at": "2025-12-25T10:30:09Z", "updated_at": "2025-12-25T10:30:09Z",
        "head": { "ref": "fix/x", "repo": { "full_name": "Acme/Shop" } }, "sha": SHA,
    });
    match (asked.method.as_str(), asked.path.as_str()) {
        ("GET", path) if path.contains("/milestones") => answers(200, json!([{ "title": "June", "number": 3 }])),
        ("GET", path) if path.contains('?') => answers(200, json!([])),
        ("GET" | "PATCH" | "PUT", _) => answers(200, thing),
        ("DELETE", _) => answers(204, json!(null)),
        (_, path) if path.ends_with("/dispatches") => answers(204, json!(null)),
        (_, path) if path.ends_with("/cancel") => answers(202, json!({})),
        _ => answers(201, thing),
    }
}

#[test]
fn each_action_has_its_requests() {
    type Case = (&'static str, Value, &'static [(&'static str, &'static str)], Value);
    let r = "/repos/acme/shop";
    let cases: Vec<Case> = vec![
        (
            "CREATE_GITHUB_ISSUE",
            json!({ "TITLE": "t", "BODY": "b", "LABELS": ["x"], "MILESTONE": "June" }),
            &[("POST", "/issues")],
            json!({ "title": "t", "body": format!("b\n\n{MARK}"), "labels": ["x"], "milestone": 3 }),
        ),
        (
            "UPDATE_GITHUB_ISSUE",
            json!({ "ISSUE_NUMBER": 4, "TITLE": "u" }),
            &[("PATCH", "/issues/4")],
            json!({ "title": "u" }),
        ),
        (
            "CLOSE_GITHUB_ISSUE",
            json!({ "ISSUE_NUMBER": 4, "COMMENT": "done", "STATE_REASON": "completed" }),
            &[("POST", "/issues/4/comments"), ("PATCH", "/issues/4")],
            json!({ "state": "closed", "state_reason": "completed" }),
        ),
        (
            "ADD_ISSUE_LABELS",
            json!({ "ISSUE_NUMBER": 4, "LABELS": ["a"] }),
            &[("POST", "/issues/4/labels")],
            json!({ "labels": ["a"] }),
        ),
        (
            "REMOVE_ISSUE_LABELS",
            json!({ "ISSUE_NUMBER": 4, "LABELS": ["good first", ".."] }),
            &[("DELETE", "/issues/4/labels/good%20first"), ("DELETE", "/issues/4/labels/%2E%2E")],
            json!(null),
        ),
        (
            "ASSIGN_ISSUE",
            json!({ "ISSUE_NUMBER": 4, "ASSIGNEES": ["ana"] }),
            &[("POST", "/issues/4/assignees")],
            json!({ "assignees": ["ana"] }),
        ),
        (
            "COMMENT_ON_ISSUE",
            json!({ "ISSUE_NUMBER": 4, "COMMENT_BODY": "hm" }),
            &[("POST", "/issues/4/comments")],
            json!({ "body": format!("hm\n\n{MARK}") }),
        ),
        (
            "LINK_ISSUES",
            json!({ "SOURCE_ISSUE_NUMBER": 4, "TARGET_ISSUE_NUMBER": 5, "RELATIONSHIP": "blocks" }),
            &[("POST", "/issues/5/dependencies/blocked_by")],
            json!({ "issue_id": 7 }),
        ),
        (
            "CREATE_PULL_REQUEST",
            json!({
                "HEAD_BRANCH": "fix/x", "BASE_BRANCH": "main", "TITLE": "t", "BODY": "b", "DRAFT": true, "LABELS": ["a"],
                "ASSIGNEES": ["ana"], "REVIEWERS": ["ben"],
            }),
            &[
                ("POST", "/pulls"),
                ("POST", "/issues/42/labels"),
                ("POST", "/issues/42/assignees"),
                ("POST", "/pulls/42/requested_reviewers"),
            ],
            json!({ "reviewers": ["ben"] }),
        ),
        (
            "UPDATE_PULL_REQUEST",
            json!({ "PR_NUMBER": 42, "STATE": "closed" }),
            &[("PATCH", "/pulls/42")],
            json!({ "state": "closed" }),
        ),
        ("CLOSE_PULL_REQUEST", json!({ "PR_NUMBER": 42 }), &[("PATCH", "/pulls/42")], json!({ "state": "closed" })),
        (
            "MERGE_PULL_REQUEST",
            json!({ "PR_NUMBER": 42, "MERGE_METHOD": "squash", "DELETE_BRANCH": true }),
            &[("PUT", "/pulls/42/merge"), ("DELETE", "/git/refs/heads/fix/x")],
            json!(null),
        ),
        (
            "REQUEST_PR_REVIEW",
            json!({ "PR_NUMBER": 42, "REVIEWERS": ["ben"] }),
            &[("POST", "/pulls/42/requested_reviewers")],
            json!({ "reviewers": ["ben"] }),
        ),
        (
            "ADD_PR_LABELS",
            json!({ "PR_NUMBER": 42, "LABELS": ["a"] }),
            &[("POST", "/issues/42/labels")],
            json!({ "labels": ["a"] }),
        ),
        (
            "REMOVE_PR_LABELS",
            json!({ "PR_NUMBER": 42, "LABELS": ["a"] }),
            &[("DELETE", "/issues/42/labels/a")],
            json!(null),
        ),
        (
            "COMMENT_ON_PR",
            json!({ "PR_NUMBER": 42, "COMMENT_BODY": "hm" }),
            &[("POST", "/issues/42/comments")],
            json!({ "body": format!("hm\n\n{MARK}") }),
        ),
        (
            "APPROVE_PR",
            json!({ "PR_NUMBER": 42 }),
            &[("POST", "/pulls/42/reviews")],
            json!({ "event": "APPROVE", "body": MARK }),
        ),
        (
            "REQUEST_PR_CHANGES",
            json!({ "PR_NUMBER": 42, "REVIEW_BODY": "no" }),
            &[("POST", "/pulls/42/reviews")],
            json!({ "event": "REQUEST_CHANGES", "body": format!("no\n\n{MARK}") }),
        ),
        (
            "CREATE_BRANCH",
            json!({ "BRANCH_NAME": "fix/y", "SOURCE_SHA": SHA }),
            &[("POST", "/git/refs")],
            json!({ "ref": "refs/heads/fix/y", "sha": SHA }),
        ),
        ("DELETE_BRANCH", json!({ "BRANCH_NAME": "fix/y" }), &[("DELETE", "/git/refs/heads/fix/y")], json!(null)),
        (
            "CREATE_TAG",
            json!({ "TAG_NAME": "v1", "TARGET_SHA": SHA, "TAG_TYPE": "annotated", "MESSAGE": "first" }),
            &[("POST", "/git/tags"), ("POST", "/git/refs")],
            json!({ "ref": "refs/tags/v1", "sha": SHA }),
        ),
        ("DELETE_TAG", json!({ "TAG_NAME": "v1" }), &[("DELETE", "/git/refs/tags/v1")], json!(null)),
        (
            "UPDATE_BRANCH_PROTECTION",
            json!({ "BRANCH_NAME": "rel/1", "PROTECTION_RULES": {
                "REQUIRED_STATUS_CHECKS": { "STRICT": true, "CONTEXTS": ["ci"] }, "ENFORCE_ADMINS": true,
                "REQUIRED_PULL_REQUEST_REVIEWS": { "REQUIRED_APPROVING_REVIEW_COUNT": 2 }, "RESTRICTIONS": {},
            } }),
            &[("PUT", "/branches/rel%2F1/protection")],
            json!({
                "required_status_checks": { "strict": true, "contexts": ["ci"] }, "enforce_admins": true,
                "required_pull_request_reviews": { "required_approving_review_count": 2 }, "restrictions": null,
            }),
        ),
        (
            "TRIGGER_WORKFLOW",
            json!({ "WORKFLOW_ID": "deploy.yml", "REF": "main", "INPUTS": { "env": "test" } }),
            &[("POST", "/actions/workflows/deploy.yml/dispatches")],
            json!({ "ref": "main", "inputs": { "env": "test" } }),
        ),
        ("CANCEL_WORKFLOW", json!({ "RUN_ID": 9 }), &[("POST", "/actions/runs/9/cancel")], json!(null)),
        ("RERUN_WORKFLOW", json!({ "RUN_ID": 9 }), &[("POST", "/actions/runs/9/rerun")], json!(null)),
    ];
    let named: Vec<&str> = cases.iter().map(|it| it.0).collect();
    assert_eq!(named, ACTIONS.iter().map(|it| it.action.as_str()).collect::<Vec<_>>());
    for (action, parameters, wanted, body) in cases {
        let platform = Platform::new(|asked, _| kind(asked));
        let acted = platform.act(&instruction(action, parameters), false);
        assert_eq!(acted["status"], "SUCCESS", "{acted:#}");
        let wanted: Vec<(String, String)> =
            wanted.iter().map(|(method, path)| ((*method).to_owned(), format!("{r}{path}"))).collect();
        assert_eq!(platform.changes(), wanted, "{action}");
        let asked = platform.asked();
        let last = asked.iter().rfind(|it| it.method != "GET").unwrap();
        if !body.is_null() {
            assert_eq!(last.body, body, "{action}");
        }
        assert!(last.headers.contains("authorization: bearer token-of-a-test"), "{last:?}");
        assert!(!acted.to_string().contains("token-of-a-test"));
    }
}

#[test]
fn refusals_become_the_status_that_follows_from_them() {
    let cases: [(u16, &str, &str, &str, &str); 9] = [
        (401, "Bad credentials", "FAILURE", "AUTHORIZATION_FAILURE", "NO"),
        (403, "Resource not accessible by integration", "FAILURE", "AUTHORIZATION_FAILURE", "NO"),
        (403, "Cannot update this protected ref", "BLOCKED", "PLATFORM_CONSTRAINT", "YES"),
        (404, "Not Found", "FAILURE", "VALIDATION_FAILURE", "NO"),
        (405, "Pull Request is not mergeable", "BLOCKED", "PLATFORM_CONSTRAINT", "YES"),
        (409, "Head branch was modified", "BLOCKED", "PLATFORM_CONSTRAINT", "YES"),
        (410, "Issues are disabled for this repo", "FAILURE", "VALIDATION_FAILURE", "NO"),
        (422, "Validation Failed", "FAILURE", "VALIDATION_FAILURE", "NO"),
        (422, "Required status check \"ci\" is expected", "BLOCKED", "PLATFORM_CONSTRAINT", "YES"),
    ];
    for (status, message, wanted, kind, retry) in cases {
        let platform = Platform::new(move |_, _| Does::Answers(status, &[], json!({ "message": message })));
        let acted = platform.act(&issue(), false);
        let failure = &acted["failure_details"];
        assert_eq!(acted["status"], wanted, "{status} {message}");
        assert_eq!(
            (&failure["ERROR_TYPE"], &failure["RETRY_ALLOWED"]),
            (&json!(kind), &json!(retry)),
            "{status} {message}"
        );
        assert_eq!(platform.changes().len(), 1, "{status} {message}");
        assert_eq!(acted["platform_response"]["STATUS_CODE"], status);
    }
}

#[test]
fn limits_are_waited_for_as_the_headers_say() {
    let limited: [(u16, Headers, &str, u64); 4] = [
        (429, &[("retry-after", "7")], "slow down", 7),
        (403, &[("retry-after", "9")], "You have exceeded a secondary rate limit", 9),
        (403, &[], "You have exceeded a secondary rate limit", 60),
        (403, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1")], "API rate limit exceeded", 1),
    ];
    for (status, headers, message, wait) in limited {
        let platform = Platform::new(move |asked, before| match before {
            0 => Does::Answers(status, headers, json!({ "message": message })),
            _ => kind(asked),
        });
        let acted = platform.act(&issue(), false);
        assert_eq!(acted["status"], "SUCCESS", "{status} {message}");
        assert_eq!((platform.waited(), platform.changes().len()), (vec![wait], 2), "{status} {message}");
    }
    // Longer than the patience: the requester is told when to come back.
    let platform =
        Platform::new(|_, _| Does::Answers(429, &[("retry-after", "3600")], json!({ "message": "slow down" })));
    let acted = platform.act(&issue(), false);
    assert_eq!((&acted["status"], &acted["failure_details"]["RETRY_AFTER"]), (&json!("FAILURE"), &json!("3600")));
    assert_eq!((platform.waited(), platform.changes().len()), (vec![], 1));
}

#[test]
fn errors_of_the_platform_are_looked_into_before_it_is_sent_again() {
    // It did it, and answered with an error all the same.
    let platform = Platform::new(|asked, _| match asked.method.as_str() {
        "GET" => Does::Answers(
            200,
            &[],
            json!([{ "number": 42, "node_id": "I_1", "state": "open", "body": format!("b\n\n{MARK}") }]),
        ),
        _ => Does::Answers(502, &[], json!({})),
    });
    let acted = platform.act(&issue(), false);
    assert_eq!((&acted["status"], platform.changes().len()), (&json!("SUCCESS"), 1), "{acted:#}");
    assert_eq!(acted["platform_evidence"]["RESOURCE_NUMBER"], 42);
    // What may be done twice is sent again, as often as it takes.
    let platform = Platform::new(|asked, before| match (asked.method.as_str(), before) {
        ("PATCH", 0 | 2) => Does::Answers(503, &[], json!({})),
        ("GET", _) => Does::Answers(200, &[], json!({ "title": "t" })),
        _ => kind(asked),
    });
    let acted = platform.act(&retitle(), false);
    assert_eq!((&acted["status"], platform.changes().len()), (&json!("SUCCESS"), 3), "{acted:#}");
    assert_eq!(platform.waited(), [1, 2]);
    // It never does.
    let platform = Platform::new(|asked, _| match asked.method.as_str() {
        "PATCH" => Does::Answers(500, &[], json!({ "message": "oops" })),
        _ => kind(asked),
    });
    let acted = platform.act(&retitle(), false);
    assert_eq!((&acted["status"], &acted["failure_details"]["ERROR_TYPE"]), (&json!("FAILURE"), &json!("API_ERROR")));
    assert_eq!(platform.changes().len(), 5);
    // It is refused the second time, because the first did it after all.
    let platform = Platform::new(|asked, before| match (asked.method.as_str(), before) {
        ("PUT", 0) => Does::Answers(502, &[], json!({})),
        ("PUT", _) => Does::Answers(405, &[], json!({ "message": "Pull Request is not mergeable" })),
        _ => Does::Answers(200, &[], json!({ "number": 42, "node_id": "P", "merged": before > 2 })),
    });
    let merge = json!({ "PR_NUMBER": 42, "MERGE_METHOD": "merge" });
    let acted = platform.act(&instruction("MERGE_PULL_REQUEST", merge), false);
    assert_eq!((&acted["status"], platform.changes().len()), (&json!("SUCCESS"), 2), "{acted:#}");
}

fn retitle() -> DelegationInstruction {
    instruction("UPDATE_GITHUB_ISSUE", json!({ "ISSUE_NUMBER": 4, "TITLE": "u" }))
}

/// What makes something each time, or starts it.
fn once() -> Vec<DelegationInstruction> {
    let shop = [
        ("CREATE_GITHUB_ISSUE", json!({ "TITLE": "t", "BODY": "b" })),
        ("CLOSE_GITHUB_ISSUE", json!({ "ISSUE_NUMBER": 4, "COMMENT": "done" })),
        ("COMMENT_ON_ISSUE", json!({ "ISSUE_NUMBER": 4, "COMMENT_BODY": "hm" })),
        ("LINK_ISSUES", json!({ "SOURCE_ISSUE_NUMBER": 4, "TARGET_ISSUE_NUMBER": 5, "RELATIONSHIP": "relates_to" })),
        ("CREATE_PULL_REQUEST", json!({ "HEAD_BRANCH": "x", "BASE_BRANCH": "main", "TITLE": "t", "BODY": "b" })),
        ("COMMENT_ON_PR", json!({ "PR_NUMBER": 4, "COMMENT_BODY": "hm" })),
        ("APPROVE_PR", json!({ "PR_NUMBER": 4 })),
        ("REQUEST_PR_CHANGES", json!({ "PR_NUMBER": 4, "REVIEW_BODY": "no" })),
        ("TRIGGER_WORKFLOW", json!({ "WORKFLOW_ID": "deploy.yml", "REF": "main" })),
        ("RERUN_WORKFLOW", json!({ "RUN_ID": 9 })),
    ];
    shop.into_iter().map(|(action, parameters)| instruction(action, parameters)).collect()
}

#[test]
fn what_may_have_been_done_is_never_sent_a_second_time() {
    type End = (&'static str, fn() -> Does, Option<u16>);
    let ends: [End; 5] = [
        ("an error", || Does::Answers(502, &[], json!({})), Some(502)),
        ("a cut", || Does::Cuts, None),
        ("a page", || Does::Mumbles(200, "<html>welcome to the hotel</html>"), Some(200)),
        ("half an answer", || Does::Mumbles(201, "{\"number\": 4"), Some(201)),
        ("an answer in another tongue", || Does::Mumbles(201, "\u{0}\u{1}"), Some(201)),
    ];
    let absent = |asked: &Asked| match asked.path.contains('?') {
        true if asked.path.contains("/runs?") => Does::Answers(200, &[], json!({ "total_count": 0 })),
        true => Does::Answers(200, &[], json!([])),
        false => Does::Answers(200, &[], json!({ "number": 4, "id": 7, "state": "open" })),
    };
    for instruction in once() {
        let action = instruction.action.kind().as_str();
        for (name, end, status) in ends {
            let platform = Platform::new(move |asked, _| if asked.method == "GET" { absent(asked) } else { end() });
            let acted = platform.act(&instruction, false);
            assert_eq!((&acted["status"], platform.changes().len()), (&json!("FAILURE"), 1), "{action}, {name}");
            unknown(&acted);
            assert_eq!(acted["platform_response"]["STATUS_CODE"].as_u64(), status.map(u64::from), "{action}, {name}");
            // Whoever comes after looks, and does not send it either.
            let acted = platform.act(&instruction, true);
            assert_eq!((&acted["status"], platform.changes().len()), (&json!("FAILURE"), 1), "{action}, {name}");
            unknown(&acted);
        }
        // Nobody could tell what became of it: then nothing is said, and nothing is sent later.
        let platform = Platform::new(move |asked, before| match (asked.method.as_str(), before) {
            ("GET", 0..=6) => Does::Answers(500, &[], json!({})),
            ("GET", _) => absent(asked),
            _ => Does::Cuts,
        });
        assert!(platform.executor().act(&instruction, false).is_err(), "{action}");
        platform.executor().act(&instruction, true).ok();
        unknown(&platform.act(&instruction, true));
        assert_eq!(platform.changes().len(), 1, "{action}");
    }
}

/// A person is told to look.
fn unknown(acted: &Value) {
    let failure = &acted["failure_details"];
    assert_eq!(failure["RETRY_ALLOWED"], "NO", "{acted:#}");
    let says = |field: &str, what: &str| failure[field].as_str().unwrap().contains(what);
    assert!(says("ERROR_MESSAGE", "whether it was done is not known"), "{acted:#}");
    assert!(says("REMEDIATION_GUIDANCE", "a person must look"), "{acted:#}");
    assert!(acted["resulting_state"].as_str().unwrap().contains("not known"), "{acted:#}");
}

#[test]
fn a_success_without_a_number_is_looked_for() {
    for body in ["", "{}", "[]", "null", "{\"number\": \"4\"}"] {
        let platform = Platform::new(move |asked, _| match asked.method.as_str() {
            "GET" => Does::Answers(200, &[], json!([{ "number": 42, "state": "open", "body": MARK }])),
            _ => Does::Mumbles(201, body),
        });
        let acted = platform.act(&issue(), false);
        assert_eq!(acted["platform_evidence"]["RESOURCE_NUMBER"], 42, "{body}: {acted:#}");
        assert_eq!((platform.changes().len(), &acted["platform_request"]["METHOD"]), (1, &json!("GET")), "{body}");
    }
}

#[test]
fn what_was_done_before_a_step_failed_is_named() {
    let opened = json!({
        "HEAD_BRANCH": "fix/x", "BASE_BRANCH": "main", "TITLE": "t", "BODY": "b", "LABELS": ["a"],
    });
    let closed = json!({ "ISSUE_NUMBER": 4, "COMMENT": "done" });
    let merged = json!({ "PR_NUMBER": 42, "MERGE_METHOD": "merge", "DELETE_BRANCH": true });
    let unlabelled = json!({ "ISSUE_NUMBER": 4, "LABELS": ["a", "b"] });
    // The action, the request that fails, with what, the status that follows, and what is named as done.
    let cases = [
        (
            "CREATE_PULL_REQUEST",
            &opened,
            ("POST", "/labels"),
            (403, "no"),
            "FAILURE",
            "/pulls was answered 201 (number 42, https://github.com/acme/shop/pull/42)",
        ),
        ("CREATE_PULL_REQUEST", &opened, ("POST", "/labels"), (503, "no"), "FAILURE", "number 42"),
        (
            "CLOSE_GITHUB_ISSUE",
            &closed,
            ("PATCH", "/issues/4"),
            (403, "no"),
            "FAILURE",
            "/issues/4/comments was answered 201",
        ),
        (
            "MERGE_PULL_REQUEST",
            &merged,
            ("DELETE", "/heads/fix/x"),
            (422, "Cannot delete protected branch"),
            "BLOCKED",
            "/pulls/42/merge was answered 200",
        ),
        (
            "REMOVE_ISSUE_LABELS",
            &unlabelled,
            ("DELETE", "/labels/b"),
            (403, "no"),
            "FAILURE",
            "/labels/a was answered 204",
        ),
    ];
    for (action, parameters, (method, end), (status, message), wanted, done) in cases {
        let platform = Platform::new(move |asked, _| match asked.method == method && asked.path.ends_with(end) {
            true => Does::Answers(status, &[], json!({ "message": message })),
            false => kind(asked),
        });
        let acted = platform.act(&instruction(action, parameters.clone()), false);
        assert_eq!(acted["status"], wanted, "{acted:#}");
        for place in ["/failure_details/ERROR_MESSAGE", "/platform_response/ERROR_MESSAGE", "/completion_notes"] {
            assert!(acted.pointer(place).unwrap().as_str().unwrap().contains(done), "{action} {place}: {acted:#}");
        }
        assert_eq!(acted["failure_details"]["RETRY_ALLOWED"], "NO", "{action}");
        assert!(acted["resulting_state"].as_str().unwrap().contains("a part"), "{action}");
        // What is on record is the request that failed, with its own status.
        assert_eq!(acted["platform_request"]["METHOD"], method, "{action}");
        assert!(acted["platform_request"]["ENDPOINT"].as_str().unwrap().ends_with(end), "{action}: {acted:#}");
        assert_eq!(acted["platform_response"]["STATUS_CODE"], status, "{action}");
    }
}

#[test]
fn what_is_on_record_was_asked_and_answered_so() {
    // It was not on it: the refusal is told of, and what shows the state is what was read.
    let platform = Platform::new(|asked, _| match asked.method.as_str() {
        "DELETE" => Does::Answers(404, &[], json!({ "message": "Label does not exist" })),
        _ => kind(asked),
    });
    let labels = json!({ "ISSUE_NUMBER": 4, "LABELS": ["a"] });
    let acted = platform.act(&instruction("REMOVE_ISSUE_LABELS", labels), false);
    assert_eq!(
        (&acted["status"], &acted["platform_request"]["METHOD"]),
        (&json!("SUCCESS"), &json!("GET")),
        "{acted:#}"
    );
    assert!(acted["completion_notes"].as_str().unwrap().contains("/labels/a was answered 404"), "{acted:#}");
    // The status is that of the main request, not of the last.
    let platform = Platform::new(|asked, _| match asked.path.ends_with("/labels") {
        true => Does::Answers(200, &[], json!([])),
        false => kind(asked),
    });
    let opened = json!({ "HEAD_BRANCH": "x", "BASE_BRANCH": "main", "TITLE": "t", "BODY": "b", "LABELS": ["a"] });
    let acted = platform.act(&instruction("CREATE_PULL_REQUEST", opened), false);
    assert_eq!(
        (&acted["platform_request"]["METHOD"], &acted["platform_response"]["STATUS_CODE"]),
        (&json!("POST"), &json!(201))
    );
    // A head that is gone was deleted by the platform itself.
    let platform = Platform::new(|asked, _| match asked.method.as_str() {
        "DELETE" => Does::Answers(422, &[], json!({ "message": "Reference does not exist" })),
        _ => kind(asked),
    });
    let merged = json!({ "PR_NUMBER": 42, "MERGE_METHOD": "merge", "DELETE_BRANCH": true });
    let acted = platform.act(&instruction("MERGE_PULL_REQUEST", merged), false);
    assert_eq!((&acted["status"], &acted["platform_response"]["STATUS_CODE"]), (&json!("SUCCESS"), &json!(200)));
    assert!(acted["completion_notes"].as_str().unwrap().contains("was answered 422: it was so already"), "{acted:#}");
}

#[test]
fn what_was_started_and_cannot_be_seen_is_not_started_again() {
    for (action, parameters) in [
        ("TRIGGER_WORKFLOW", json!({ "WORKFLOW_ID": "deploy.yml", "REF": "main" })),
        ("RERUN_WORKFLOW", json!({ "RUN_ID": 9 })),
    ] {
        for status in [404, 500] {
            let platform = Platform::new(move |asked, _| match asked.method.as_str() {
                "GET" => Does::Answers(status, &[], json!({ "message": "gone" })),
                _ => kind(asked),
            });
            let acted = platform.act(&instruction(action, parameters.clone()), false);
            assert_eq!((&acted["status"], platform.changes().len()), (&json!("SUCCESS"), 1), "{acted:#}");
            assert_eq!(acted["platform_request"]["METHOD"], "POST", "{acted:#}");
            assert!(acted["completion_notes"].as_str().unwrap().contains("could not be read"), "{acted:#}");
        }
    }
}

#[test]
fn errors_without_a_message_say_which_field() {
    let errors = json!([
        { "resource": "Issue", "field": "title", "code": "missing_field" }, { "resource": "Label", "code": "invalid" },
        { "message": "No commits between main and x" }, "plain", { "documentation_url": "x" },
    ]);
    let platform = Platform::new(move |_, _| {
        Does::Answers(422, &[], json!({ "message": "Validation Failed", "errors": errors.clone() }))
    });
    let acted = platform.act(&issue(), false);
    let wanted = "Validation Failed; title missing_field; Label invalid; No commits between main and x; plain";
    assert_eq!(acted["failure_details"]["ERROR_MESSAGE"], wanted);
}

#[test]
fn a_token_that_the_platform_repeats_is_not_passed_on() {
    let token = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567";
    for status in [201, 401, 403, 404, 422, 500] {
        let platform = Platform::new(move |asked, _| match asked.method.as_str() {
            "GET" => Does::Answers(200, &[], json!([])),
            _ => Does::Answers(
                status,
                &[],
                json!({
                    "message": format!("{token} is no good"), "errors": [{ "field": token, "code": token }], "number": 4,
                    "node_id": token, "html_url": format!("https://github.com/{token}"), "state": token,
                }),
            ),
        });
        let acted = GithubExecutor::new(&platform.url, token).unwrap().act(&issue(), false).unwrap();
        assert!(!acted.to_string().contains(token), "{status}: {acted:#}");
    }
}

#[test]
fn what_was_cut_is_looked_for_and_never_sent_again() {
    for dawdles in [false, true] {
        for done in [true, false] {
            let platform = Platform::new(move |asked, _| match asked.method.as_str() {
                "POST" if dawdles => Does::Dawdles,
                "POST" => Does::Cuts,
                _ if done => Does::Answers(200, &[], json!([{ "number": 42, "state": "open", "body": MARK }])),
                _ => Does::Answers(200, &[], json!([])),
            });
            let acted = platform.act(&issue(), false);
            assert_eq!(acted["status"], if done { "SUCCESS" } else { "FAILURE" }, "{acted:#}");
            assert_eq!(platform.changes().len(), 1);
            if !done {
                assert_eq!(acted["failure_details"]["RETRY_ALLOWED"], "NO");
                assert!(acted.get("platform_response").is_none());
            }
        }
    }
}

#[test]
fn an_attempt_whose_end_is_not_known_is_looked_for_first() {
    let marked = json!([{ "number": 42, "state": "open", "body": MARK, "node_id": "X", "html_url": "https://github.com/acme/shop/issues/42" }]);
    let platform = Platform::new(move |_, _| Does::Answers(200, &[], marked.clone()));
    let acted = platform.act(&issue(), true);
    assert_eq!((&acted["status"], platform.changes().len()), (&json!("SUCCESS"), 0), "{acted:#}");
    let branch = || instruction("DELETE_BRANCH", json!({ "BRANCH_NAME": "fix" }));
    let platform = Platform::new(|asked, _| match asked.path.ends_with("/git/ref/heads/fix") {
        true => Does::Answers(404, &[], json!({ "message": "Not Found" })),
        false => kind(asked),
    });
    let acted = platform.act(&branch(), true);
    assert_eq!((&acted["status"], platform.changes().len()), (&json!("SUCCESS"), 0), "{acted:#}");
    // Whoever may not see the repository cannot tell that it is gone.
    let platform = Platform::new(|_, _| Does::Answers(404, &[], json!({ "message": "Not Found" })));
    assert_eq!(platform.act(&branch(), true)["status"], "FAILURE");
    // Where nobody can tell, nothing is said and nothing is sent.
    let platform = Platform::new(|_, _| Does::Answers(500, &[], json!({})));
    assert!(platform.executor().act(&issue(), true).is_err());
    assert!(platform.changes().is_empty());
}

#[test]
fn who_is_passed_over_in_silence_is_noticed() {
    let platform = Platform::new(|asked, _| kind(asked));
    let acted =
        platform.act(&instruction("ASSIGN_ISSUE", json!({ "ISSUE_NUMBER": 4, "ASSIGNEES": ["nobody"] })), false);
    assert_eq!(acted["failure_details"]["ERROR_TYPE"], "VALIDATION_FAILURE", "{acted:#}");
}

#[test]
fn a_branch_of_another_copy_is_not_deleted_after_a_merge() {
    let platform = Platform::new(|asked, _| match asked.method.as_str() {
        "GET" => Does::Answers(
            200,
            &[],
            json!({
                "number": 42, "merged": true, "node_id": "P", "head": { "ref": "main", "repo": { "full_name": "eve/shop" } },
            }),
        ),
        _ => kind(asked),
    });
    let merge = json!({ "PR_NUMBER": 42, "MERGE_METHOD": "merge", "DELETE_BRANCH": true });
    let acted = platform.act(&instruction("MERGE_PULL_REQUEST", merge), false);
    assert_eq!(acted["platform_evidence"]["RESOURCE_STATE"], "merged", "{acted:#}");
    assert_eq!(platform.changes(), [("PUT".to_owned(), "/repos/acme/shop/pulls/42/merge".to_owned())]);
}

#[test]
fn a_token_goes_over_tls_or_to_this_machine() {
    let cases = [
        ("https://api.github.com", true),
        ("http://127.0.0.1:1", true),
        ("http://localhost/api/v3", true),
        ("http://github.example.com", false),
        ("http://localhost.example.com", false),
        ("https://me:word@github.example.com", false),
        ("ftp://localhost", false),
        ("github.com", false),
    ];
    for (url, good) in cases {
        let made = GithubExecutor::new(url, "t");
        // A machine without authorities cannot speak TLS, which is another matter.
        let untrusting = made.as_ref().err().is_some_and(|why| why.contains("certificate authority"));
        assert!(made.is_ok() == good || untrusting, "{url}");
    }
    assert!(GithubExecutor::new("http://localhost", "a\nb").is_err());
}
