//! Delegation through the binary, with git in real repositories: acted on once, with an audit entry and a response that pass.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;
mod walkthrough;

use house::{Answer, House, document};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A project in a git repository with one commit.
struct Shop {
    house: House,
    commit: String,
}

impl Shop {
    fn new() -> Self {
        let house = House::new();
        house
            .write("README.md", "shop\n")
            .write(".governance/compliance-check.md", "ok\n")
            .write(".qa/ok.json", "{}\n");
        let shop = Self { house, commit: String::new() };
        shop.git(&["init", "-q", "-b", "main"]);
        shop.git(&["add", "README.md"]);
        shop.git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "begin"]);
        let commit = shop.git(&["rev-parse", "HEAD"]);
        let shop = Self { commit, ..shop };
        let begun = shop.house.run(&["init", "--name", "shop"]);
        assert_eq!(begun.code, 0, "{begun:?}");
        shop
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git").args(arguments).current_dir(self.house.path("")).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn has(&self, name: &str) -> bool {
        let arguments = ["rev-parse", "-q", "--verify", name];
        let output = Command::new("git").args(arguments).current_dir(self.house.path("")).output().unwrap();
        output.status.success()
    }

    /// An instruction of a moment ago, with an action on it.
    fn instruction(&self, number: u32, action: &str, parameters: Value) -> String {
        self.instruction_with(number, action, parameters, json!({}))
    }

    fn instruction_with(&self, number: u32, action: &str, parameters: Value, patch: Value) -> String {
        let given = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(2);
        let given = jiff::Timestamp::from_second(given.as_second()).unwrap().to_string();
        let id = format!("DI-{}-{number:03}", &given[..10]);
        let mut text = document(
            "delegation_instruction",
            json!({
                "INSTRUCTION_ID": id, "TIMESTAMP_UTC": given,
                "AUTHORIZATION": { "QA_EVIDENCE": ".qa/ok.json" },
            }),
        );
        text["ACTION"] = json!({ "TYPE": action, "PARAMETERS": parameters });
        countersign_contract::prove::merge(&mut text, &patch);
        let name = format!("{id}.json");
        self.house.write(&name, text.to_string());
        name
    }

    fn branch(&self, number: u32, name: &str) -> String {
        self.instruction(number, "CREATE_BRANCH", json!({ "BRANCH_NAME": name, "SOURCE_SHA": self.commit }))
    }

    fn delegate(&self, file: &str) -> (Answer, Value) {
        self.delegate_to(file, "git")
    }

    fn delegate_to(&self, file: &str, executor: &str) -> (Answer, Value) {
        let answer = self.house.run(&["delegate", file, "--executor", executor, "--format", "json"]);
        let response = serde_json::from_str(&answer.out).unwrap_or_default();
        (answer, response)
    }

    /// The response and the entry pass their checks, with each other and, if it can stand beside them, the instruction.
    fn passes(&self, file: &str, response: &Value, with_instruction: bool) {
        self.house.write("response.json", response.to_string());
        let path = response["AUDIT_ENTRY_PATH"].as_str().unwrap();
        let instruction: &[&str] = if with_instruction { &["--with", file] } else { &[] };
        for (document, other) in [("response.json", path), (path, "response.json")] {
            let checked = self.house.run(&[&["check", document, "--strict", "--with", other], instruction].concat());
            assert_eq!(checked.code, 0, "{document}: {checked:?}\n{response:#}\n{}", self.house.read(path));
        }
    }

    fn events(&self, kind: &str) -> usize {
        let log = self.house.run(&["log", "--format", "json"]);
        let of_kind = |line: &&str| serde_json::from_str::<Value>(line).unwrap()["event"]["kind"] == kind;
        log.out.lines().filter(of_kind).count()
    }

    fn spawn(&self, file: &str, out: Stdio, path: Option<&str>) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(["delegate", file, "--format", "json"]).current_dir(self.house.path(""));
        let foreign = std::env::vars_os().map(|it| it.0).filter(|it| it.to_string_lossy().starts_with("COUNTERSIGN_"));
        foreign.for_each(|name| {
            command.env_remove(name);
        });
        command.env("COUNTERSIGN_HOME", self.house.path(".home"));
        if let Some(path) = path {
            command.env("PATH", format!("{path}:{}", std::env::var("PATH").unwrap()));
        }
        command.stdin(Stdio::null()).stdout(out).stderr(Stdio::piped()).spawn().unwrap()
    }
}

#[test]
fn branches_and_tags_are_made_and_deleted_once() {
    let shop = Shop::new();
    let sha = shop.commit.clone();
    let cases: [(&str, Value, &str, bool); 5] = [
        ("CREATE_BRANCH", json!({ "BRANCH_NAME": "fix/größe", "SOURCE_SHA": sha }), "refs/heads/fix/größe", true),
        (
            "CREATE_TAG",
            json!({ "TAG_NAME": "v1", "TARGET_SHA": sha.to_uppercase(), "TAG_TYPE": "lightweight" }),
            "refs/tags/v1",
            true,
        ),
        (
            "CREATE_TAG",
            json!({ "TAG_NAME": "v2", "TARGET_SHA": sha, "TAG_TYPE": "annotated", "MESSAGE": "second\n\n# not a comment" }),
            "refs/tags/v2",
            true,
        ),
        ("DELETE_TAG", json!({ "TAG_NAME": "v1" }), "refs/tags/v1", false),
        ("DELETE_BRANCH", json!({ "BRANCH_NAME": "fix/größe" }), "refs/heads/fix/größe", false),
    ];
    for (number, (action, parameters, name, there)) in (1..).zip(cases) {
        let file = shop.instruction(number, action, parameters);
        let (answer, response) = shop.delegate(&file);
        assert_eq!(answer.code, 0, "{action}: {answer:?}");
        assert_eq!(response["STATUS"], "SUCCESS");
        assert_eq!(shop.has(name), there, "{action}");
        shop.passes(&file, &response, true);
        // A second time nothing is done, and the answer is the same, even where it would be possible to do it again.
        if !there && name == "refs/tags/v1" {
            shop.git(&["tag", "v1"]);
        }
        let before = shop.git(&["for-each-ref"]);
        let (again, second) = shop.delegate(&file);
        assert_eq!((again.code, &second), (0, &response));
        assert_eq!(shop.git(&["for-each-ref"]), before);
    }
    assert_eq!(shop.git(&["cat-file", "-t", "v2"]), "tag");
    assert!(shop.git(&["cat-file", "-p", "v2"]).ends_with("second\n\n# not a comment"));
    assert_eq!((shop.events("delegation.received"), shop.events("delegation.started")), (5, 5));
    assert_eq!((shop.events("delegation.audited"), shop.events("delegation.answered")), (5, 5));
    assert_eq!(shop.house.run(&["verify"]).code, 0);
}

#[test]
fn what_git_refuses_is_a_failure_and_nothing_is_overwritten() {
    let shop = Shop::new();
    let sha = shop.commit.clone();
    shop.git(&["branch", "taken"]);
    shop.git(&["branch", "a"]);
    let absent = "1f0c3a5b7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80";
    let cases = [
        ("CREATE_BRANCH", json!({ "BRANCH_NAME": "taken", "SOURCE_SHA": sha }), "FAILURE", "VALIDATION_FAILURE"),
        ("CREATE_BRANCH", json!({ "BRANCH_NAME": "new", "SOURCE_SHA": absent }), "FAILURE", "VALIDATION_FAILURE"),
        ("CREATE_BRANCH", json!({ "BRANCH_NAME": "a/b", "SOURCE_SHA": sha }), "FAILURE", "API_ERROR"),
        ("DELETE_BRANCH", json!({ "BRANCH_NAME": "absent" }), "FAILURE", "VALIDATION_FAILURE"),
        ("DELETE_BRANCH", json!({ "BRANCH_NAME": "main" }), "BLOCKED", "PLATFORM_CONSTRAINT"),
        ("DELETE_TAG", json!({ "TAG_NAME": "v9" }), "FAILURE", "VALIDATION_FAILURE"),
    ];
    let before = shop.git(&["for-each-ref"]);
    for (number, (action, parameters, status, kind)) in (1..).zip(cases) {
        let file = shop.instruction(number, action, parameters);
        let (answer, response) = shop.delegate(&file);
        assert_eq!(answer.code, 1, "{action}: {answer:?}");
        assert_eq!((&response["STATUS"], &response["FAILURE_DETAILS"]["ERROR_TYPE"]), (&json!(status), &json!(kind)));
        shop.passes(&file, &response, true);
    }
    assert_eq!(shop.git(&["for-each-ref"]), before);
}

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

#[test]
fn a_dry_run_does_nothing_and_says_so() {
    let shop = Shop::new();
    let file = shop.branch(1, "fix");
    let (answer, response) = shop.delegate_to(&file, "dry-run");
    assert_eq!((answer.code, &response["STATUS"]), (1, &json!("INVALID_REQUEST")), "{answer:?}");
    assert!(response["VALIDATION_ERRORS"][0]["ERROR"].as_str().unwrap().contains("dry run, and nothing was done"));
    shop.passes(&file, &response, true);
    // The id was used up.
    assert_eq!(shop.delegate(&file).1, response);
    assert!(!shop.has("refs/heads/fix"));
}

#[test]
fn another_repository_is_not_acted_on() {
    let shop = Shop::new();
    shop.git(&["remote", "add", "origin", "git@github.com:acme/warehouse.git"]);
    let (answer, response) = shop.delegate(&shop.branch(1, "fix"));
    assert_eq!((answer.code, &response["STATUS"]), (1, &json!("INVALID_REQUEST")), "{answer:?}");
    shop.git(&["remote", "set-url", "origin", "https://github.com/Acme/Shop"]);
    let (answer, response) = shop.delegate(&shop.branch(2, "fix"));
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(response["PLATFORM_EVIDENCE"]["RESOURCE_URL"], "https://github.com/acme/shop/tree/fix");
    // There is nothing there yet, and the record does not claim it.
    assert_eq!(response["PLATFORM_EVIDENCE"]["RESOURCE_STATE"], "created, not pushed");
    let entry = shop.house.read(response["AUDIT_ENTRY_PATH"].as_str().unwrap());
    assert!(entry.contains("in this clone alone") && entry.contains("pushed nowhere"), "{entry}");
}

#[test]
fn what_is_not_right_and_does_not_stand_against_it_is_said() {
    let shop = Shop::new();
    let parameters = json!({ "BRANCH_NAME": "fix", "SOURCE_SHA": shop.commit });
    let patch = json!({ "AUTHORIZATION": { "GOVERNANCE_EVIDENCE": ".governance/absent.md" } });
    let (answer, response) = shop.delegate(&shop.instruction_with(1, "CREATE_BRANCH", parameters, patch));
    assert_eq!((answer.code, &response["STATUS"]), (0, &json!("SUCCESS")), "{answer:?}");
    assert!(answer.err.contains("warning: /AUTHORIZATION/GOVERNANCE_EVIDENCE: "), "{answer:?}");
    // Nothing is said where there is nothing to say.
    assert_eq!(shop.delegate(&shop.branch(2, "other")).0.err, "");
}

#[test]
fn each_copy_of_a_repository_reserves_ids_that_no_entry_there_has() {
    let (one, other) = (Shop::new(), Shop::new());
    let (_, first) = one.delegate(&one.branch(1, "x"));
    let path = first["AUDIT_ENTRY_PATH"].as_str().unwrap();
    let kept = one.house.read(path);
    other.house.write(path, &kept);
    for (number, name) in [(2, "y"), (3, "z")] {
        let file = other.branch(number, name);
        let (answer, response) = other.delegate(&file);
        assert_eq!((answer.code, &response["STATUS"]), (0, &json!("SUCCESS")), "{answer:?}");
        for id in ["RESPONSE_ID", "AUDIT_ENTRY_ID"] {
            assert!(response[id].as_str().unwrap().ends_with(&format!("-{number:03}")), "{response:#}");
        }
        other.passes(&file, &response, true);
    }
    assert_eq!(other.house.read(path), kept);
    assert_eq!(other.house.run(&["verify"]).code, 0);
}

#[test]
fn the_requester_is_told_what_to_do_next() {
    let shop = Shop::new();
    shop.git(&["branch", "a"]);
    let next = |file: &str| {
        let answer = shop.house.run(&["delegate", "--next", &file.replace(".json", ""), "--format", "json"]);
        serde_json::from_str::<Value>(&answer.out).unwrap()["step"].as_str().unwrap().to_owned()
    };
    let done = shop.branch(1, "fix");
    shop.delegate(&done);
    assert_eq!(next(&done), "proceed");
    assert_eq!(shop.house.run(&["delegate", "--alerts"]).code, 0);
    // A branch beneath another cannot be made, and git does not say that it never will be.
    let mut steps = Vec::new();
    for number in 2..6 {
        let file = shop.branch(number, "a/b");
        shop.delegate(&file);
        steps.push(next(&file));
    }
    assert_eq!(steps, ["retry", "retry", "retry", "escalate"]);
    let blocked = shop.instruction(6, "DELETE_BRANCH", json!({ "BRANCH_NAME": "main" }));
    shop.delegate(&blocked);
    assert_eq!(next(&blocked), "wait");
    let wrong = shop.branch(7, "a..b");
    shop.delegate(&wrong);
    assert_eq!(next(&wrong), "correct");
    let alerts = shop.house.run(&["delegate", "--alerts"]);
    assert!(alerts.code == 1 && alerts.out.contains("failure_rate: 5 of 7"), "{alerts:?}");
    assert_eq!(shop.house.run(&["delegate"]).code, 2);
}

#[test]
fn a_secret_appears_nowhere() {
    let canary = format!("ghp_{}", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    let shop = Shop::new();
    let (sha, tag) = (shop.commit.clone(), "CREATE_TAG");
    let cases = [
        ("CREATE_BRANCH", json!({ "BRANCH_NAME": canary, "SOURCE_SHA": sha })),
        ("CREATE_BRANCH", json!({ "BRANCH_NAME": "fix", "SOURCE_SHA": canary })),
        ("DELETE_BRANCH", json!({ "BRANCH_NAME": canary })),
        (tag, json!({ "TAG_NAME": canary, "TARGET_SHA": sha, "TAG_TYPE": "lightweight" })),
        (tag, json!({ "TAG_NAME": "v1", "TARGET_SHA": sha, "TAG_TYPE": canary })),
        (tag, json!({ "TAG_NAME": "v1", "TARGET_SHA": sha, "TAG_TYPE": "annotated", "MESSAGE": canary })),
        ("DELETE_TAG", json!({ "TAG_NAME": canary })),
        ("CREATE_BRANCH", json!({ "BRANCH_NAME": "fix", "SOURCE_SHA": sha, canary.as_str(): "x" })),
    ];
    for (number, (action, parameters)) in (1..).zip(cases) {
        let file = shop.instruction(number, action, parameters);
        for format in ["json", "text"] {
            let answer = shop.house.run(&["delegate", &file, "--format", format]);
            assert_eq!(answer.code, 1, "{answer:?}");
            assert!(!answer.out.contains(&canary) && !answer.err.contains(&canary), "{answer:?}");
            if format == "text" {
                continue;
            }
            // It is answered, with an entry, and with where the secret is.
            let response: Value = serde_json::from_str(&answer.out).unwrap();
            assert_eq!(response["STATUS"], "INVALID_REQUEST", "{response:#}");
            let errors = response["VALIDATION_ERRORS"].as_array().unwrap();
            let of_secret = errors.iter().find(|it| it["ERROR"].as_str().unwrap().contains("secret")).unwrap();
            assert!(of_secret["FIELD"].as_str().unwrap().starts_with("ACTION.PARAMETERS"), "{response:#}");
            assert!(shop.house.path(response["AUDIT_ENTRY_PATH"].as_str().unwrap()).exists());
        }
        std::fs::remove_file(shop.house.path(&file)).unwrap();
    }
    // Nor where it could be taken for a name.
    let parts = [
        ("REPOSITORY", json!({ "REQUESTER": { "REPOSITORY": format!("acme/{canary}") } })),
        ("AGENT_INSTANCE_ID", json!({ "REQUESTER": { "AGENT_INSTANCE_ID": canary } })),
        ("REASON", json!({ "AUDIT_CONTEXT": { "REASON": canary } })),
        ("GOVERNANCE_EVIDENCE", json!({ "AUTHORIZATION": { "GOVERNANCE_EVIDENCE": canary } })),
    ];
    for (number, (part, patch)) in (20..).zip(parts) {
        for executor in ["git", "dry-run"] {
            let number = if executor == "git" { number } else { number + 20 };
            let parameters = json!({ "BRANCH_NAME": "fix", "SOURCE_SHA": sha });
            let file = shop.instruction_with(number, "CREATE_BRANCH", parameters, patch.clone());
            let (answer, response) = shop.delegate_to(&file, executor);
            assert_eq!((answer.code, &response["STATUS"]), (1, &json!("INVALID_REQUEST")), "{part}: {answer:?}");
            assert!(!answer.out.contains(&canary) && !answer.err.contains(&canary), "{answer:?}");
            std::fs::remove_file(shop.house.path(&file)).unwrap();
            std::fs::remove_file(shop.house.path("response.json")).ok();
        }
    }
    assert!(!shop.has("refs/heads/fix"));
    for (path, bytes) in shop.house.all() {
        let found = bytes.windows(canary.len()).any(|part| part == canary.as_bytes());
        assert!(!found, "{}", path.display());
    }
}

#[test]
fn an_entry_that_was_changed_is_not_overwritten() {
    let shop = Shop::new();
    let file = shop.branch(1, "fix");
    let (_, response) = shop.delegate(&file);
    let path = response["AUDIT_ENTRY_PATH"].as_str().unwrap();
    let kept = shop.house.read(path);
    shop.house.write(path, kept.replace("refs/heads/fix", "refs/heads/fox"));
    let (answer, _) = shop.delegate(&file);
    assert_eq!((answer.code, answer.out.as_str()), (3, ""), "{answer:?}");
    std::fs::remove_file(shop.house.path(path)).unwrap();
    assert_eq!(shop.delegate(&file).1, response);
    assert_eq!(shop.house.read(path), kept);
}

#[test]
fn two_processes_with_one_instruction_act_once() {
    let shop = Shop::new();
    let file = shop.branch(1, "fix");
    let both: Vec<Child> = (0..4).map(|_| shop.spawn(&file, Stdio::piped(), None)).collect();
    let outputs: Vec<_> = both.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    for output in &outputs {
        assert!(output.status.success(), "{output:?}");
        assert_eq!(output.stdout, outputs[0].stdout);
    }
    assert_eq!((shop.events("delegation.started"), shop.events("delegation.answered")), (1, 1));
}

/// Kills what was started, by its own id, and waits for its end.
fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn wait_until(what: &str, is: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is() {
        assert!(Instant::now() < until, "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// After a kill: the same instruction is carried out to its end, and only once.
fn goes_on(shop: &Shop, file: &str, started: usize) {
    let (answer, response) = shop.delegate(file);
    assert_eq!((answer.code, &response["STATUS"]), (0, &json!("SUCCESS")), "{answer:?}");
    shop.passes(file, &response, true);
    assert_eq!(shop.delegate(file).1, response);
    assert_eq!(shop.git(&["rev-parse", "refs/heads/fix"]), shop.commit);
    assert_eq!(shop.git(&["reflog", "show", "--format=%gs", "refs/heads/fix"]).lines().count(), 1);
    assert_eq!((shop.events("delegation.started"), shop.events("delegation.answered")), (started, 1));
    assert_eq!(shop.house.run(&["verify"]).code, 0);
}

#[test]
fn killed_between_receiving_and_beginning() {
    let shop = Shop::new();
    let file = shop.branch(1, "fix");
    // Whoever holds the lock of the instruction keeps it from being begun.
    std::fs::create_dir_all(shop.house.path(".countersign/delegations")).unwrap();
    let lock = shop.house.path(&format!(".countersign/delegations/{}", file.replace(".json", ".lock")));
    let held = std::fs::File::create(lock).unwrap();
    held.lock().unwrap();
    let child = shop.spawn(&file, Stdio::null(), None);
    wait_until("the instruction", || shop.events("delegation.received") == 1);
    kill(child);
    drop(held);
    assert!(!shop.has("refs/heads/fix"));
    goes_on(&shop, &file, 1);
}

/// A `git` that kills whoever calls it, before or after it has done what was asked.
fn deadly_git(shop: &Shop, before: bool) -> String {
    let real = Command::new("sh").args(["-c", "command -v git"]).output().unwrap();
    let real = String::from_utf8(real.stdout).unwrap().trim().to_owned();
    let act = format!("'{real}' \"$@\" </dev/null");
    let act = if before { String::new() } else { act };
    let script = format!(
        "#!/bin/sh\nfor word in \"$@\"; do\n  if [ \"$word\" = update-ref ]; then\n    {act}\n    kill -9 $PPID\n    exit 1\n  fi\ndone\nexec '{real}' \"$@\"\n"
    );
    shop.house.write("bin/git", script);
    let path = shop.house.path("bin/git");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    shop.house.path("bin").display().to_string()
}

#[test]
fn killed_before_and_after_acting() {
    for before in [true, false] {
        let shop = Shop::new();
        let file = shop.branch(1, "fix");
        let path = deadly_git(&shop, before);
        let ended = shop.spawn(&file, Stdio::null(), Some(&path)).wait_with_output().unwrap();
        assert_eq!(ended.status.code(), None, "{ended:?}");
        assert_eq!(shop.has("refs/heads/fix"), !before);
        assert_eq!((shop.events("delegation.started"), shop.events("delegation.answered")), (1, 0));
        goes_on(&shop, &file, 2);
    }
}

#[test]
fn what_was_deleted_before_a_kill_is_not_deleted_from_whoever_made_it_anew() {
    for (action, parameters, name) in [
        ("DELETE_BRANCH", json!({ "BRANCH_NAME": "doomed" }), "refs/heads/doomed"),
        ("DELETE_TAG", json!({ "TAG_NAME": "doomed" }), "refs/tags/doomed"),
    ] {
        for before in [true, false] {
            let shop = Shop::new();
            shop.git(&["update-ref", name, "HEAD"]);
            let file = shop.instruction(1, action, parameters.clone());
            let path = deadly_git(&shop, before);
            let ended = shop.spawn(&file, Stdio::null(), Some(&path)).wait_with_output().unwrap();
            assert_eq!((ended.status.code(), shop.has(name)), (None, before), "{ended:?}");
            if !before {
                let valuable =
                    ["-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", "valuable", "HEAD^{tree}"];
                let valuable = shop.git(&valuable);
                shop.git(&["update-ref", name, &valuable]);
            }
            let (answer, response) = shop.delegate(&file);
            shop.passes(&file, &response, true);
            // What is still as it was is deleted; what is not may be somebody else's.
            assert_eq!(shop.has(name), !before, "{answer:?}");
            assert_eq!(response["STATUS"], if before { "SUCCESS" } else { "FAILURE" }, "{answer:?}");
            if !before {
                assert_eq!(response["FAILURE_DETAILS"]["RETRY_ALLOWED"], "NO");
                let inbox = shop.house.run(&["inbox"]);
                assert!(inbox.out.contains("nobody knows whether it was done"), "{inbox:?}");
            }
        }
    }
}

#[test]
fn killed_between_the_record_and_the_file_of_the_entry() {
    let shop = Shop::new();
    let file = shop.branch(1, "fix");
    // A pipe that nobody writes to keeps the entry from being written.
    let today = jiff::Timestamp::now().to_string()[..10].to_owned();
    let pipe = shop.house.path(&format!(".evidence/platform-actions/{}/PAA-{today}-001.md", &today[..7]));
    std::fs::create_dir_all(pipe.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let child = shop.spawn(&file, Stdio::piped(), None);
    wait_until("the answer", || shop.events("delegation.answered") == 1);
    kill(child);
    std::fs::remove_file(&pipe).unwrap();
    goes_on(&shop, &file, 1);
}

#[test]
fn killed_between_the_file_of_the_entry_and_the_response() {
    let shop = Shop::new();
    let file = shop.branch(1, "fix");
    // A pipe that is full and that nobody reads keeps the response from being printed.
    let (reader, mut writer) = std::io::pipe().unwrap();
    let full = writer.try_clone().unwrap();
    let filler = std::thread::spawn(move || {
        let _ = std::io::Write::write_all(&mut writer, &[b' '; 1 << 20]);
    });
    std::thread::sleep(Duration::from_millis(200));
    let child = shop.spawn(&file, Stdio::from(full), None);
    let folder = shop.house.path(".evidence/platform-actions");
    let is_written = || {
        let months = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut entries = months.flat_map(|month| std::fs::read_dir(month.path()).into_iter().flatten().flatten());
        entries.any(|entry| entry.path().extension().is_some_and(|it| it == "md"))
    };
    wait_until("the entry", is_written);
    kill(child);
    drop(reader);
    filler.join().unwrap();
    goes_on(&shop, &file, 1);
}

/// The section on plans of the page, played: its files are written, and each command prints what is shown.
#[test]
fn the_page_on_delegation_is_true() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/delegation.md");
    let page = std::fs::read_to_string(page).unwrap();
    let shop = Shop::new();
    for name in ["release.yaml", "plan.yaml"] {
        let block = page.split(&format!("```yaml {name}\n")).nth(1).unwrap().split("```").next().unwrap();
        shop.house.write(name, block);
    }
    assert_eq!(walkthrough::play(&shop.house, &page, &["lead", "you"]), 7);
    assert_eq!(shop.git(&["rev-parse", "v1.0"]), shop.commit);
    assert_eq!(shop.house.run(&["verify"]).code, 0);
}
