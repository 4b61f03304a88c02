//! What is wrong with an instruction is answered, and not acted on.

use super::*;

#[test]
fn what_is_invalid_is_answered_and_not_acted_on() {
    let shop = Shop::new();
    let sha = shop.commit.clone();
    let branch = || json!({ "BRANCH_NAME": "fix", "SOURCE_SHA": sha });
    let alone = json!({ "REQUESTER": { "AUTHORIZATION_LEVEL": "AUTONOMOUS" } });
    let blocked = json!({ "AUTHORIZATION": { "GOVERNANCE_STATUS": "BLOCKED" } });
    let unproven = json!({ "AUTHORIZATION": { "HUMAN_APPROVAL_EVIDENCE": null } });
    let cases = [
        ("DELETE_BRANCH", json!({ "BRANCH_NAME": "main" }), alone, "REQUESTER.AUTHORIZATION_LEVEL", true),
        ("CREATE_BRANCH", branch(), blocked, "AUTHORIZATION.GOVERNANCE_STATUS", true),
        ("CREATE_BRANCH", branch(), unproven, "AUTHORIZATION.HUMAN_APPROVAL_EVIDENCE", false),
        (
            "CREATE_BRANCH",
            json!({ "BRANCH_NAME": "a..b", "SOURCE_SHA": sha }),
            json!({}),
            "ACTION.PARAMETERS.BRANCH_NAME",
            false,
        ),
        ("CREATE_BRANCH", json!({ "BRANCH_NAME": "fix" }), json!({}), "ACTION.PARAMETERS.SOURCE_SHA", false),
        ("COMMENT_ON_PR", json!({ "PR_NUMBER": 4, "COMMENT_BODY": "hm" }), json!({}), "ACTION.TYPE", true),
    ];
    for (number, (action, parameters, patch, field, beside)) in (1..).zip(cases) {
        let file = shop.instruction_with(number, action, parameters, patch);
        let (answer, response) = shop.delegate(&file);
        assert_eq!(answer.code, 1, "{action}: {answer:?}");
        assert_eq!(response["STATUS"], "INVALID_REQUEST", "{answer:?}");
        let fields: Vec<&Value> =
            response["VALIDATION_ERRORS"].as_array().unwrap().iter().map(|it| &it["FIELD"]).collect();
        assert!(fields.contains(&&json!(field)), "{field}: {response:#}");
        shop.passes(&file, &response, beside);
        let (again, second) = shop.delegate(&file);
        assert_eq!((again.code, &second), (1, &response));
    }
    assert!(!shop.has("refs/heads/fix"));
    assert_eq!(shop.events("delegation.started"), 0);
    // Authority that was lacking is not had by saying so in the next one: a person decides first.
    let parameters = || json!({ "BRANCH_NAME": "other", "SOURCE_SHA": sha });
    let lacking = json!({ "AUTHORIZATION": { "HUMAN_APPROVAL": "NO" } });
    let (_, response) = shop.delegate(&shop.instruction_with(7, "CREATE_BRANCH", parameters(), lacking));
    assert_eq!(response["STATUS"], "INVALID_REQUEST", "{response}");
    let (answer, response) = shop.delegate(&shop.instruction_with(8, "CREATE_BRANCH", parameters(), json!({})));
    assert!(answer.code == 1 && response["STATUS"].is_null(), "{answer:?}");
    assert!(answer.out.contains("AUTHORIZATION_MISSING") && answer.out.contains("a person decides"), "{answer:?}");
    assert!(!shop.has("refs/heads/other"));
}

/// Everything in an instruction that can be missing or wrong, but for its id.
const PARTS: &[&str] = &[
    "DELEGATION_INSTRUCTION_VERSION",
    "TIMESTAMP_UTC",
    "REQUESTER",
    "REQUESTER.AGENT_TYPE",
    "REQUESTER.AGENT_INSTANCE_ID",
    "REQUESTER.REPOSITORY",
    "REQUESTER.AUTHORIZATION_LEVEL",
    "ACTION",
    "ACTION.TYPE",
    "ACTION.PARAMETERS",
    "ACTION.PARAMETERS.BRANCH_NAME",
    "AUTHORIZATION",
    "AUTHORIZATION.GOVERNANCE_STATUS",
    "AUTHORIZATION.GOVERNANCE_EVIDENCE",
    "AUTHORIZATION.QA_STATUS",
    "AUTHORIZATION.QA_EVIDENCE",
    "AUTHORIZATION.HUMAN_APPROVAL",
    "AUTHORIZATION.HUMAN_APPROVAL_EVIDENCE",
    "AUTHORIZATION.ESCALATION_COMPLETED",
    "EXPECTED_OUTCOME",
    "EXPECTED_OUTCOME.SUCCESS_CRITERIA",
    "AUDIT_CONTEXT",
    "AUDIT_CONTEXT.REQUIREMENT_ID",
    "AUDIT_CONTEXT.REASON",
];

#[test]
fn what_cannot_be_read_whole_is_answered_all_the_same() {
    let shop = Shop::new();
    let mut number = 0;
    for part in PARTS {
        for wrong in [json!(null), json!([7]), json!("\u{7}PURPLE ..")] {
            // A text is as good as any where a text is asked for.
            let fits = wrong.is_string() && matches!(*part, "AUDIT_CONTEXT.REQUIREMENT_ID" | "AUDIT_CONTEXT.REASON")
                || wrong.is_string() && part.ends_with("SUCCESS_CRITERIA") | part.ends_with("APPROVAL_EVIDENCE");
            if fits {
                continue;
            }
            number += 1;
            let patch = part.rsplit('.').fold(wrong.clone(), |inner, name| json!({ name: inner }));
            let parameters = json!({ "BRANCH_NAME": "fix", "SOURCE_SHA": shop.commit });
            let file = shop.instruction_with(number, "CREATE_BRANCH", parameters, patch);
            let (answer, response) = shop.delegate(&file);
            assert_eq!(
                (answer.code, &response["STATUS"]),
                (1, &json!("INVALID_REQUEST")),
                "{part} {wrong}: {answer:?}"
            );
            let named = |it: &Value| part.starts_with(it["FIELD"].as_str().unwrap().split('[').next().unwrap());
            let errors = response["VALIDATION_ERRORS"].as_array().unwrap();
            let beneath = |it: &Value| it["FIELD"].as_str().unwrap().starts_with(part);
            assert!(errors.iter().any(|it| named(it) || beneath(it)), "{part} {wrong}: {response:#}");
            shop.passes(&file, &response, false);
            let (again, second) = shop.delegate(&file);
            assert_eq!((again.code, &second), (1, &response));
        }
    }
    assert!(!shop.has("refs/heads/fix"));
    let counts = ["received", "audited", "answered", "started"].map(|it| shop.events(&format!("delegation.{it}")));
    let number = number as usize;
    assert_eq!(counts, [number, number, number, 0]);
    // What was given is on record, and what was not is called so.
    let kept = |number: u32| {
        let day = &jiff::Timestamp::now().to_string()[..10];
        shop.house.read(&format!(".evidence/platform-actions/{}/PAA-{day}-{number:03}.md", &day[..7]))
    };
    let all: String = (1..=u32::try_from(number).unwrap()).map(kept).collect();
    for said in ["AS_GIVEN: \\\\u{7}PURPLE", "NOT_GIVEN", "NOT_TEXT"] {
        assert!(all.contains(said), "{said}: {all}");
    }
}

#[test]
fn who_is_not_known_and_what_is_yet_to_come_is_answered() {
    let shop = Shop::new();
    let nobody = json!({ "REQUESTER": { "AGENT_TYPE": "STRANGER" } });
    let late = json!({ "TIMESTAMP_UTC": "2999-01-01T00:00:00Z" });
    for (number, (patch, field, beside)) in
        (1..).zip([(nobody, "REQUESTER.AGENT_TYPE", false), (late, "TIMESTAMP_UTC", true)])
    {
        let parameters = json!({ "BRANCH_NAME": "fix", "SOURCE_SHA": shop.commit });
        let file = shop.instruction_with(number, "CREATE_BRANCH", parameters, patch);
        let (answer, response) = shop.delegate(&file);
        assert_eq!((answer.code, &response["STATUS"]), (1, &json!("INVALID_REQUEST")), "{answer:?}");
        assert_eq!(response["VALIDATION_ERRORS"][0]["FIELD"], field, "{response:#}");
        shop.passes(&file, &response, beside);
    }
}

#[test]
fn what_has_no_id_is_refused() {
    let shop = Shop::new();
    for (number, patch) in (1..).zip([json!({ "INSTRUCTION_ID": "DI-1" }), json!({ "INSTRUCTION_ID": null })]) {
        let parameters = json!({ "BRANCH_NAME": "fix", "SOURCE_SHA": shop.commit });
        let file = shop.instruction_with(number, "CREATE_BRANCH", parameters, patch);
        let (answer, refusal) = shop.delegate(&file);
        assert_eq!((answer.code, &refusal["allow"]), (1, &json!(false)), "{answer:?}");
    }
    shop.house.write("broken.yaml", "INSTRUCTION_ID: [\n");
    assert_eq!(shop.delegate("broken.yaml").0.code, 1);
    // Another instruction under an id that was seen.
    let file = shop.branch(7, "one");
    assert_eq!(shop.delegate(&file).0.code, 0);
    let file = shop.branch(7, "two");
    let (answer, refusal) = shop.delegate(&file);
    assert_eq!((answer.code, &refusal["code"]), (1, &json!("CORRELATION_MISMATCH")), "{answer:?}");
    assert!(!shop.has("refs/heads/two"));
    assert_eq!(shop.events("delegation.received"), 1);
}
