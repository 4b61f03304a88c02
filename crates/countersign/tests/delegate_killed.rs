//! An executor that is killed while a platform holds its request, between any two steps: whoever hands the same instruction in
//! again goes on, and what was done is not done again.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod forge;
mod house;

use forge::{Forge, SHA};
use house::{Answer, House, document};
use serde_json::{Value, json};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const TOKEN: &str = "token-of-a-test";

struct Shop {
    house: House,
    forge: Forge,
    file: String,
}

impl Shop {
    fn new(action: &str, parameters: &Value) -> Self {
        let house = House::new();
        house.write(".governance/compliance-check.md", "ok\n").write(".qa/results-2025-12-25.json", "{}\n");
        assert_eq!(house.run(&["init", "--name", "shop"]).code, 0);
        let given = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(2);
        let given = jiff::Timestamp::from_second(given.as_second()).unwrap().to_string();
        let id = format!("DI-{}-001", &given[..10]);
        let mut text = document("delegation_instruction", json!({ "INSTRUCTION_ID": id, "TIMESTAMP_UTC": given }));
        text["ACTION"] = json!({ "TYPE": action, "PARAMETERS": parameters });
        let file = format!("{id}.json");
        house.write(&file, text.to_string());
        Self { house, forge: Forge::new(), file }
    }

    fn arguments(&self) -> [&str; 8] {
        let (file, url) = (self.file.as_str(), self.forge.url.as_str());
        ["delegate", file, "--executor", "github", "--github-url", url, "--format", "json"]
    }

    fn spawn(&self) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(self.arguments()).current_dir(self.house.path(""));
        let foreign = std::env::vars_os().map(|it| it.0).filter(|it| it.to_string_lossy().starts_with("COUNTERSIGN_"));
        foreign.for_each(|name| {
            command.env_remove(name);
        });
        command.env("COUNTERSIGN_HOME", self.house.path(".home")).env("GITHUB_TOKEN", TOKEN);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn delegate(&self) -> (Answer, Value) {
        let answer = self.house.run_with(&self.arguments(), "", &[("GITHUB_TOKEN", TOKEN)]);
        let response = serde_json::from_str(&answer.out).unwrap_or_default();
        (answer, response)
    }

    fn events(&self, kind: &str) -> usize {
        let log = self.house.run(&["log", "--format", "json"]);
        let of_kind = |line: &&str| serde_json::from_str::<Value>(line).unwrap()["event"]["kind"] == kind;
        log.out.lines().filter(of_kind).count()
    }

    /// Where its audit entry will lie.
    fn entry(&self) -> std::path::PathBuf {
        let today = jiff::Timestamp::now().to_string()[..10].to_owned();
        self.house.path(&format!(".evidence/platform-actions/{}/PAA-{today}-001.md", &today[..7]))
    }
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// How far an executor came before it was killed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Killed {
    /// The platform had the request, and had not done it.
    BeforeActing,
    /// The platform had done it, and had not answered.
    AfterActing,
    /// The platform had answered, and the ledger did not have it yet.
    BeforeTheRecord,
    /// The ledger had entry and response, and the file of the entry was not written.
    BeforeTheFile,
    /// The file was written, and the response not printed.
    BeforeTheResponse,
}

fn killed_at(shop: &Shop, point: Killed, request: &str, read: (&str, usize), verified: &str) {
    let (path, after) = read;
    match point {
        Killed::BeforeActing => shop.forge.hold(request, false, 0),
        Killed::AfterActing => shop.forge.hold(request, true, 0),
        Killed::BeforeTheRecord => shop.forge.hold(path, true, after),
        Killed::BeforeTheResponse => shop.forge.hold(verified, true, 0),
        Killed::BeforeTheFile => {
            // A pipe that nobody writes to keeps the entry from being written.
            std::fs::create_dir_all(shop.entry().parent().unwrap()).unwrap();
            assert!(Command::new("mkfifo").arg(shop.entry()).status().unwrap().success());
        }
    }
    let child = shop.spawn();
    if point == Killed::BeforeTheFile {
        let until = Instant::now() + Duration::from_secs(60);
        while shop.events("delegation.answered") == 0 {
            assert!(Instant::now() < until, "the answer did not come");
            std::thread::sleep(Duration::from_millis(5));
        }
        kill(child);
        std::fs::remove_file(shop.entry()).unwrap();
    } else {
        shop.forge.until_held();
        kill(child);
    }
}

#[test]
fn killed_between_any_two_steps_it_acts_once() {
    use Killed::{AfterActing, BeforeActing, BeforeTheFile, BeforeTheRecord, BeforeTheResponse};
    let issue = ("CREATE_GITHUB_ISSUE", json!({ "TITLE": "t", "BODY": "b" }), "POST /repos/acme/shop/issues");
    let branch =
        ("CREATE_BRANCH", json!({ "BRANCH_NAME": "fix/y", "SOURCE_SHA": SHA }), "POST /repos/acme/shop/git/refs");
    let labels =
        ("ADD_ISSUE_LABELS", json!({ "ISSUE_NUMBER": 42, "LABELS": ["a"] }), "POST /repos/acme/shop/issues/42/labels");
    // What is read between the action and the record, and how often before; what is read after the record.
    let of_issue = (("-", 0), "GET /repos/acme/shop/issues/101");
    let of_branch = (("-", 0), "-");
    let of_labels = (("GET /repos/acme/shop/issues/42", 1), "-");
    let cases = [
        // What makes something each time, and may have been made, is never sent again.
        (&issue, of_issue, BeforeActing, "FAILURE", 0),
        (&issue, of_issue, AfterActing, "SUCCESS", 1),
        (&issue, of_issue, BeforeTheFile, "SUCCESS", 1),
        (&issue, of_issue, BeforeTheResponse, "SUCCESS", 1),
        // What can be told by its name is sent again if it is not there.
        (&branch, of_branch, BeforeActing, "SUCCESS", 1),
        (&branch, of_branch, AfterActing, "SUCCESS", 1),
        (&branch, of_branch, BeforeTheFile, "SUCCESS", 1),
        (&labels, of_labels, BeforeTheRecord, "SUCCESS", 1),
        (&labels, of_labels, AfterActing, "SUCCESS", 1),
    ];
    for ((action, parameters, request), (read, verified), point, status, changes) in cases {
        let name = format!("{action} {point:?}");
        let shop = Shop::new(action, parameters);
        killed_at(&shop, point, request, read, verified);
        let recorded = usize::from(matches!(point, BeforeTheFile | BeforeTheResponse));
        assert_eq!(
            (shop.events("delegation.started"), shop.events("delegation.audited"), shop.events("delegation.answered")),
            (1, recorded, recorded),
            "{name}"
        );
        assert_eq!(shop.entry().exists(), point == BeforeTheResponse, "{name}");
        let (answer, response) = shop.delegate();
        assert_eq!(response["STATUS"], status, "{name}: {answer:?}");
        assert_eq!(shop.forge.changes().len(), changes, "{name}: {:?}", shop.forge.changes());
        if status == "FAILURE" {
            let failure = &response["FAILURE_DETAILS"];
            assert_eq!(
                (&failure["ERROR_CODE"], &failure["RETRY_ALLOWED"]),
                (&json!("UNKNOWN"), &json!("NO")),
                "{name}"
            );
            // The person who decides is told so, and all of it.
            let inbox = shop.house.run(&["inbox"]);
            for said in [
                "asked        nobody knows whether it was done; look at the platform first",
                "because      nobody knows whether it was done",
                "may have sent POST http",
                "it was looked for and not found, and not sent again",
            ] {
                assert!(inbox.out.contains(said), "{said}: {inbox:?}");
            }
            assert!(!inbox.out.contains("it was not done;"), "{inbox:?}");
        }
        // The record is whole, and handing it in once more changes nothing.
        let entry = response["AUDIT_ENTRY_PATH"].as_str().unwrap();
        shop.house.write("response.json", &answer.out);
        let checked = shop.house.run(&["check", entry, "--strict", "--with", "response.json", "--with", &shop.file]);
        assert_eq!(checked.code, 0, "{name}: {checked:?}");
        assert_eq!(shop.delegate().1, response, "{name}");
        assert_eq!(shop.forge.changes().len(), changes, "{name}");
        assert_eq!((shop.events("delegation.audited"), shop.events("delegation.answered")), (1, 1), "{name}");
        assert_eq!(shop.house.run(&["verify"]).code, 0, "{name}");
    }
}

#[test]
fn what_was_deleted_before_a_kill_is_not_deleted_from_whoever_made_it_anew() {
    for done in [true, false] {
        let shop = Shop::new("DELETE_BRANCH", &json!({ "BRANCH_NAME": "gone" }));
        shop.forge.make_branch("gone", SHA);
        shop.forge.hold("DELETE /repos/acme/shop/git/refs/heads/gone", done, 0);
        let child = shop.spawn();
        shop.forge.until_held();
        kill(child);
        assert_eq!(shop.forge.has_branch("gone"), !done);
        if done {
            shop.forge.make_branch("gone", "2222222222222222222222222222222222222222");
        }
        let (answer, response) = shop.delegate();
        // What is still as it was is deleted; what is not may be somebody else's.
        assert_eq!((response["STATUS"] == "SUCCESS", shop.forge.has_branch("gone")), (!done, done), "{answer:?}");
        assert_eq!(shop.forge.changes().len(), 1, "{:?}", shop.forge.changes());
        if done {
            let failure = &response["FAILURE_DETAILS"];
            assert_eq!((&failure["ERROR_CODE"], &failure["RETRY_ALLOWED"]), (&json!("UNCLEAR"), &json!("NO")));
        }
    }
}
