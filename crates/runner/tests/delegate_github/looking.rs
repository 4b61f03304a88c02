//! Looking without changing anything: before it is done whether it can be, afterwards whether it is, and meanwhile what forbids it.

use super::platform::{Asked, Does, MARK, Platform, SHA, attempt, instruction, kind};
use countersign_runner::delegate::{Executor, Seen};
use serde_json::{Value, json};

type Answers = Vec<(&'static str, u16, Value)>;

/// A platform that answers reads by the end of their path; everything else is not there.
fn shows(answers: Answers) -> Platform {
    Platform::new(move |asked: &Asked, _| {
        let path = asked.path.split('?').next().unwrap();
        let found = answers.iter().find(|(ends, ..)| path.ends_with(ends));
        found.map_or(Does::Answers(404, &[], json!({ "message": "Not Found" })), |(_, status, body)| {
            Does::Answers(*status, &[], body.clone())
        })
    })
}

fn repository(patch: Value) -> (&'static str, u16, Value) {
    let mut body = json!({
        "default_branch": "main", "archived": false, "has_issues": true,
        "permissions": { "admin": true, "push": true, "triage": true, "pull": true },
    });
    countersign_contract::prove::merge(&mut body, &patch);
    ("/repos/acme/shop", 200, body)
}

#[test]
fn what_the_platform_can_say_beforehand_is_not_tried() {
    let there = || repository(json!({}));
    let branch = || json!({ "BRANCH_NAME": "fix", "SOURCE_SHA": SHA });
    let commit = || ("/commits/1f0c3a5b7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80", 200, json!({ "sha": SHA }));
    let taken = ("/git/ref/heads/fix", 200, json!({ "ref": "refs/heads/fix", "object": { "sha": SHA } }));
    let delete = || json!({ "BRANCH_NAME": "fix" });
    let is_protected = ("/branches/fix", 200, json!({ "name": "fix", "protected": true }));
    let locked = ("/branches/fix/protection", 200, json!({ "allow_deletions": { "enabled": false } }));
    let open = ("/branches/fix/protection", 200, json!({ "allow_deletions": { "enabled": true } }));
    let pull = |patch: Value| {
        let mut body = json!({ "number": 42, "state": "open", "merged": false, "mergeable_state": "clean" });
        countersign_contract::prove::merge(&mut body, &patch);
        ("/pulls/42", 200, body)
    };
    let merge = || json!({ "PR_NUMBER": 42, "MERGE_METHOD": "merge" });
    let opened = || json!({ "HEAD_BRANCH": "fix", "BASE_BRANCH": "main", "TITLE": "t", "BODY": "b" });
    let is_branch = |name: &'static str| (name, 200, json!({ "name": "x", "protected": false }));
    let trigger = || json!({ "WORKFLOW_ID": "deploy.yml", "REF": "main" });
    let comment = || json!({ "ISSUE_NUMBER": 4, "COMMENT_BODY": "hm" });
    let issue = || json!({ "TITLE": "t", "BODY": "b" });
    // What the platform shows; then the field that is wrong, or the status and error type that follow, or nothing.
    #[rustfmt::skip]
    let cases: Vec<(&str, &str, Value, Answers, &str)> = vec![
        ("no repository", "CREATE_BRANCH", branch(), vec![], "REQUESTER.REPOSITORY"),
        ("it has moved", "CREATE_BRANCH", branch(), vec![("/repos/acme/shop", 301, json!({}))], "REQUESTER.REPOSITORY"),
        ("a token that is not taken", "CREATE_BRANCH", branch(), vec![("/repos/acme/shop", 401, json!({}))], "FAILURE AUTHORIZATION_FAILURE"),
        ("no right to push", "CREATE_BRANCH", branch(), vec![repository(json!({ "permissions": { "admin": false, "push": false } })), commit()], "BLOCKED AUTHORIZATION_FAILURE"),
        ("no right to label", "ADD_ISSUE_LABELS", json!({ "ISSUE_NUMBER": 4, "LABELS": ["a"] }), vec![repository(json!({ "permissions": { "admin": false, "push": false, "triage": false } })), ("/issues/4", 200, json!({}))], "BLOCKED AUTHORIZATION_FAILURE"),
        ("an archived repository", "COMMENT_ON_ISSUE", comment(), vec![repository(json!({ "archived": true })), ("/issues/4", 200, json!({}))], "BLOCKED PLATFORM_CONSTRAINT"),
        ("issues are off", "CREATE_GITHUB_ISSUE", issue(), vec![repository(json!({ "has_issues": false }))], "BLOCKED PLATFORM_CONSTRAINT"),
        ("a branch that is there", "CREATE_BRANCH", branch(), vec![there(), taken, commit()], "ACTION.PARAMETERS.BRANCH_NAME"),
        ("a commit that is not", "CREATE_BRANCH", branch(), vec![there()], "ACTION.PARAMETERS.SOURCE_SHA"),
        ("all is well", "CREATE_BRANCH", branch(), vec![there(), commit()], ""),
        ("no branch to delete", "DELETE_BRANCH", delete(), vec![there()], "ACTION.PARAMETERS.BRANCH_NAME"),
        ("the default branch", "DELETE_BRANCH", json!({ "BRANCH_NAME": "main" }), vec![there(), is_branch("/branches/main")], "BLOCKED PLATFORM_CONSTRAINT"),
        ("a branch that is protected", "DELETE_BRANCH", delete(), vec![there(), is_protected.clone(), locked], "BLOCKED PLATFORM_CONSTRAINT"),
        ("one that may be deleted", "DELETE_BRANCH", delete(), vec![there(), is_protected.clone(), open], ""),
        ("nobody may see how", "DELETE_BRANCH", delete(), vec![there(), is_protected], ""),
        ("no tag to delete", "DELETE_TAG", json!({ "TAG_NAME": "v1" }), vec![there()], "ACTION.PARAMETERS.TAG_NAME"),
        ("no base", "CREATE_PULL_REQUEST", opened(), vec![there(), is_branch("/branches/fix")], "ACTION.PARAMETERS.BASE_BRANCH"),
        ("no head", "CREATE_PULL_REQUEST", opened(), vec![there(), is_branch("/branches/main")], "ACTION.PARAMETERS.HEAD_BRANCH"),
        ("no pull request", "MERGE_PULL_REQUEST", merge(), vec![there()], "ACTION.PARAMETERS.PR_NUMBER"),
        ("a closed one", "MERGE_PULL_REQUEST", merge(), vec![there(), pull(json!({ "state": "closed" }))], "ACTION.PARAMETERS.PR_NUMBER"),
        ("a draft", "MERGE_PULL_REQUEST", merge(), vec![there(), pull(json!({ "draft": true }))], "BLOCKED PLATFORM_CONSTRAINT"),
        ("conflicts", "MERGE_PULL_REQUEST", merge(), vec![there(), pull(json!({ "mergeable_state": "dirty" }))], "BLOCKED PLATFORM_CONSTRAINT"),
        ("checks that run", "MERGE_PULL_REQUEST", merge(), vec![there(), pull(json!({ "mergeable_state": "blocked" }))], ""),
        ("no other issue", "LINK_ISSUES", json!({ "SOURCE_ISSUE_NUMBER": 4, "TARGET_ISSUE_NUMBER": 999, "RELATIONSHIP": "relates_to" }), vec![there(), ("/issues/4", 200, json!({}))], "ACTION.PARAMETERS.TARGET_ISSUE_NUMBER"),
        ("no issue", "COMMENT_ON_ISSUE", comment(), vec![there()], "ACTION.PARAMETERS.ISSUE_NUMBER"),
        ("no workflow", "TRIGGER_WORKFLOW", trigger(), vec![there()], "ACTION.PARAMETERS.WORKFLOW_ID"),
        ("one that is off", "TRIGGER_WORKFLOW", trigger(), vec![there(), ("/workflows/deploy.yml", 200, json!({ "state": "disabled_manually" }))], "BLOCKED PLATFORM_CONSTRAINT"),
        ("a run that is over", "CANCEL_WORKFLOW", json!({ "RUN_ID": 9 }), vec![there(), ("/runs/9", 200, json!({ "status": "completed" }))], "ACTION.PARAMETERS.RUN_ID"),
        ("the platform is ill", "CREATE_BRANCH", branch(), vec![("/repos/acme/shop", 503, json!({}))], ""),
    ];
    for (name, action, parameters, answers, wanted) in cases {
        let platform = shows(answers);
        let (executor, it) = (platform.executor(), instruction(action, parameters));
        let obstacles = executor.obstacles(&it, true);
        let found = match obstacles.first() {
            Some(obstacle) => obstacle.field.to_owned(),
            None => {
                let asked = platform.asked().len();
                let acted = executor.act(&it, &attempt(false));
                match acted {
                    Ok(acted) if platform.changes().is_empty() => {
                        assert_eq!(platform.asked().len(), asked, "{name}: it was asked once");
                        assert_eq!(acted["failure_details"]["RETRY_ALLOWED"], "NO", "{name}");
                        format!(
                            "{} {}",
                            acted["status"].as_str().unwrap(),
                            acted["failure_details"]["ERROR_TYPE"].as_str().unwrap()
                        )
                    }
                    _ => String::new(),
                }
            }
        };
        assert_eq!(found, wanted, "{name}: {obstacles:?}");
    }
}

#[test]
fn a_limit_is_left_for_the_action_and_what_is_invalid_is_not_shown() {
    let it = || instruction("CREATE_BRANCH", json!({ "BRANCH_NAME": "fix", "SOURCE_SHA": SHA }));
    let platform = Platform::new(|_, _| Does::Answers(200, &[("x-ratelimit-remaining", "3")], json!({})));
    assert!(platform.executor().obstacles(&it(), true).is_empty());
    assert_eq!(platform.asked().len(), 1);
    let platform = Platform::new(|_, _| Does::Answers(429, &[("retry-after", "3600")], json!({})));
    assert!(platform.executor().obstacles(&it(), true).is_empty());
    assert_eq!((platform.asked().len(), platform.waited()), (1, vec![]));
    assert!(platform.executor().obstacles(&it(), false).is_empty());
    assert_eq!(platform.asked().len(), 1);
}

#[test]
fn a_limit_that_a_look_met_is_waited_for_before_anything_is_sent() {
    let it = || instruction("CREATE_GITHUB_ISSUE", json!({ "TITLE": "t", "BODY": "b" }));
    let platform = Platform::new(|asked, before| match before {
        0 => Does::Answers(429, &[("retry-after", "7")], json!({ "message": "slow down" })),
        _ => kind(asked),
    });
    let executor = platform.executor();
    assert!(executor.obstacles(&it(), true).is_empty());
    let acted = executor.act(&it(), &attempt(false)).unwrap();
    assert_eq!((&acted["status"], platform.waited()), (&json!("SUCCESS"), vec![7]), "{acted:#}");
    // Longer than the patience: nothing is sent, and the requester is told when to come back.
    let platform =
        Platform::new(|_, _| Does::Answers(429, &[("retry-after", "3600")], json!({ "message": "slow down" })));
    let executor = platform.executor();
    assert!(executor.obstacles(&it(), true).is_empty());
    let acted = executor.act(&it(), &attempt(false)).unwrap();
    assert_eq!((&acted["status"], &acted["failure_details"]["RETRY_AFTER"]), (&json!("FAILURE"), &json!("3600")));
    assert_eq!((&acted["platform_request"]["METHOD"], &acted["doubt"]), (&json!("GET"), &json!(null)), "{acted:#}");
    assert_eq!((platform.waited(), platform.changes().len(), platform.asked().len()), (vec![], 0, 1));
}

#[test]
fn a_success_is_looked_at() {
    let issue = || instruction("CREATE_GITHUB_ISSUE", json!({ "TITLE": "t", "BODY": "b" }));
    let response = json!({ "STATUS": "SUCCESS", "PLATFORM_EVIDENCE": { "RESOURCE_NUMBER": 42 } });
    let cases = [
        (vec![("/issues/42", 200, json!({ "body": MARK }))], Some(true)),
        (vec![("/issues/42", 200, json!({ "body": "another's" }))], Some(false)),
        (vec![], Some(false)),
        (vec![("/issues/42", 500, json!({}))], None),
    ];
    for (answers, wanted) in cases {
        let platform = shows(answers);
        let seen = platform.verify(&issue(), &response);
        assert_eq!(seen.as_ref().ok().map(|seen| seen.holds), wanted, "{seen:?}");
        assert!(platform.changes().is_empty());
    }
    // What is shown a moment later is waited for.
    let platform = Platform::new(|_, before| match before {
        0 => Does::Answers(404, &[], json!({})),
        _ => Does::Answers(200, &[], json!({ "body": MARK })),
    });
    assert!(matches!(platform.verify(&issue(), &response), Ok(Seen { holds: true, .. })));
    assert_eq!(platform.waited(), [1]);
}

#[test]
fn a_success_is_all_that_was_asked_for() {
    let response = json!({ "STATUS": "SUCCESS", "PLATFORM_EVIDENCE": { "RESOURCE_NUMBER": 42 } });
    let issue = json!({ "TITLE": "t", "BODY": "b", "LABELS": ["a"], "ASSIGNEES": ["Ana"], "MILESTONE": "June" });
    let pull = json!({ "HEAD_BRANCH": "x", "BASE_BRANCH": "main", "TITLE": "t", "BODY": "b", "REVIEWERS": ["ben"] });
    let rules = |users: &[&str]| {
        json!({ "BRANCH_NAME": "main", "PROTECTION_RULES": {
            "REQUIRED_STATUS_CHECKS": {}, "REQUIRED_PULL_REQUEST_REVIEWS": {}, "RESTRICTIONS": { "USERS": users },
        } })
    };
    let protected = |users: Value| {
        let body = json!({ "enforce_admins": { "enabled": false }, "restrictions": { "users": users, "teams": [] } });
        ("/branches/main/protection", 200, body)
    };
    let made = |patch: Value| {
        let mut body = json!({
            "body": MARK, "labels": [{ "name": "A" }], "assignees": [{ "login": "ana" }], "milestone": { "title": "June" },
            "requested_reviewers": [{ "login": "ben" }],
        });
        countersign_contract::prove::merge(&mut body, &patch);
        body
    };
    let run = |status: &str, conclusion: Value| ("/runs/9", 200, json!({ "status": status, "conclusion": conclusion }));
    let began = |at: &str| ("/runs/9", 200, json!({ "status": "queued", "run_started_at": at }));
    let trigger = json!({ "WORKFLOW_ID": "deploy.yml", "REF": "main" });
    let ran = |at: &str| {
        let run = json!({ "event": "workflow_dispatch", "head_branch": "main", "created_at": at });
        ("/workflows/deploy.yml/runs", 200, json!({ "total_count": 1, "workflow_runs": [run] }))
    };
    let nine = json!({ "RUN_ID": 9 });
    let cases = [
        ("CREATE_GITHUB_ISSUE", &issue, ("/issues/42", 200, made(json!({}))), Some(true)),
        ("CREATE_GITHUB_ISSUE", &issue, ("/issues/42", 200, made(json!({ "labels": [] }))), Some(false)),
        ("CREATE_GITHUB_ISSUE", &issue, ("/issues/42", 200, made(json!({ "assignees": [] }))), Some(false)),
        ("CREATE_GITHUB_ISSUE", &issue, ("/issues/42", 200, made(json!({ "milestone": null }))), Some(false)),
        ("CREATE_PULL_REQUEST", &pull, ("/pulls/42", 200, made(json!({}))), Some(true)),
        ("CREATE_PULL_REQUEST", &pull, ("/pulls/42", 200, made(json!({ "requested_reviewers": [] }))), Some(false)),
        ("UPDATE_BRANCH_PROTECTION", &rules(&["ana"]), protected(json!([{ "login": "Ana" }])), Some(true)),
        ("UPDATE_BRANCH_PROTECTION", &rules(&["ana"]), protected(json!([])), Some(false)),
        ("UPDATE_BRANCH_PROTECTION", &rules(&[]), protected(json!([{ "login": "eve" }])), Some(false)),
        ("CANCEL_WORKFLOW", &nine, run("completed", json!("cancelled")), Some(true)),
        ("CANCEL_WORKFLOW", &nine, run("completed", json!("success")), Some(false)),
        // What has not come about yet is looked at again.
        ("CANCEL_WORKFLOW", &nine, run("in_progress", json!(null)), None),
        ("RERUN_WORKFLOW", &nine, began("2025-12-25T10:31:00Z"), Some(true)),
        ("RERUN_WORKFLOW", &nine, began("2025-12-25T10:29:00Z"), Some(false)),
        ("TRIGGER_WORKFLOW", &trigger, ran("2025-12-25T10:31:00Z"), Some(true)),
        ("TRIGGER_WORKFLOW", &trigger, ran("2025-12-25T10:29:00Z"), None),
    ];
    for (action, parameters, answer, wanted) in cases {
        let platform = shows(vec![answer.clone()]);
        let seen = platform.verify(&instruction(action, parameters.clone()), &response);
        assert_eq!(seen.as_ref().ok().map(|seen| seen.holds), wanted, "{action}, {answer:?}: {seen:?}");
        assert!(platform.changes().is_empty(), "{action}");
    }
}

#[test]
fn what_is_on_a_later_page_is_found() {
    let others: Vec<Value> = (0..100).map(|id| json!({ "id": id, "body": "another's" })).collect();
    let cases = [
        ("APPROVE_PR", json!({ "PR_NUMBER": 42 })),
        ("COMMENT_ON_ISSUE", json!({ "ISSUE_NUMBER": 4, "COMMENT_BODY": "hm" })),
        ("CREATE_GITHUB_ISSUE", json!({ "TITLE": "t", "BODY": "b" })),
    ];
    for (action, parameters) in cases {
        let others = others.clone();
        let platform = Platform::new(move |asked, _| {
            let page = asked.path.rsplit_once("&page=").map_or("1", |(_, page)| page);
            let found = json!([{ "id": 7, "number": 7, "state": "open", "body": MARK }]);
            Does::Answers(200, &[], if page == "3" { found } else { json!(others) })
        });
        let it = instruction(action, parameters);
        let acted = platform.act(&it, true);
        assert_eq!((&acted["status"], platform.asked().len()), (&json!("SUCCESS"), 3), "{action}: {acted:#}");
        let seen = platform.verify(&it, &json!({})).unwrap();
        assert!(seen.holds && platform.changes().is_empty(), "{action}: {seen:?}");
    }
}

/// A platform that shows `pages`, and says in its headers that one follows the other; `elsewhere` is where it says that the second is.
fn paged(pages: Vec<Value>, elsewhere: Option<&'static str>) -> Platform {
    Platform::new(move |asked, _| {
        let at: usize = asked.path.rsplit_once("cursor=").map_or(0, |(_, page)| page.parse().unwrap());
        if asked.method != "GET" || !asked.path.contains('?') {
            return kind(asked);
        }
        let host = asked.headers.lines().find_map(|line| line.strip_prefix("host:")).unwrap().trim().to_owned();
        let base = elsewhere.map_or(format!("http://{host}"), str::to_owned);
        let next = format!("<{base}/list?cursor={}>; rel=\"next\", <{base}/list?cursor=0>; rel=\"first\"", at + 1);
        let more = at + 1 < pages.len();
        let link: &'static str =
            if more { Box::leak(next.into_boxed_str()) } else { "</list?cursor=0>; rel=\"first\"" };
        let headers: &'static [_] = Box::leak(Box::new([("link", link)]));
        Does::Answers(200, headers, pages[at].clone())
    })
}

#[test]
fn a_milestone_is_found_on_the_page_that_the_platform_leads_to() {
    let it = || instruction("CREATE_GITHUB_ISSUE", json!({ "TITLE": "t", "BODY": "b", "MILESTONE": "June" }));
    // Pages as long as the platform likes.
    let other = |number: u64| json!([{ "title": format!("other {number}"), "number": number }]);
    let pages = vec![other(1), other(2), json!([{ "title": "June", "number": 3 }])];
    let platform = paged(pages.clone(), None);
    let acted = platform.act(&it(), false);
    assert_eq!(acted["status"], "SUCCESS", "{acted:#}");
    let made = platform.asked().into_iter().find(|asked| asked.method == "POST").unwrap();
    assert_eq!(made.body["milestone"], 3);
    // Where there is none, it is said.
    let platform = paged(pages[..2].to_vec(), None);
    let acted = platform.act(&it(), false);
    assert!(acted["status"] == "FAILURE" && platform.changes().is_empty(), "{acted:#}");
    // There is an end to how far it is looked.
    let platform = paged((0..200).map(other).collect(), None);
    let acted = platform.act(&it(), false);
    let said = acted["failure_details"]["ERROR_MESSAGE"].as_str().unwrap_or_default();
    assert!(said.contains("not among the first") && platform.asked().len() == 100, "{acted:#}");
    // The token is shown to nobody else.
    let platform = paged(pages, Some("http://127.0.0.1:1"));
    let why = platform.executor().act(&it(), &attempt(false)).unwrap_err();
    assert!(why.contains("at another address") && platform.changes().is_empty(), "{why}");
}

#[test]
fn checks_that_are_not_on_the_first_page_count_too() {
    let merge = instruction("MERGE_PULL_REQUEST", json!({ "PR_NUMBER": 42, "MERGE_METHOD": "merge" }));
    let finished: Vec<Value> = (0..100).map(|_| json!({ "status": "completed" })).collect();
    let platform = Platform::new(move |asked, _| match asked.path.as_str() {
        path if path.ends_with("/merge") => {
            Does::Answers(405, &[], json!({ "message": "Pull Request is not mergeable" }))
        }
        path if path.ends_with("/pulls/42") => {
            Does::Answers(200, &[], json!({ "state": "open", "mergeable_state": "blocked", "head": { "sha": SHA } }))
        }
        path if path.contains("/check-runs") && !path.contains("page=2") => {
            Does::Answers(200, &[], json!({ "check_runs": finished }))
        }
        path if path.contains("/check-runs") => {
            Does::Answers(200, &[], json!({ "check_runs": [{ "status": "queued" }] }))
        }
        _ => Does::Answers(200, &[], json!({ "state": "success", "total_count": 1 })),
    });
    let acted = platform.act(&merge, false);
    assert_eq!((&acted["status"], &acted["failure_details"]["RETRY_ALLOWED"]), (&json!("BLOCKED"), &json!("YES")));
}

#[test]
fn what_forbids_a_merge_is_watched_and_told_by_what_it_is() {
    let merge = || instruction("MERGE_PULL_REQUEST", json!({ "PR_NUMBER": 42, "MERGE_METHOD": "merge" }));
    let pull =
        |state: &str| ("/pulls/42", 200, json!({ "state": "open", "mergeable_state": state, "head": { "sha": SHA } }));
    let runs = |status: &str| ("/check-runs", 200, json!({ "check_runs": [{ "status": status }] }));
    let statuses = |state: &str| ("/status", 200, json!({ "state": state, "total_count": 1 }));
    // How the pull request stands, its checks, whether it is forbidden, and whether that clears by itself.
    let cases = [
        ("clean", "completed", "success", false, "NO"),
        ("blocked", "in_progress", "success", true, "YES"),
        ("blocked", "completed", "pending", true, "YES"),
        ("blocked", "completed", "failure", true, "NO"),
        ("unknown", "completed", "success", false, "YES"),
        ("dirty", "in_progress", "success", true, "NO"),
        ("behind", "completed", "success", true, "NO"),
    ];
    for (state, run, status, forbidden, clears) in cases {
        let refusal = ("/merge", 405, json!({ "message": "Pull Request is not mergeable" }));
        let platform = shows(vec![refusal, pull(state), runs(run), statuses(status)]);
        let seen = platform.executor().constraint(&merge()).unwrap();
        assert_eq!((seen.is_some(), platform.changes().len()), (forbidden, 0), "{state}: {seen:?}");
        let acted = platform.act(&merge(), false);
        assert_eq!(
            (&acted["status"], &acted["failure_details"]["RETRY_ALLOWED"]),
            (&json!("BLOCKED"), &json!(clears)),
            "{state} {run} {status}: {acted:#}"
        );
    }
}

#[test]
fn a_workflow_is_claimed_only_if_nothing_else_can_be_it() {
    let trigger = || instruction("TRIGGER_WORKFLOW", json!({ "WORKFLOW_ID": "deploy.yml", "REF": "main" }));
    let run = |patch: Value| {
        let mut run = json!({
            "id": 7, "event": "workflow_dispatch", "head_branch": "main", "head_sha": SHA, "status": "queued",
            "created_at": "2025-12-25T10:31:00Z", "actor": { "login": "ana" }, "triggering_actor": { "login": "ana" },
        });
        countersign_contract::prove::merge(&mut run, &patch);
        run
    };
    let user = ("/user", 200, json!({ "login": "Ana" }));
    let nobody = ("/user", 403, json!({}));
    let at = |sha: &str| ("/commits/main", 200, json!({ "sha": sha }));
    let eve = || json!({ "actor": { "login": "eve" }, "triggering_actor": { "login": "eve" } });
    #[rustfmt::skip]
    let cases = [
        ("its own", vec![run(json!({}))], &user, at(SHA), "SUCCESS", ""),
        ("none", vec![], &user, at(SHA), "FAILURE", "UNKNOWN"),
        ("another's", vec![run(eve())], &user, at(SHA), "FAILURE", "UNKNOWN"),
        ("from before", vec![run(json!({ "created_at": "2025-12-25T10:29:59Z" }))], &user, at(SHA), "FAILURE", "UNKNOWN"),
        ("another event", vec![run(json!({ "event": "push" }))], &user, at(SHA), "FAILURE", "UNKNOWN"),
        ("another branch", vec![run(json!({ "head_branch": "x" }))], &user, at(SHA), "FAILURE", "UNKNOWN"),
        ("two of them", vec![run(json!({})), run(json!({ "id": 8 }))], &user, at(SHA), "FAILURE", "UNCLEAR"),
        ("its own beside another's", vec![run(json!({})), run(eve())], &user, at(SHA), "SUCCESS", ""),
        ("another commit", vec![run(json!({}))], &user, at("0000"), "FAILURE", "UNCLEAR"),
        ("nobody knows whose", vec![run(json!({}))], &nobody, at(SHA), "FAILURE", "UNCLEAR"),
    ];
    for (name, runs, who, head, status, code) in cases {
        let list = ("/runs", 200, json!({ "total_count": runs.len(), "workflow_runs": runs }));
        let workflow = ("/workflows/deploy.yml", 200, json!({ "id": 7, "state": "active" }));
        let platform = shows(vec![list, who.clone(), head, workflow]);
        let acted = platform.act(&trigger(), true);
        assert_eq!(acted["status"], status, "{name}: {acted:#}");
        assert!(platform.changes().is_empty(), "{name}: it is not triggered again");
        if status == "FAILURE" {
            let failure = &acted["failure_details"];
            assert_eq!((&failure["ERROR_CODE"], &failure["RETRY_ALLOWED"]), (&json!(code), &json!("NO")), "{name}");
            assert!(acted["resulting_state"].as_str().unwrap().contains("not known"), "{name}: {acted:#}");
        }
    }
}
