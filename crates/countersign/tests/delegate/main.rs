//! Delegation through the binary, with git in real repositories: acted on once, with an audit entry and a response that pass.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod answers;
mod copies;
#[path = "../house/mod.rs"]
mod house;
mod killed;
#[path = "../walkthrough/mod.rs"]
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

    /// The same for another requirement.
    fn requiring(&self, number: u32, requirement: &str, name: &str) -> String {
        let parameters = json!({ "BRANCH_NAME": name, "SOURCE_SHA": self.commit });
        let patch = json!({ "AUDIT_CONTEXT": { "REQUIREMENT_ID": requirement } });
        self.instruction_with(number, "CREATE_BRANCH", parameters, patch)
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
fn what_git_cannot_do_is_not_tried_and_nothing_is_overwritten() {
    let shop = Shop::new();
    let sha = shop.commit.clone();
    let tree = shop.git(&["rev-parse", "HEAD^{tree}"]);
    for name in ["taken", "feat/x", "deep/er/still"] {
        shop.git(&["branch", name]);
        shop.git(&["tag", name]);
    }
    let absent = "1f0c3a5b7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80";
    let branch = |name: &str, sha: &str| ("CREATE_BRANCH", json!({ "BRANCH_NAME": name, "SOURCE_SHA": sha }));
    let tag = |name: &str, sha: &str| {
        ("CREATE_TAG", json!({ "TAG_NAME": name, "TARGET_SHA": sha, "TAG_TYPE": "lightweight" }))
    };
    let delete = |name: &str| ("DELETE_BRANCH", json!({ "BRANCH_NAME": name }));
    let cases = [
        (branch("taken", &sha), "BRANCH_NAME", "is there already"),
        (branch("new", absent), "SOURCE_SHA", "has no commit"),
        (branch("new", &tree), "SOURCE_SHA", "has no commit"),
        (branch("feat/x/y", &sha), "BRANCH_NAME", "cannot be beside branch feat/x:"),
        (branch("feat/x/y/z", &sha), "BRANCH_NAME", "cannot be beside branch feat/x:"),
        (branch("deep", &sha), "BRANCH_NAME", "cannot be beside branch deep/er/still:"),
        (branch("deep/er", &sha), "BRANCH_NAME", "cannot be beside branch deep/er/still:"),
        (delete("absent"), "BRANCH_NAME", "there is no branch absent"),
        (delete("feat"), "BRANCH_NAME", "there is no branch feat"),
        (tag("taken", &sha), "TAG_NAME", "is there already"),
        (tag("v1", &tree), "TARGET_SHA", "has no commit"),
        (tag("feat/x/y", &sha), "TAG_NAME", "cannot be beside tag feat/x:"),
        (("DELETE_TAG", json!({ "TAG_NAME": "v9" })), "TAG_NAME", "there is no tag v9"),
        (branch(&"x".repeat(100_000), &sha), "BRANCH_NAME", "has a part of 100000 bytes"),
        (branch(&"ö".repeat(126), &sha), "BRANCH_NAME", "has a part of 252 bytes"),
        (tag("x/".repeat(600).trim_end_matches('/'), &sha), "TAG_NAME", "has 1199 bytes"),
    ];
    let before = shop.git(&["for-each-ref"]);
    for (number, ((action, parameters), field, says)) in (1..).zip(cases) {
        let file = shop.instruction(number, action, parameters);
        let (answer, response) = shop.delegate(&file);
        assert_eq!((answer.code, &response["STATUS"]), (1, &json!("INVALID_REQUEST")), "{action}: {answer:?}");
        let error = &response["VALIDATION_ERRORS"][0];
        assert_eq!(error["FIELD"], format!("ACTION.PARAMETERS.{field}"), "{response:#}");
        assert!(error["ERROR"].as_str().unwrap().contains(says), "{says}: {response:#}");
        shop.passes(&file, &response, true);
    }
    assert_eq!(shop.events("delegation.started"), 0);
    // What forbids it is for the one who has the branch to change.
    let file = shop.instruction(20, "DELETE_BRANCH", json!({ "BRANCH_NAME": "main" }));
    let (_, response) = shop.delegate(&file);
    assert_eq!(
        (&response["STATUS"], &response["FAILURE_DETAILS"]["ERROR_TYPE"]),
        (&json!("BLOCKED"), &json!("PLATFORM_CONSTRAINT"))
    );
    shop.passes(&file, &response, true);
    assert_eq!(shop.git(&["for-each-ref"]), before);
    // Names that only begin alike are no obstacle.
    for (number, name) in [(21, "feat/xy"), (22, "feat/x-y/z"), (23, "tak")] {
        let (answer, _) = shop.delegate(&shop.requiring(number, "REQ-2", name));
        assert_eq!(answer.code, 0, "{name}: {answer:?}");
    }
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
fn the_requester_is_told_what_to_do_next() {
    let shop = Shop::new();
    let next = |file: &str| {
        let answer = shop.house.run(&["delegate", "--next", &file.replace(".json", ""), "--format", "json"]);
        serde_json::from_str::<Value>(&answer.out).unwrap()["step"].as_str().unwrap().to_owned()
    };
    let done = shop.branch(1, "fix");
    shop.delegate(&done);
    assert_eq!(next(&done), "proceed");
    assert_eq!(shop.house.run(&["delegate", "--alerts"]).code, 0);
    // Somebody else seems to be about to change it, and git does not say that it never ends.
    shop.house.write(".git/refs/heads/busy.lock", "");
    let mut steps = Vec::new();
    for number in 2..6 {
        let file = shop.branch(number, "busy");
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
