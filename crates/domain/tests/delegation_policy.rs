//! The policy of delegation, said a second time and in another way, and held against the first over everything that an
//! instruction can claim.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use countersign_contract::diagnostic::{Code, Source};
use countersign_contract::{Checker, Form, Outside, Request, Settings, check};
use countersign_domain::delegation::action::{ACTIONS, ActionType};
use serde_json::{Value, json};

/// What the ruling lets an agent do on its own.
const OWN: [&str; 12] = [
    "COMMENT_ON_ISSUE",
    "COMMENT_ON_PR",
    "ADD_ISSUE_LABELS",
    "REMOVE_ISSUE_LABELS",
    "ADD_PR_LABELS",
    "REMOVE_PR_LABELS",
    "ASSIGN_ISSUE",
    "LINK_ISSUES",
    "CREATE_GITHUB_ISSUE",
    "CREATE_BRANCH",
    "REQUEST_PR_REVIEW",
    "REQUEST_PR_CHANGES",
];

struct Case<'c> {
    action: &'c str,
    level: &'c str,
    governance: &'c str,
    qa: &'c str,
    /// The word, and whether evidence is named.
    approval: (&'c str, bool),
    escalation: (&'c str, bool),
}

/// The ruling, sentence by sentence.
fn permitted(case: &Case<'_>) -> bool {
    let approved = case.approval == ("YES", true);
    let resolved = case.escalation == ("YES", true);
    let by_level = match case.level {
        "AUTONOMOUS" => OWN.contains(&case.action),
        "HUMAN_APPROVED" => approved,
        _ => resolved || case.action == "CREATE_GITHUB_ISSUE",
    };
    let by_governance = match case.governance {
        "COMPLIANT" => true,
        "OVERRIDE" => approved,
        _ => ["CREATE_GITHUB_ISSUE", "COMMENT_ON_ISSUE"].contains(&case.action) && (approved || resolved),
    };
    let by_tests = case.action != "MERGE_PULL_REQUEST"
        || case.governance == "OVERRIDE"
        || case.qa == "GREEN"
        || case.qa == "NOT_APPLICABLE";
    by_level && by_governance && by_tests
}

fn parameters(action: ActionType) -> Value {
    let sha = "1f0c3a5b7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80";
    // Unknown parameters are no errors, so that one set of them serves all actions but those that update.
    let mut all = json!({
        "ISSUE_NUMBER": 7, "PR_NUMBER": 7, "TITLE": "t", "BODY": "b", "LABELS": ["x"], "ASSIGNEES": ["ann"],
        "COMMENT_BODY": "c", "SOURCE_ISSUE_NUMBER": 7, "TARGET_ISSUE_NUMBER": 8, "RELATIONSHIP": "blocks",
        "HEAD_BRANCH": "fix", "BASE_BRANCH": "main", "MERGE_METHOD": "merge", "REVIEWERS": ["bob"],
        "REVIEW_BODY": "r", "BRANCH_NAME": "b", "SOURCE_SHA": sha, "TAG_NAME": "v1", "TARGET_SHA": sha,
        "TAG_TYPE": "annotated", "MESSAGE": "m", "WORKFLOW_ID": "w.yml", "REF": "main", "RUN_ID": 1,
        "PROTECTION_RULES": {"REQUIRED_STATUS_CHECKS": {}, "REQUIRED_PULL_REQUEST_REVIEWS": {}, "RESTRICTIONS": {}},
    });
    let own = action.info().parameters;
    all.as_object_mut().unwrap().retain(|key, _| own.contains(&key.as_str()));
    all
}

fn document(case: &Case<'_>) -> Value {
    let mut document = (countersign_domain::contract("delegation_instruction").unwrap().example)();
    document["ACTION"] =
        json!({"TYPE": case.action, "PARAMETERS": parameters(ActionType::parse(case.action).unwrap())});
    document["REQUESTER"]["AUTHORIZATION_LEVEL"] = json!(case.level);
    let authorization = document["AUTHORIZATION"].as_object_mut().unwrap();
    authorization["GOVERNANCE_STATUS"] = json!(case.governance);
    authorization["QA_STATUS"] = json!(case.qa);
    for (word, evidence, claim) in [
        ("HUMAN_APPROVAL", "HUMAN_APPROVAL_EVIDENCE", case.approval),
        ("ESCALATION_COMPLETED", "ESCALATION_EVIDENCE", case.escalation),
    ] {
        authorization.insert(word.to_owned(), json!(claim.0));
        authorization.shift_remove(evidence);
        if claim.1 {
            authorization.insert(evidence.to_owned(), json!("comment on issue 130"));
        }
    }
    document
}

fn codes(document: &Value) -> Vec<Code> {
    let settings = Settings::default();
    let checker =
        Checker { contracts: countersign_domain::contracts(), foreign: &[], settings: &settings, raised: &[] };
    let outside = Outside::default();
    let text = document.to_string();
    let source = Source { name: "document", text: &text };
    let request = Request { form: Some(Form::Json), ..Request::alone(source, &outside) };
    check(&checker, &request).decision.details.diagnostics.iter().map(|it| it.code).collect()
}

#[test]
fn what_is_permitted_is_what_the_ruling_says() {
    let mut allowed = 0;
    let mut refused = 0;
    for info in ACTIONS {
        for level in ["AUTONOMOUS", "HUMAN_APPROVED", "ESCALATION_RESOLVED"] {
            for governance in ["COMPLIANT", "BLOCKED", "OVERRIDE"] {
                for qa in ["GREEN", "AMBER", "RED", "NOT_APPLICABLE"] {
                    for approval in [("NO", false), ("YES", false), ("YES", true)] {
                        for escalation in [("NOT_APPLICABLE", false), ("NO", true), ("YES", false), ("YES", true)] {
                            let action = info.action.as_str();
                            let case = Case { action, level, governance, qa, approval, escalation };
                            let document = document(&case);
                            let codes = codes(&document);
                            let permitted = permitted(&case);
                            assert_eq!(!codes.contains(&Code::AuthorizationMissing), permitted, "{document}");
                            let unshown = approval == ("YES", false) || escalation == ("YES", false);
                            assert_eq!(codes.contains(&Code::MissingRequiredInput), unshown, "{document}");
                            let count = if permitted { &mut allowed } else { &mut refused };
                            *count += 1;
                        }
                    }
                }
            }
        }
    }
    assert_eq!(allowed + refused, 26 * 3 * 3 * 4 * 3 * 4);
    assert!(allowed > 1000 && refused > 1000, "{allowed} allowed, {refused} refused");
}

#[test]
fn closing_by_an_update_is_closing() {
    use countersign_domain::delegation::payload::AuthorizationLevel;
    let closing = [ActionType::CloseGithubIssue, ActionType::ClosePullRequest];
    assert!(closing.iter().all(|action| action.info().needs == AuthorizationLevel::HumanApproved));
    for (action, state) in [("UPDATE_GITHUB_ISSUE", "closed"), ("UPDATE_PULL_REQUEST", "closed")] {
        let case = Case {
            action,
            level: "AUTONOMOUS",
            governance: "COMPLIANT",
            qa: "GREEN",
            approval: ("NO", false),
            escalation: ("NOT_APPLICABLE", false),
        };
        let mut document = document(&case);
        document["ACTION"]["PARAMETERS"]["STATE"] = json!(state);
        assert!(codes(&document).contains(&Code::AuthorizationMissing), "{document}");
    }
}
