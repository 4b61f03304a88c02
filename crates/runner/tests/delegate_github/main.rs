//! Acting on a platform that answers as GitHub documents it: what is sent for each action, and what becomes of limits,
//! errors, refusals, and of connections that are cut.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod looking;
mod once;
mod platform;

use countersign_domain::delegation::action::ACTIONS;
use countersign_runner::delegate::{Executor, GithubExecutor};
use platform::{Does, Headers, MARK, Platform, SHA, attempt, instruction, issue, kind};
use serde_json::{Value, json};

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
    // What clears by itself may be tried again; what somebody must change may not.
    let cases: [(u16, &str, &str, &str, &str); 11] = [
        (401, "Bad credentials", "FAILURE", "AUTHORIZATION_FAILURE", "NO"),
        (403, "Resource not accessible by integration", "FAILURE", "AUTHORIZATION_FAILURE", "NO"),
        (403, "Cannot update this protected ref", "BLOCKED", "PLATFORM_CONSTRAINT", "NO"),
        (404, "Not Found", "FAILURE", "VALIDATION_FAILURE", "NO"),
        (405, "Pull Request is not mergeable", "BLOCKED", "PLATFORM_CONSTRAINT", "NO"),
        (409, "Merge conflict", "BLOCKED", "PLATFORM_CONSTRAINT", "NO"),
        (409, "Base branch was modified. Review and try the merge again.", "BLOCKED", "PLATFORM_CONSTRAINT", "YES"),
        (423, "The repository is locked", "BLOCKED", "PLATFORM_CONSTRAINT", "NO"),
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
    // A header that says what cannot be meant is not believed for longer than a day.
    for headers in
        [&[("retry-after", "9999999999")][..], &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "99999999999")]]
    {
        let platform = Platform::new(move |_, _| Does::Answers(429, headers, json!({ "message": "slow down" })));
        assert_eq!(platform.act(&issue(), false)["failure_details"]["RETRY_AFTER"], "86400", "{headers:?}");
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
        let acted = GithubExecutor::new(&platform.url, token).unwrap().act(&issue(), &attempt(false)).unwrap();
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
    assert!(platform.executor().act(&issue(), &attempt(true)).is_err());
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
