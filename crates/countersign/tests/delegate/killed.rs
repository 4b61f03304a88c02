//! Processes that act at once, or are killed between any two steps: what is to be done is done once.

use super::*;

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

/// A `git` before which somebody else makes the branch that it is asked to make, where it was asked to.
#[test]
fn what_somebody_else_made_meanwhile_is_not_called_done() {
    let shop = Shop::new();
    let file = shop.branch(1, "fix");
    let real = Command::new("sh").args(["-c", "command -v git"]).output().unwrap();
    let real = String::from_utf8(real.stdout).unwrap().trim().to_owned();
    let script = format!(
        "#!/bin/sh\nfor word in \"$@\"; do\n  if [ \"$word\" = update-ref ]; then '{real}' branch fix HEAD; fi\ndone\nexec '{real}' \"$@\"\n"
    );
    shop.house.write("bin/git", script);
    std::fs::set_permissions(shop.house.path("bin/git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = shop.house.path("bin").display().to_string();
    let ended = shop.spawn(&file, Stdio::piped(), Some(&path)).wait_with_output().unwrap();
    let response: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!((ended.status.code(), &response["STATUS"]), (Some(1), &json!("FAILURE")), "{response:#}");
    assert_eq!(response["FAILURE_DETAILS"]["RETRY_ALLOWED"], "NO");
    shop.passes(&file, &response, true);
    let inbox = shop.house.run(&["inbox"]);
    assert!(inbox.out.contains("nobody knows whether it was done"), "{inbox:?}");
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

/// A `git` that writes down what it is asked, and does something of its own for each.
fn watched_git(shop: &Shop, script: &str) -> String {
    let real = Command::new("sh").args(["-c", "command -v git"]).output().unwrap();
    let real = String::from_utf8(real.stdout).unwrap().trim().to_owned();
    let calls = shop.house.path("calls").display().to_string();
    let verb = "for word in \"$@\"; do case $word in config|for-each-ref|cat-file|update-ref|mktag|rev-parse|worktree) \
        verb=$word; break;; esac; done";
    let script = format!("#!/bin/sh\n{verb}\necho $verb >>'{calls}'\n{script}\nexec '{real}' \"$@\"\n");
    shop.house.write("bin/git", script.replace("CALLS", &calls));
    std::fs::set_permissions(shop.house.path("bin/git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    shop.house.path("bin").display().to_string()
}

/// Delegates with such a git, and gives the response and what git was asked.
fn watched(shop: &Shop, file: &str, script: &str) -> (Value, Vec<String>) {
    let path = watched_git(shop, script);
    let ended = shop.spawn(file, Stdio::piped(), Some(&path)).wait_with_output().unwrap();
    let mut calls: Vec<String> = shop.house.read("calls").lines().map(str::to_owned).collect();
    // What does not depend on each other is asked at once, in any order; and whoever looks starts with whoever acts.
    calls.sort();
    std::fs::remove_file(shop.house.path("calls")).unwrap();
    (serde_json::from_slice(&ended.stdout).unwrap(), calls)
}

#[test]
fn git_is_asked_for_what_must_be_known_and_once() {
    let shop = Shop::new();
    let (response, calls) = watched(&shop, &shop.branch(1, "fix"), "");
    assert_eq!(response["STATUS"], "SUCCESS");
    // Where it is, whether it can be done; done; and what is there then, by which it is answered and which the ledger has.
    assert_eq!(calls, ["cat-file", "config", "for-each-ref", "for-each-ref", "update-ref"]);
    let next = shop.house.run(&["delegate", "--next", response["INSTRUCTION_ID"].as_str().unwrap()]);
    assert!(next.out.contains("proceed") && next.out.contains("branch fix is at"), "{next:?}");
    let kinds = ["delegation.received", "delegation.started", "delegation.audited", "delegation.answered"];
    assert_eq!(kinds.map(|kind| shop.events(kind)), [1; 4]);
    assert_eq!(shop.events("delegation.observed"), 1);
}

#[test]
fn whoever_looks_at_what_was_done_looks_after_it_was_done() {
    let shop = Shop::new();
    // Started together, the one who looks would be done long before the other.
    let (response, _) = watched(&shop, &shop.branch(1, "fix"), "if [ $verb = update-ref ]; then sleep 1; fi");
    assert_eq!(response["STATUS"], "SUCCESS", "{response:#}");
    assert_eq!(response["PLATFORM_EVIDENCE"]["RESOURCE_STATE"], "created, not pushed");
}

#[test]
fn a_git_that_takes_no_names_from_its_input_is_asked_as_ever() {
    let shop = Shop::new();
    let old = "case \"$*\" in *--stdin*) echo 'error: unknown option `stdin' >&2; exit 129;; esac";
    let (response, calls) = watched(&shop, &shop.branch(1, "fix"), old);
    assert_eq!(response["STATUS"], "SUCCESS", "{response:#}");
    assert_eq!(calls.iter().filter(|call| *call == "for-each-ref").count(), 3, "{calls:?}");
    let (response, _) = watched(&shop, &shop.instruction(2, "DELETE_BRANCH", json!({ "BRANCH_NAME": "fix" })), old);
    assert_eq!((response["STATUS"].as_str(), shop.has("refs/heads/fix")), (Some("SUCCESS"), false), "{response:#}");
}

#[test]
fn a_look_that_failed_is_not_taken_for_one_that_found_nothing() {
    let shop = Shop::new();
    let blob = shop.git(&["hash-object", "-w", "README.md"]);
    let tag = |number: u32, target: &str| {
        let parameters = json!({ "TAG_NAME": "v1", "TARGET_SHA": target, "TAG_TYPE": "lightweight" });
        shop.instruction(number, "CREATE_TAG", parameters)
    };
    // The first look fails: the next one sees that it is no commit.
    let once = "if [ $verb = for-each-ref ] && [ $(grep -c for-each-ref 'CALLS') = 1 ]; then exit 128; fi";
    let (response, _) = watched(&shop, &tag(1, &blob), once);
    assert_eq!(response["STATUS"], "FAILURE", "{response:#}");
    let said = response["FAILURE_DETAILS"]["ERROR_MESSAGE"].as_str().unwrap();
    assert!(said.contains("has no commit") && !shop.has("refs/tags/v1"), "{said}");
    // No look succeeds: nothing is tried, and that is said.
    for verb in ["for-each-ref", "cat-file"] {
        let number = if verb == "cat-file" { 3 } else { 2 };
        let file = tag(number, &shop.commit);
        let never = format!("if [ $verb = {verb} ]; then kill -9 $$; fi");
        let (response, calls) = watched(&shop, &file, &never);
        assert_eq!(response["STATUS"], "FAILURE", "{response:#}");
        let failure = &response["FAILURE_DETAILS"];
        assert_eq!(failure["RETRY_ALLOWED"], "YES");
        assert!(failure["ERROR_MESSAGE"].as_str().unwrap().contains("could not be asked"), "{failure}");
        assert!(!calls.iter().any(|call| call == "update-ref") && !shop.has("refs/tags/v1"), "{calls:?}");
        shop.passes(&file, &response, true);
    }
    // Received before by whoever was killed then, it is looked at by whoever goes on.
    let (response, calls) = watched(&shop, &tag(4, &shop.commit), "");
    assert_eq!(response["STATUS"], "SUCCESS", "{calls:?}");
}
