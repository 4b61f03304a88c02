//! What may have been done is looked for, and never done a second time.

use crate::platform::{Asked, Does, MARK, Platform, SHA, attempt, instruction, instruction_with, issue, kind};
use countersign_domain::delegation::payload::DelegationInstruction;
use countersign_runner::delegate::{Attempt, Executor, GithubExecutor};
use serde_json::{Value, json};

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
        assert!(platform.executor().act(&instruction, &attempt(false)).is_err(), "{action}");
        platform.executor().act(&instruction, &attempt(true)).ok();
        unknown(&platform.act(&instruction, true));
        assert_eq!(platform.changes().len(), 1, "{action}");
    }
}

#[test]
fn what_may_be_done_twice_is_said_to_be_tried_again_and_nobody_is_told_to_look() {
    let shop = [
        ("ADD_ISSUE_LABELS", json!({ "ISSUE_NUMBER": 4, "LABELS": ["bug"] })),
        ("UPDATE_GITHUB_ISSUE", json!({ "ISSUE_NUMBER": 4, "TITLE": "another" })),
    ];
    for (action, parameters) in shop {
        let platform = Platform::new(move |asked, _| match asked.method.as_str() {
            "GET" => Does::Answers(200, &[], json!({ "number": 4, "id": 7, "state": "open", "title": "t" })),
            _ => Does::Cuts,
        });
        let acted = platform.act(&instruction(action, parameters), false);
        let failure = &acted["failure_details"];
        assert_eq!((&failure["RETRY_ALLOWED"], &acted["doubt"]), (&json!("YES"), &json!("unknown")), "{acted:#}");
        let remedy = failure["REMEDIATION_GUIDANCE"].as_str().unwrap();
        assert!(remedy.starts_with("try it again") && !remedy.contains("must look"), "{acted:#}");
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
fn a_name_that_is_at_another_commit_than_before_is_not_deleted() {
    let branch = || instruction("DELETE_BRANCH", json!({ "BRANCH_NAME": "fix" }));
    let (then, now) = (SHA, "2222222222222222222222222222222222222222");
    // What was there before, what is there now, and whether it is deleted by an attempt that is not the first.
    let cases = [(Some(then), then, true), (Some(then), now, false), (None, then, false)];
    for (before, is, deleted) in cases {
        let platform = Platform::new(move |asked, _| match asked.path.ends_with("/git/ref/heads/fix") {
            true => Does::Answers(200, &[], json!({ "object": { "sha": is } })),
            false => kind(asked),
        });
        assert_eq!(platform.executor().before(&branch()).as_deref(), Some(is));
        let acted = platform.executor().act(&branch(), &Attempt { again: true, before, ..Attempt::default() }).unwrap();
        assert_eq!((acted["status"] == "SUCCESS", platform.changes().len() == 1), (deleted, deleted), "{acted:#}");
        if !deleted {
            unknown(&acted);
            assert_eq!(acted["doubt"], "unknown");
        }
    }
    // The branch of what was merged is deleted by a later attempt only where it is what was merged.
    let merge = json!({ "PR_NUMBER": 42, "MERGE_METHOD": "merge", "DELETE_BRANCH": true });
    for (is, deleted) in [(then, true), (now, false)] {
        let platform = Platform::new(move |asked, _| match asked.path.as_str() {
            path if path.ends_with("/git/ref/heads/fix/x") => {
                Does::Answers(200, &[], json!({ "object": { "sha": is } }))
            }
            path if path.ends_with("/pulls/42") => {
                let head = json!({ "ref": "fix/x", "sha": then, "repo": { "full_name": "acme/shop" } });
                Does::Answers(200, &[], json!({ "number": 42, "node_id": "P", "merged": true, "head": head }))
            }
            _ => kind(asked),
        });
        let acted = platform.act(&instruction("MERGE_PULL_REQUEST", merge.clone()), true);
        assert_eq!((acted["status"] == "SUCCESS", platform.changes().len() == 1), (deleted, deleted), "{acted:#}");
    }
    // The same where the platform answers with an error, and somebody makes it anew before it is looked at.
    let platform = Platform::new(move |asked, _| match asked.method.as_str() {
        "DELETE" => Does::Answers(502, &[], json!({})),
        _ => Does::Answers(200, &[], json!({ "object": { "sha": now } })),
    });
    let first = Attempt { before: Some(then), ..Attempt::default() };
    unknown(&platform.executor().act(&branch(), &first).unwrap());
    assert_eq!(platform.changes().len(), 1);
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
fn what_another_project_made_under_the_same_id_is_not_ours() {
    let other = instruction("CREATE_GITHUB_ISSUE", json!({ "TITLE": "another", "BODY": "of another project" }));
    // The same words in the same second, asked for by somebody else.
    let twin = issue_with(json!({ "REQUESTER": { "AGENT_INSTANCE_ID": "foreman-of-another-project" } }));
    let [theirs, of_twin] = [&other, &twin].map(GithubExecutor::mark);
    for mark in [&theirs, &of_twin] {
        assert!(mark.contains("countersign:DI-2025-12-25-001 ") && *mark != GithubExecutor::mark(&issue()), "{mark}");
    }
    for found in [theirs, of_twin, "<!-- countersign:DI-2025-12-25-001 -->".to_owned()] {
        let listed = json!([{ "number": 111, "state": "open", "body": format!("b\n\n{found}") }]);
        let cut = Platform::new(answering(listed.clone()));
        let acted = cut.act(&issue(), false);
        assert_eq!((&acted["status"], cut.changes().len()), (&json!("FAILURE"), 1), "{acted:#}");
        assert_eq!((&acted["failure_details"]["RETRY_ALLOWED"], &acted["doubt"]), (&json!("NO"), &json!("unknown")));
        // Whoever goes on after a kill does not take it for ours either, and makes no second one.
        let resumed = Platform::new(answering(listed));
        let acted = resumed.act(&issue(), true);
        assert_eq!((&acted["status"], resumed.changes().len()), (&json!("FAILURE"), 0), "{acted:#}");
        assert_eq!((&acted["failure_details"]["RETRY_ALLOWED"], &acted["doubt"]), (&json!("NO"), &json!("unknown")));
    }
}

/// Cuts what changes something, and answers to the rest.
fn answering(listed: Value) -> impl Fn(&Asked, usize) -> Does + Send + Sync {
    move |asked, _| match asked.method.as_str() {
        "POST" => Does::Cuts,
        _ => Does::Answers(200, &[], listed.clone()),
    }
}

fn issue_with(patch: Value) -> DelegationInstruction {
    instruction_with("CREATE_GITHUB_ISSUE", json!({ "TITLE": "t", "BODY": "b" }), &patch)
}

#[test]
fn a_try_under_an_id_of_its_own_has_a_mark_of_its_own() {
    let again = issue_with(json!({ "INSTRUCTION_ID": "DI-2025-12-25-1000001" }));
    let [first, second] = [&issue(), &again].map(GithubExecutor::mark);
    assert!(first != second && !second.contains(&first) && !first.contains("1000001"), "{first} {second}");
}

#[test]
fn what_was_made_when_marks_had_no_hash_is_seen_where_its_number_is_known() {
    let response = json!({ "STATUS": "SUCCESS", "PLATFORM_EVIDENCE": { "RESOURCE_NUMBER": 7 } });
    let cases = [
        ("<!-- countersign:DI-2025-12-25-001 -->", true),
        ("<!-- countersign:DI-2025-12-25-0011 -->", false),
        ("", false),
    ];
    for (mark, holds) in cases {
        let body = json!({ "number": 7, "body": format!("b\n\n{mark}") });
        let platform = Platform::new(move |_, _| Does::Answers(200, &[], body.clone()));
        let seen = platform.verify(&issue(), &response).unwrap();
        assert_eq!(seen.holds, holds, "{mark}: {seen:?}");
    }
}
