//! Delegation as a whole: documents as they are written in the field, the union of the actions, and the repairs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use countersign_contract::diagnostic::{Code, Severity, Source};
use countersign_contract::{Checked, Checker, Form, Outside, Request, Set, Settings, check, fix, prove};
use countersign_domain::delegation::action::{ACTIONS, ActionType};
use serde_json::{Value, json};

fn checked(text: &str, form: Form, others: &Set, settings: &Settings) -> Checked {
    let checker = Checker { contracts: countersign_domain::contracts(), foreign: &[], settings, raised: &[] };
    let outside = Outside::default();
    let source = Source { name: "document", text };
    check(&checker, &Request { form: Some(form), others, ..Request::alone(source, &outside) })
}

fn findings(document: &Value) -> Vec<(&'static str, Severity)> {
    let checked = checked(&document.to_string(), Form::Json, &Set::default(), &Settings::default());
    checked.decision.details.diagnostics.iter().map(|it| (it.rule, it.severity)).collect()
}

fn example(contract: &str) -> Value {
    (countersign_domain::contract(contract).unwrap().example)()
}

/// An instruction for an action, with the authority of a person and the smallest parameters.
fn instruction(action: ActionType, parameters: Value) -> Value {
    let mut document = example("delegation_instruction");
    document["ACTION"] = json!({ "TYPE": action.as_str(), "PARAMETERS": parameters });
    document
}

/// The least and the most that an action takes.
fn parameters(action: ActionType) -> (Value, Value) {
    let sha = "1f0c3a5b7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80";
    let same = |value: Value| (value.clone(), value);
    use ActionType::*;
    match action {
        CreateGithubIssue => (
            json!({"TITLE": "t", "BODY": "b"}),
            json!({"TITLE": "t", "BODY": "b", "LABELS": ["x"], "ASSIGNEES": [], "MILESTONE": 3}),
        ),
        UpdateGithubIssue => (
            json!({"ISSUE_NUMBER": 7, "TITLE": "t"}),
            json!({"ISSUE_NUMBER": 7, "TITLE": "t", "BODY": "b", "STATE": "closed", "STATE_REASON": "not_planned"}),
        ),
        CloseGithubIssue => {
            (json!({"ISSUE_NUMBER": 7}), json!({"ISSUE_NUMBER": 7, "STATE_REASON": "completed", "COMMENT": "done"}))
        }
        AddIssueLabels | RemoveIssueLabels => same(json!({"ISSUE_NUMBER": 7, "LABELS": ["x"]})),
        AssignIssue => same(json!({"ISSUE_NUMBER": 7, "ASSIGNEES": ["ann"]})),
        CommentOnIssue => same(json!({"ISSUE_NUMBER": 7, "COMMENT_BODY": "c"})),
        LinkIssues => same(json!({"SOURCE_ISSUE_NUMBER": 7, "TARGET_ISSUE_NUMBER": 8, "RELATIONSHIP": "relates_to"})),
        CreatePullRequest => (
            json!({"HEAD_BRANCH": "ann:fix", "BASE_BRANCH": "main", "TITLE": "t", "BODY": "b"}),
            json!({"HEAD_BRANCH": "fix", "BASE_BRANCH": "main", "TITLE": "t", "BODY": "b", "DRAFT": true,
                   "LABELS": [], "ASSIGNEES": ["ann"], "REVIEWERS": ["bob"]}),
        ),
        UpdatePullRequest => (
            json!({"PR_NUMBER": 42, "STATE": "open"}),
            json!({"PR_NUMBER": 42, "TITLE": "t", "BODY": "b", "STATE": "closed"}),
        ),
        ClosePullRequest => (json!({"PR_NUMBER": 42}), json!({"PR_NUMBER": 42, "COMMENT": "c"})),
        MergePullRequest => (
            json!({"PR_NUMBER": 42, "MERGE_METHOD": "rebase"}),
            json!({"PR_NUMBER": 42, "MERGE_METHOD": "merge", "COMMIT_TITLE": "t", "COMMIT_MESSAGE": "m",
                   "DELETE_BRANCH": false}),
        ),
        RequestPrReview => same(json!({"PR_NUMBER": 42, "REVIEWERS": ["bob"]})),
        AddPrLabels | RemovePrLabels => same(json!({"PR_NUMBER": 42, "LABELS": ["x"]})),
        CommentOnPr => same(json!({"PR_NUMBER": 42, "COMMENT_BODY": "c"})),
        ApprovePr => (json!({"PR_NUMBER": 42}), json!({"PR_NUMBER": 42, "REVIEW_BODY": "good"})),
        RequestPrChanges => same(json!({"PR_NUMBER": 42, "REVIEW_BODY": "bad"})),
        CreateBranch => same(json!({"BRANCH_NAME": "b", "SOURCE_SHA": sha})),
        DeleteBranch => same(json!({"BRANCH_NAME": "b"})),
        CreateTag => (
            json!({"TAG_NAME": "v1", "TARGET_SHA": sha, "TAG_TYPE": "lightweight"}),
            json!({"TAG_NAME": "v1", "TARGET_SHA": sha, "TAG_TYPE": "annotated", "MESSAGE": "m"}),
        ),
        DeleteTag => same(json!({"TAG_NAME": "v1"})),
        UpdateBranchProtection => (
            json!({"BRANCH_NAME": "main", "PROTECTION_RULES": {
                "REQUIRED_STATUS_CHECKS": {}, "REQUIRED_PULL_REQUEST_REVIEWS": {}, "RESTRICTIONS": {}}}),
            json!({"BRANCH_NAME": "main", "PROTECTION_RULES": {
                "REQUIRED_STATUS_CHECKS": {"STRICT": true, "CONTEXTS": ["ci"]},
                "ENFORCE_ADMINS": true,
                "REQUIRED_PULL_REQUEST_REVIEWS": {"REQUIRED_APPROVING_REVIEW_COUNT": 6,
                    "DISMISS_STALE_REVIEWS": true, "REQUIRE_CODE_OWNER_REVIEWS": false},
                "RESTRICTIONS": {"USERS": ["ann"], "TEAMS": []}}}),
        ),
        TriggerWorkflow => (
            json!({"WORKFLOW_ID": "deploy.yml", "REF": "main"}),
            json!({"WORKFLOW_ID": 17, "REF": "refs/heads/main", "INPUTS": {"env": "test"}}),
        ),
        CancelWorkflow | RerunWorkflow => (json!({"RUN_ID": 17}), json!({"RUN_ID": "17"})),
    }
}

#[test]
fn every_action_is_allowed_with_the_least_and_the_most_that_it_takes() {
    for info in ACTIONS {
        let (least, most) = parameters(info.action);
        for parameters in [least, most] {
            let document = instruction(info.action, parameters);
            assert_eq!(findings(&document), [], "{document}");
        }
    }
}

/// Whether a document is of its contract's shape, whatever the rules say of it.
fn is_shaped(document: &Value) -> bool {
    const FAULTS: [&str; 9] = [
        "field-missing",
        "field-empty",
        "kind-mismatch",
        "choice-unknown",
        "format-invalid",
        "length-exceeded",
        "range-exceeded",
        "null-for-absent",
        "version-unknown",
    ];
    !findings(document).iter().any(|(rule, _)| FAULTS.contains(rule))
}

/// Whatever is done to an action, its shape and its schema both take it or neither does.
#[test]
fn the_schema_of_an_action_accepts_what_its_shape_does() {
    let contract = countersign_domain::contract("delegation_instruction").unwrap();
    let schema = jsonschema::validator_for(&(contract.schema)()).unwrap();
    let mut compared = 0;
    for info in ACTIONS {
        let (_, most) = parameters(info.action);
        for parameters in mutations(&most) {
            let document = instruction(info.action, parameters);
            assert_eq!(schema.is_valid(&document), is_shaped(&document), "{document}");
            compared += 1;
        }
    }
    assert!(compared > 700, "{compared}");
}

/// The same for whole documents, with every part in them that they can have.
#[test]
fn the_schemas_accept_what_the_shapes_do() {
    let mut compared = 0;
    for contract in countersign_domain::contracts().iter().filter(|it| it.domain == "delegation") {
        let schema = jsonschema::validator_for(&(contract.schema)()).unwrap();
        let mut whole = (contract.example)();
        if contract.name == "delegation_response" {
            whole["FAILURE_DETAILS"] = json!({"ERROR_TYPE": "API_ERROR", "ERROR_CODE": "503", "ERROR_MESSAGE": "m",
                "REMEDIATION_GUIDANCE": "g", "RETRY_ALLOWED": "YES", "RETRY_AFTER": "60"});
            whole["VALIDATION_ERRORS"] = json!([{"FIELD": "ACTION.TYPE", "ERROR": "e", "EXPECTED": "x"}]);
        }
        for document in mutations(&whole).iter().filter(|it| it.get(contract.marks[0]).is_some()) {
            assert_eq!(schema.is_valid(document), is_shaped(document), "{document}");
            compared += 1;
        }
    }
    assert!(compared > 10_000, "{compared}");
}

/// An object, each of its members taken away, each replaced by values of every kind, one added; and the same within.
fn mutations(whole: &Value) -> Vec<Value> {
    let mut out = vec![whole.clone(), json!(null), json!([]), json!({}), json!("text")];
    for (key, value) in whole.as_object().unwrap() {
        let mut less = whole.clone();
        less.as_object_mut().unwrap().remove(key);
        out.push(less);
        let mut others = vec![
            json!(null),
            json!(true),
            json!(0),
            json!(1),
            json!(7),
            json!(1.5),
            json!(""),
            json!(" "),
            json!("open"),
            json!([]),
            json!([""]),
            json!(["a", 1]),
            json!({}),
            json!("x".repeat(257)),
        ];
        others.extend(value.as_str().into_iter().flat_map(slips));
        if value.is_object() && !value.as_object().unwrap().is_empty() {
            others.extend(mutations(value));
        }
        for other in others {
            let mut changed = whole.clone();
            changed[key] = other;
            out.push(changed);
        }
    }
    let mut more = whole.clone();
    more["x_own"] = json!({"any": [1]});
    out.push(more);
    out
}

/// A text with one character taken out, doubled, or replaced by another that matters to some form.
fn slips(text: &str) -> Vec<Value> {
    let letters: Vec<char> = text.chars().collect();
    let mut out = Vec::new();
    for at in 0..letters.len() {
        let (head, tail) = (&letters[..at], &letters[at + 1..]);
        let with = |middle: &str| {
            let text: String = head.iter().copied().chain(middle.chars()).chain(tail.iter().copied()).collect();
            json!(text)
        };
        let doubled = format!("{0}{0}", letters[at]);
        let others = ["", &doubled, "0", "3", "9", "a", "A", "-", "/", ":", ".", " ", "ü", "\n"];
        out.extend(others.iter().map(|middle| with(middle)));
    }
    out.push(json!(format!("{text}\n")));
    out
}

#[test]
fn an_unknown_action_or_parameter_is_met_with_the_one_that_was_meant() {
    let say = |document: Value| {
        let checked = checked(&document.to_string(), Form::Json, &Set::default(), &Settings::default());
        let found = checked.decision.details.diagnostics.into_iter().next().unwrap();
        format!("{} {}: {}; {}", found.rule, found.pointer, found.message, found.help)
    };
    let mut unknown = instruction(ActionType::ClosePullRequest, json!({"PR_NUMBER": 42}));
    unknown["ACTION"]["TYPE"] = json!("CLOSE_PULL_REQEST");
    assert!(say(unknown).contains("did you mean `CLOSE_PULL_REQUEST`?"));
    let slip = instruction(
        ActionType::MergePullRequest,
        json!({"PR_NUMBER": 42, "MERGE_METHOD": "merge", "COMIT_TITLE": "t"}),
    );
    assert!(say(slip).contains("did you mean `COMMIT_TITLE`?"));
    let strange = instruction(ActionType::ClosePullRequest, json!({"PR_NUMBER": 42, "MERGE_METHOD": "merge"}));
    assert_eq!(
        say(strange),
        "field-unknown /ACTION/PARAMETERS/MERGE_METHOD: unknown field `MERGE_METHOD`; `MERGE_METHOD` belongs to \
         MERGE_PULL_REQUEST, not to CLOSE_PULL_REQUEST, which takes `PR_NUMBER`, `COMMENT`"
    );
}

/// What decides who may do what, and to which thing, is never mended by a guess.
#[test]
fn authority_and_numbers_are_not_guessed() {
    for (pointer, value, mended) in [
        ("/AUTHORIZATION/HUMAN_APPROVAL", json!("YESNO"), false),
        ("/AUTHORIZATION/HUMAN_APPROVAL", json!("yes"), true),
        ("/AUTHORIZATION/GOVERNANCE_STATUS", json!("COMPLAINT"), false),
        ("/REQUESTER/AUTHORIZATION_LEVEL", json!("HUMAN_APROVED"), false),
        ("/ACTION/TYPE", json!("CLOSE_PULL_REQUESTS"), false),
        ("/ACTION/PARAMETERS/PR_NUMBER", json!(0), false),
        ("/ACTION/PARAMETERS/PR_NUMBER", json!("42"), true),
    ] {
        let mut document = example("delegation_instruction");
        *document.pointer_mut(pointer).unwrap() = value;
        let checked = checked(&document.to_string(), Form::Json, &Set::default(), &Settings::default());
        let found = &checked.decision.details.diagnostics;
        assert_eq!((found.len(), found[0].repair.is_some()), (1, mended), "{document}");
    }
}

const RESPONSES: [&str; 4] = [
    r#"
DELEGATION_RESPONSE_VERSION: "1.0"
RESPONSE_ID: "DR-2025-12-25-001"
INSTRUCTION_ID: "DI-2025-12-25-001"
TIMESTAMP_UTC: "2025-12-25T10:30:15Z"
STATUS: "SUCCESS"
PLATFORM_EVIDENCE:
  RESOURCE_TYPE: "pull_request"
  RESOURCE_ID: "pr_12345abcdef"
  RESOURCE_NUMBER: 42
  RESOURCE_URL: "https://github.com/MaturionISMS/example-app/pull/42"
  RESOURCE_STATE: "open"
  CREATED_AT: "2025-12-25T10:30:12Z"
  UPDATED_AT: "2025-12-25T10:30:12Z"
  API_RESPONSE_STATUS: 201
AUDIT_ENTRY_ID: "PAA-2025-12-25-001"
AUDIT_ENTRY_PATH: ".evidence/platform-actions/2025-12/PAA-2025-12-25-001.md"
EXECUTOR:
  AGENT_TYPE: "MATURION"
  AGENT_INSTANCE_ID: "maturion-prod-001"
  EXECUTION_DURATION_MS: 2341
"#,
    r#"
DELEGATION_RESPONSE_VERSION: "1.0"
RESPONSE_ID: "DR-2025-12-25-002"
INSTRUCTION_ID: "DI-2025-12-25-002"
TIMESTAMP_UTC: "2025-12-25T11:00:05Z"
STATUS: "FAILURE"
FAILURE_DETAILS:
  ERROR_TYPE: "API_ERROR"
  ERROR_CODE: "403"
  ERROR_MESSAGE: "Rate limit exceeded; it resets at 2025-12-25T12:00:00Z."
  REMEDIATION_GUIDANCE: "Retry after the reset at 2025-12-25T12:00:00Z."
  RETRY_ALLOWED: "YES"
  RETRY_AFTER: "3595"
AUDIT_ENTRY_ID: "PAA-2025-12-25-002"
AUDIT_ENTRY_PATH: ".evidence/platform-actions/2025-12/PAA-2025-12-25-002.md"
EXECUTOR:
  AGENT_TYPE: "MATURION"
  AGENT_INSTANCE_ID: "maturion-prod-001"
  EXECUTION_DURATION_MS: 456
"#,
    r#"
DELEGATION_RESPONSE_VERSION: "1.0"
RESPONSE_ID: "DR-2025-12-25-003"
INSTRUCTION_ID: "DI-2025-12-25-003"
TIMESTAMP_UTC: "2025-12-25T11:15:22Z"
STATUS: "BLOCKED"
FAILURE_DETAILS:
  ERROR_TYPE: "PLATFORM_CONSTRAINT"
  ERROR_CODE: "422"
  ERROR_MESSAGE: "The required check 'ci/build' has not passed."
  REMEDIATION_GUIDANCE: "Wait for the check: https://github.com/MaturionISMS/example-app/actions. Then retry."
  RETRY_ALLOWED: "YES"
AUDIT_ENTRY_ID: "PAA-2025-12-25-003"
AUDIT_ENTRY_PATH: ".evidence/platform-actions/2025-12/PAA-2025-12-25-003.md"
EXECUTOR:
  AGENT_TYPE: "MATURION"
  AGENT_INSTANCE_ID: "maturion-prod-001"
  EXECUTION_DURATION_MS: 1123
"#,
    r#"
DELEGATION_RESPONSE_VERSION: "1.0"
RESPONSE_ID: "DR-2025-12-25-004"
INSTRUCTION_ID: "DI-2025-12-25-004"
TIMESTAMP_UTC: "2025-12-25T11:30:08Z"
STATUS: "INVALID_REQUEST"
VALIDATION_ERRORS:
  - FIELD: "ACTION.PARAMETERS.HEAD_BRANCH"
    ERROR: "There is no branch 'feature/nonexistent' in MaturionISMS/example-app"
    EXPECTED: "A branch that exists"
  - FIELD: "AUTHORIZATION.HUMAN_APPROVAL"
    ERROR: "Needed for CREATE_PULL_REQUEST"
    EXPECTED: "HUMAN_APPROVAL=YES with HUMAN_APPROVAL_EVIDENCE"
AUDIT_ENTRY_ID: "PAA-2025-12-25-004"
AUDIT_ENTRY_PATH: ".evidence/platform-actions/2025-12/PAA-2025-12-25-004.md"
EXECUTOR:
  AGENT_TYPE: "MATURION"
  AGENT_INSTANCE_ID: "maturion-prod-001"
  EXECUTION_DURATION_MS: 234
"#,
];

#[test]
fn responses_with_each_status_are_allowed() {
    for text in RESPONSES {
        let checked = checked(text, Form::Yaml, &Set::default(), &Settings::default());
        assert_eq!(checked.decision.details.diagnostics, [], "{text}");
        assert!(checked.decision.allow);
    }
}

#[test]
fn a_response_stands_beside_its_instruction_and_its_entry() {
    let mut instruction = instruction(ActionType::CreatePullRequest, parameters(ActionType::CreatePullRequest).1);
    instruction["REQUESTER"]["REPOSITORY"] = json!("MaturionISMS/example-app");
    let mut set = Set::default();
    let alone = checked(&instruction.to_string(), Form::Json, &set, &Settings::default());
    set.add_checked(&alone);
    let answered = checked(RESPONSES[0], Form::Yaml, &set, &Settings::default());
    assert_eq!(answered.decision.details.diagnostics, []);
    let other = checked(RESPONSES[1], Form::Yaml, &set, &Settings::default());
    assert_eq!(other.decision.code, Some(Code::CorrelationMismatch));

    let mut set = Set::default();
    for contract in ["delegation_instruction", "delegation_response"] {
        set.add_checked(&checked(&example(contract).to_string(), Form::Json, &set, &Settings::default()));
    }
    let entry = checked(&example("audit_entry").to_string(), Form::Json, &set, &Settings::default());
    assert_eq!(entry.decision.details.diagnostics, []);
    set.add_checked(&entry);
    let response = checked(&example("delegation_response").to_string(), Form::Json, &set, &Settings::default());
    assert_eq!(response.decision.details.diagnostics, []);
}

#[test]
fn an_entry_is_read_from_the_front_matter_of_its_file() {
    let json = example("audit_entry").to_string();
    let markdown = format!("---\n{json}\n---\n\n# What happened\n\nThe pull request was closed.\n");
    let decision = checked(&markdown, Form::Markdown, &Set::default(), &Settings::default()).decision;
    assert_eq!(decision.details.diagnostics, []);
    assert_eq!(decision.details.contract.as_deref(), Some("audit_entry"));
}

#[test]
fn the_configuration_names_other_agents() {
    let settings =
        Settings { requesters: vec!["PLANNER".to_owned()], executors: vec!["ROBOT".to_owned()], ..Settings::default() };
    let mut request = example("delegation_instruction");
    request["REQUESTER"]["AGENT_TYPE"] = json!("PLANNER");
    let mut response = example("delegation_response");
    response["EXECUTOR"]["AGENT_TYPE"] = json!("ROBOT");
    for document in [request, response] {
        let text = document.to_string();
        assert!(checked(&text, Form::Json, &Set::default(), &settings).decision.allow, "{text}");
        assert!(!checked(&text, Form::Json, &Set::default(), &Settings::default()).decision.allow, "{text}");
    }
}

#[test]
fn an_unknown_major_version_is_refused_and_a_newer_minor_is_not() {
    for (contract, mark) in [
        ("delegation_instruction", "DELEGATION_INSTRUCTION_VERSION"),
        ("delegation_response", "DELEGATION_RESPONSE_VERSION"),
        ("audit_entry", "PLATFORM_ACTION_AUDIT_VERSION"),
    ] {
        let versioned = |version: &str| {
            let mut document = example(contract);
            document[mark] = json!(version);
            (countersign_domain::contract(contract).unwrap().seal)(&mut document);
            checked(&document.to_string(), Form::Json, &Set::default(), &Settings::default()).decision
        };
        assert_eq!(versioned("2.0").code, Some(Code::UnknownSchemaVersion));
        assert!(versioned("1.7").allow);
        assert_eq!(versioned("1.7").details.diagnostics.len(), 1);
    }
}

/// Whatever a rule of delegation offers as a repair makes its finding go away.
#[test]
fn repairs_mend() {
    let mut mended = Vec::new();
    for contract in countersign_domain::contracts().iter().filter(|it| it.domain == "delegation") {
        for rule in (contract.rules)() {
            for block in prove::blocks(rule.explanation).iter().filter(|it| it.info[1] == "rejected") {
                let mut document = (contract.example)();
                prove::merge(&mut document, &serde_json::from_str(&block.text).unwrap());
                let text = document.to_string();
                let settings = Settings::default();
                let contracts = countersign_domain::contracts();
                let checker = Checker { contracts, foreign: &[], settings: &settings, raised: &[] };
                let outside = Outside::default();
                let request = Request {
                    form: Some(Form::Json),
                    ..Request::alone(Source { name: "document", text: &text }, &outside)
                };
                let first = check(&checker, &request).decision;
                let offers = first.details.diagnostics.iter().any(|it| it.rule == rule.id && it.repair.is_some());
                if !offers {
                    continue;
                }
                let fixed = fix::fix(&checker, &request, None, &mut |_, _| None);
                let left = &fixed.checked.decision.details.diagnostics;
                assert!(!left.iter().any(|it| it.rule == rule.id), "{}: {left:#?}", rule.id);
                mended.push(rule.id);
            }
        }
    }
    mended.dedup();
    let expected = ["evidence-path-invalid", "retry-after-unwanted", "audit-path-mismatch"];
    assert!(expected.iter().all(|rule| mended.contains(rule)), "{mended:?}");
}
