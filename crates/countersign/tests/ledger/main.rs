//! The verbs of the ledger, through the binary, on a SQLite file and on PostgreSQL.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod beginning;
#[path = "../house/mod.rs"]
mod house;
mod moving;
mod telling;

use countersign_ledger::conformance::postgres_server;
use house::{Answer, House};
use serde_json::{Value, json};
use std::sync::Arc;

/// A house with a project, whose ledger is where it is by default, or in a database of its own.
struct Project {
    house: House,
    /// It runs as long as the project needs it.
    server: Option<Arc<postgres_server::Server>>,
}

impl Project {
    fn with_file() -> Self {
        let project = Self { house: House::new(), server: None };
        assert_eq!(project.run(&["init", "--name", "billing"]).code, 0);
        project
    }

    fn with_database() -> Self {
        let server = postgres_server::shared();
        let url = server.url();
        let project = Self { house: House::new(), server: Some(server) };
        let answer = project.run(&["--ledger", &url, "init", "--name", "billing"]);
        assert_eq!(answer.code, 0, "{answer:?}");
        project
    }

    fn run(&self, arguments: &[&str]) -> Answer {
        self.house.run(arguments)
    }

    /// What a verb says when it succeeds.
    fn says(&self, arguments: &[&str]) -> String {
        let answer = self.run(arguments);
        assert_eq!(answer.code, 0, "{arguments:?}: {answer:?}");
        answer.out
    }

    /// The same for what only an owner may.
    fn run_as_owner(&self, arguments: &[&str]) -> Answer {
        self.run(&[&["--token-file", &self.house.owner_token()], arguments].concat())
    }

    fn record(&self, name: &str, title: &str) -> Value {
        self.house.document(name, "assignment", json!({ "task": { "title": title } }));
        serde_json::from_str(&self.says(&["record", name, "--as", "agent:coder", "--format", "json"])).unwrap()
    }

    fn head(&self) -> String {
        let said = self.says(&["verify"]);
        said.lines().find(|line| line.trim_start().starts_with("events")).unwrap().to_owned()
    }

    fn config(&self) -> String {
        self.house.read(".countersign/config.toml")
    }
}

#[test]
fn a_ledger_is_kept_read_proved_and_verified_in_a_file() {
    journey(&Project::with_file());
}

#[test]
fn a_ledger_is_kept_read_proved_and_verified_in_a_database() {
    let project = Project::with_database();
    assert!(project.config().lines().any(|line| line.starts_with("place = \"postgres://")), "{}", project.config());
    journey(&project);
}

fn journey(project: &Project) {
    let first = project.record("a.json", "the first");
    assert_eq!((first["seq"].as_u64(), first["actor"].as_str()), (Some(2), Some("agent:coder")));
    project.record("b.json", "the second");
    let log = project.says(&["log"]);
    assert_eq!(log.lines().count(), 3);
    assert!(log.contains("project `billing`") && log.contains("assignment from `a.json`"), "{log}");
    assert_eq!(project.says(&["log", "--since", "3"]).lines().count(), 1);
    let shown = project.says(&["show", first["id"].as_str().unwrap()]);
    assert!(shown.contains("  | ") && shown.contains("the first"), "{shown}");
    assert_eq!(project.says(&["show", "2"]), shown);
    let record = format!("record/{}", first["facts"]["record"].as_str().unwrap());
    assert!(project.says(&["show", &record]).contains("events   2"));

    project.says(&["checkpoint", "--out", "kept.note"]);
    project.says(&["prove", "2", "--out", "2.proof"]);
    assert!(project.says(&["verify-proof", "2.proof"]).starts_with("the proof holds: event 2"));
    project.says(&["export", "--out", "all.jsonl"]);
    assert!(project.says(&["verify", "all.jsonl"]).contains("signed by a known key"));
    let piped = project.house.run_with(&["verify", "-"], &project.house.read("all.jsonl"), &[]);
    assert!(piped.code == 0 && piped.out.contains("signed by a known key"), "{piped:?}");
    assert_eq!(project.house.run_with(&["verify", "-"], "{}", &[]).code, 1);
    let twice = project.house.run_with(&["import", "-"], &project.house.read("all.jsonl"), &[]);
    assert!(twice.code == 2 && twice.err.contains("write it to a file"), "{twice:?}");
    assert!(project.says(&["verify", "--checkpoint", "kept.note"]).starts_with("everything matches"));

    assert_eq!(project.run(&["erase", "2"]).code, 2, "a reason is asked for");
    let not_owner = project.run(&["erase", "2", "--reason", "recorded by mistake"]);
    assert!(not_owner.code == 1 && not_owner.err.contains("AUTHORIZATION_MISSING"), "{not_owner:?}");
    let erased = project.run_as_owner(&["erase", "2", "--reason", "recorded by mistake"]);
    assert_eq!(erased.code, 0, "{erased:?}");
    assert!(project.says(&["show", "2"]).contains("text 0: erased"));
    let again = project.run_as_owner(&["erase", "2", "--reason", "twice"]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("INVALID_TRANSITION"), "{}", again.err);
    project.says(&["rebuild"]);
    assert!(project.head().contains("events      6, to 6"), "{}", project.head());
    assert!(project.says(&["doctor"]).ends_with("all is well\n"));
    let all = project.says(&["export"]);
    assert!(!all.contains("the first"), "what was erased is in no later export");
}

#[test]
fn a_payload_that_may_not_pass_is_not_kept_and_the_refusal_is() {
    let project = Project::with_file();
    project.house.write("bad.json", r#"{"packet_type":"assignment"}"#);
    project.house.write("bytes.json", [0xff, 0xfe]).document("good.json", "assignment", json!({}));
    let answer = project.run(&["record", "bad.json", "absent.json", "bytes.json", "good.json"]);
    assert_eq!(answer.code, 3);
    assert!(answer.out.contains("kept: good.json"), "what comes after is kept: {answer:?}");
    assert!(answer.err.contains("MISSING_REQUIRED_INPUT") && answer.err.contains("absent.json"), "{}", answer.err);
    let log = project.says(&["log"]);
    assert!(log.lines().nth(1).unwrap().contains("record.keep: MISSING_REQUIRED_INPUT"), "{log}");
}

#[test]
fn a_secret_is_in_no_part_of_the_ledger() {
    let project = Project::with_file();
    let secret = "AKIAIOSFODNN7EXAMPLE";
    project.house.document("a.json", "assignment", json!({ "task": { "title": format!("use {secret}") } }));
    assert_eq!(project.run(&["record", "a.json"]).code, 1);
    let ledger = project.house.all().into_iter().filter(|(path, _)| path.to_string_lossy().contains(".countersign"));
    for (path, bytes) in ledger {
        assert!(!bytes.windows(secret.len()).any(|it| it == secret.as_bytes()), "{}", path.display());
    }
}

#[test]
fn a_key_makes_a_repetition_the_same_call() {
    let project = Project::with_file();
    project.house.document("a.json", "assignment", json!({ "task": { "title": "one" } }));
    let first = project.says(&["record", "a.json", "--key", "k", "--format", "json"]);
    assert_eq!(project.says(&["record", "a.json", "--key", "k", "--format", "json"]), first);
    project.house.document("a.json", "assignment", json!({ "task": { "title": "two" } }));
    let other = project.run(&["record", "a.json", "--key", "k"]);
    assert_eq!(other.code, 1);
    assert!(other.err.contains("was used for another request, at event 2"), "{}", other.err);
}

#[test]
fn a_log_that_no_longer_says_whose_it_is_is_not_begun_anew() {
    let project = Project::with_file();
    project.record("a.json", "the first");
    let sql = rusqlite::Connection::open(project.house.path(".countersign/ledger.db")).unwrap();
    sql.execute("DELETE FROM meta WHERE name = 'project'", []).unwrap();
    for round in ["at first", "after init"] {
        let answer = project.run(&["verify"]);
        assert_eq!(answer.code, 1, "{round}: {answer:?}");
        assert!(answer.err.contains("2 events, and no project is named"), "{round}: {answer:?}");
        let found: Value = serde_json::from_str(&project.run(&["verify", "--format", "json"]).out).unwrap();
        assert_eq!(found["matches"], false);
        let answer = project.run(&["init", "--name", "another"]);
        assert_eq!(answer.code, 3, "{round}: {answer:?}");
        assert!(answer.err.contains("no project is named"), "{round}: {answer:?}");
    }
}

#[test]
fn a_change_by_hand_is_found_and_named() {
    let project = Project::with_file();
    project.record("a.json", "the first");
    project.record("b.json", "the second");
    project.says(&["checkpoint"]);
    let sql = rusqlite::Connection::open(project.house.path(".countersign/ledger.db")).unwrap();
    sql.execute("UPDATE event SET run = 'none' WHERE seq = 2", []).unwrap();
    assert_eq!(project.run(&["verify"]).code, 1);
    sql.execute("UPDATE event SET run = NULL WHERE seq = 2", []).unwrap();
    sql.execute("UPDATE event SET body = replace(body, 'agent:coder', 'agent:other') WHERE seq = 2", []).unwrap();
    let answer = project.run(&["verify"]);
    assert_eq!(answer.code, 1);
    assert!(answer.err.contains("event 2: the stored hash is"), "{}", answer.err);
    assert!(answer.err.contains("the first bad event is 2"), "{}", answer.err);
    sql.execute("UPDATE event SET body = replace(body, 'agent:other', 'agent:coder') WHERE seq = 2", []).unwrap();
    assert_eq!(project.run(&["verify"]).code, 0);
    // Cut short, it is whole in itself; the checkpoint that was kept knows better.
    sql.execute_batch("DELETE FROM event WHERE seq = 3; DELETE FROM text WHERE seq = 3").unwrap();
    project.says(&["rebuild"]);
    let answer = project.run(&["verify"]);
    assert_eq!(answer.code, 1);
    assert!(answer.err.contains("knows 3 events, and there are 2"), "{}", answer.err);
    // Nor is it signed again, however much is added to it.
    project.record("c.json", "the third");
    project.record("d.json", "the fourth");
    for verb in [&["checkpoint"][..], &["prove", "1"], &["export"]] {
        let answer = project.run(verb);
        assert!(answer.code == 1 && answer.err.contains("nothing is signed"), "{verb:?}: {answer:?}");
    }
    assert_eq!(project.run(&["verify"]).code, 1);
}

#[test]
fn a_ledger_that_was_replaced_is_refused() {
    let project = Project::with_file();
    project.record("a.json", "the first");
    for end in ["", "-wal", "-shm"] {
        std::fs::remove_file(project.house.path(&format!(".countersign/ledger.db{end}"))).unwrap();
    }
    let gone = project.run(&["init"]);
    assert!(gone.code == 3 && gone.err.contains("is gone"), "{gone:?}");
    // Made anew behind our back.
    let other = House::new();
    assert_eq!(other.run(&["init"]).code, 0);
    for end in ["", "-wal"] {
        let name = format!(".countersign/ledger.db{end}");
        std::fs::copy(other.path(&name), project.house.path(&name)).unwrap();
    }
    for verb in [&["verify"][..], &["log"], &["record", "a.json"], &["init"]] {
        let replaced = project.run(verb);
        assert!(replaced.code == 3 && replaced.err.contains("it was replaced"), "{verb:?}: {replaced:?}");
    }
}

#[test]
fn a_new_key_does_not_take_away_what_the_old_one_signed() {
    let project = Project::with_file();
    project.record("a.json", "the first");
    project.says(&["export", "--out", "old.jsonl"]);
    let key = std::fs::read_dir(project.house.path(".home/keys")).unwrap().map(|it| it.unwrap().path());
    let key = key.filter(|it| it.extension().is_some_and(|it| it == "key")).collect::<Vec<_>>().remove(0);
    std::fs::remove_file(key).unwrap();
    assert_eq!(project.run(&["checkpoint"]).code, 3);
    project.says(&["init"]);
    project.says(&["checkpoint"]);
    project.says(&["verify"]);
    assert!(project.says(&["verify", "old.jsonl"]).contains("signed by a known key"));
}

#[test]
fn every_worktree_has_the_ledger_of_the_main_one() {
    let project = Project::with_file();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=ana", "-c", "user.email=ana@example.org", "-c", "commit.gpgsign=false"];
        let mut git = std::process::Command::new("git");
        git.args(identity).args(arguments).current_dir(project.house.path(""));
        assert!(git.output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", ".countersign"]);
    git(&["commit", "-qm", "settings"]);
    git(&["worktree", "add", "-q", "tree"]);
    assert!(project.house.path("tree/.countersign/config.toml").exists());
    let inside = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_countersign"));
        command
            .args(arguments)
            .current_dir(project.house.path("tree"))
            .env("COUNTERSIGN_HOME", project.house.path(".home"));
        command.output().unwrap()
    };
    project.house.document("tree/a.json", "assignment", json!({}));
    assert!(inside(&["record", "a.json"]).status.success());
    assert_eq!(project.says(&["log"]).lines().count(), 2);
    let refused = inside(&["init"]);
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("is a worktree of"));
}

#[test]
fn cloud_events_have_what_the_specification_asks_for() {
    let project = Project::with_file();
    project.record("a.json", "the first");
    for verb in [&["log", "--format", "cloudevents"][..], &["export", "--format", "cloudevents"]] {
        let lines = project.says(verb);
        let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(events.len(), 2);
        for event in &events {
            assert_eq!(event["specversion"], "1.0");
            assert!(event["source"].as_str().unwrap().starts_with("urn:countersign:project:"));
            assert!(event["type"].as_str().unwrap().starts_with("dev.countersign."));
            let names = event.as_object().unwrap().keys();
            assert!(
                names.into_iter().all(|name| name.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit()))
            );
        }
        assert!(events[0]["sequence"].as_str() < events[1]["sequence"].as_str());
    }
}

#[test]
fn following_shows_what_another_process_records() {
    use std::io::{BufRead, BufReader};
    let project = Project::with_file();
    let mut follower = std::process::Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(["log", "--follow", "-n", "2"])
        .current_dir(project.house.path(""))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("project.initialised"));
    project.record("a.json", "while it is followed");
    assert!(lines.next().unwrap().unwrap().contains("record.kept"));
    assert!(follower.wait().unwrap().success());
}

#[test]
fn the_settings_that_init_writes_are_the_defaults() {
    let project = Project::with_file();
    // Every setting stands there as a comment; with the marks taken away, it must still be understood.
    let config: String = project
        .config()
        .lines()
        .map(|line| line.strip_prefix("# ").filter(|it| is_setting(it)).unwrap_or(line).to_owned() + "\n")
        .collect();
    assert!(config.contains("\nsize = 16777216\n") && config.contains("\n[[contracts]]\n"), "{config}");
    project.house.write("schemas/release_note.json", r#"{"type":"object"}"#);
    project.house.write(
        ".countersign/config.toml",
        config.replace("project = \"\"\n", "").replace("url = \"https", "# url = \"https"),
    );
    project.house.document("a.json", "assignment", json!({}));
    assert_eq!(project.run(&["check", "a.json"]).code, 0);
    project.says(&["verify"]);
}

fn is_setting(line: &str) -> bool {
    line.starts_with("[[")
        || line.split_once(" = ").is_some_and(|(name, _)| name.bytes().all(|it| it.is_ascii_lowercase() || it == b'-'))
}

#[test]
fn what_is_not_there_is_said_with_a_way_forward() {
    let house = House::new();
    for verb in [&["log"][..], &["verify"], &["record", "a.json"], &["checkpoint"], &["backup", "b.db"]] {
        let answer = house.run(verb);
        assert!(answer.code == 3 && answer.err.contains("countersign init"), "{verb:?}: {answer:?}");
    }
    let project = Project::with_file();
    let missing = project.run(&["show", "99"]);
    assert!(missing.code == 3 && missing.err.contains("the last is 1"), "{missing:?}");
    project.house.write("newer.db", "");
    let sql = rusqlite::Connection::open(project.house.path(".countersign/ledger.db")).unwrap();
    sql.pragma_update(None, "user_version", 99).unwrap();
    let newer = project.run(&["log"]);
    assert!(newer.code == 3 && newer.err.contains("format 99"), "{newer:?}");
}

/// Leaves the ledger as an erasure leaves it that was broken off after its commit.
fn break_erasure_off(project: &Project) {
    let path = project.house.path(".countersign/ledger.db");
    let ledger = rusqlite::Connection::open(path).unwrap();
    ledger.execute("INSERT INTO meta (name, value) VALUES ('scrub', '3')", []).unwrap();
}

#[test]
fn an_erasure_that_was_broken_off_is_finished_by_the_next_one_or_by_the_doctor() {
    let project = Project::with_file();
    project.record("a.json", "the first");
    assert_eq!(project.run_as_owner(&["erase", "2", "--reason", "recorded by mistake"]).code, 0);
    for finish in [&["erase", "2", "--reason", "again"][..], &["doctor", "--fix"]] {
        break_erasure_off(&project);
        let told = project.run(&["doctor"]);
        assert!(told.code == 1 && told.out.contains("an erasure was not finished"), "{told:?}");
        project.says(finish);
        assert!(project.says(&["doctor"]).ends_with("all is well\n"));
    }
    assert_eq!(project.run_as_owner(&["erase", "2", "--reason", "again"]).code, 1, "nothing is left to be done");
}

#[test]
fn a_ledger_in_a_database_is_copied_to_a_file_and_goes_on() {
    let project = Project::with_database();
    project.record("a.json", "the first");
    project.says(&["backup", "copy.db"]);
    assert!(project.says(&["--ledger", "copy.db", "verify"]).starts_with("everything matches"));
    assert!(project.says(&["--ledger", "copy.db", "show", "2"]).contains("the first"));
    assert_ne!(project.run(&["backup", "copy.db"]).code, 0, "it takes the place of nothing");
    project.record("b.json", "the second");
    project.says(&["verify"]);
}

/// The verbs of the ledger that say what they did, each as one line of JSON with these fields in it.
#[test]
fn every_verb_of_the_ledger_answers_programs() {
    let project = Project { house: House::new(), server: None };
    let told = |answer: Answer, fields: &[&str]| {
        let line: Value = serde_json::from_str(&answer.out).unwrap_or_else(|error| panic!("{error}: {answer:?}"));
        assert_eq!(answer.out.lines().count(), 1, "{answer:?}");
        fields.iter().for_each(|field| assert!(line.get(field).is_some(), "{field}: {line}"));
        line
    };
    let made =
        told(project.run(&["init", "--name", "billing", "--format", "json"]), &["project", "ledger", "public_key"]);
    assert_eq!(
        (&made["new"], &made["settings"].as_str().map(|it| it.ends_with("config.toml"))),
        (&json!(true), &Some(true))
    );
    assert_eq!(told(project.run(&["init", "--format", "json"]), &["project"])["new"], false);
    project.record("a.json", "said");
    let json =
        |arguments: &[&str], fields: &[&str]| told(project.run(&[arguments, &["--format", "json"]].concat()), fields);
    assert_eq!(json(&["checkpoint"], &["root", "head", "note", "project"])["size"], 2);
    assert_eq!(json(&["prove", "2", "--out", "2.proof"], &["proof", "out"])["event"], 2);
    assert_eq!(json(&["verify-proof", "2.proof"], &["event", "project"])["holds"], true);
    project.house.write("bad.proof", "no proof");
    assert_eq!(json(&["verify-proof", "bad.proof"], &["reason"])["holds"], false);
    assert_eq!(json(&["backup", "copy.db"], &["from"])["to"], "copy.db");
    assert_eq!(json(&["rebuild"], &["shape"])["events"], 2);
    project.says(&["export", "--out", "all.jsonl"]);
    let imported = json(&["import", "all.jsonl", "--ledger", "imported.db"], &["project", "place", "head"]);
    assert_eq!(imported["events"], 2);
    // A refusal is told to programs, too: erasing is for owners.
    let erase = ["erase", "2", "--reason", "by mistake", "--format", "json"];
    let refused = project.run(&erase);
    assert_eq!((refused.code, &told(refused, &["reason", "help"])["allow"]), (1, &json!(false)));
    let erased = told(project.run_as_owner(&erase), &["by"]);
    assert_eq!(erased, json!({ "erased": 2, "by": 4 }));
    let well = json(&["doctor"], &["checks"]);
    assert_eq!((&well["well"], &well["faults"]), (&json!(true), &json!(0)));
    assert!(well["checks"].as_array().unwrap().contains(&json!({
        "state": "ok", "what": "writing", "found": "the writer's place can be had",
    })));
    let moved = json(&["migrate", "--to", "moved.db"], &["from", "to", "settings"]);
    assert_eq!(moved["head"]["seq"], 4);
    let ill = json(&["doctor", "--ledger", ".countersign/ledger.db"], &["checks"]);
    assert_eq!(ill["well"], false, "{ill}");
}

/// A house in which nothing may be written, and the binary in it, as somebody whom permissions bind.
#[cfg(unix)]
#[test]
fn a_ledger_that_may_only_be_read_answers_questions_and_takes_nothing() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::process::Command;
    const NOBODY: u32 = 65534;
    let project = Project::with_file();
    project.record("a.json", "said");
    let (house, folder) = (project.house.path(""), project.house.path(".countersign"));
    let as_root = std::fs::metadata(&house).unwrap().uid() == 0;
    let listed =
        || project.house.all().into_iter().filter(|(path, _)| !path.ends_with("ledger.db-shm")).collect::<Vec<_>>();
    let bound = |arguments: &[&str]| {
        let binary = env!("CARGO_BIN_EXE_countersign");
        let mut command = Command::new(if as_root { "setpriv" } else { binary });
        if as_root {
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--", binary]);
        }
        command.args(arguments).current_dir(&house).env("COUNTERSIGN_HOME", project.house.path(".home"));
        let output = command.env_remove("COUNTERSIGN_LEDGER").output().unwrap();
        let said = |bytes| String::from_utf8(bytes).unwrap();
        Answer { code: output.status.code().unwrap(), out: said(output.stdout), err: said(output.stderr) }
    };
    if as_root {
        let all = project.house.all().into_iter().map(|(path, _)| path);
        let folders = [house.clone(), folder.clone()].into_iter().chain(
            ["", "keys", "tokens", "checkpoints", "projects"].map(|name| project.house.path(".home").join(name)),
        );
        all.chain(folders.filter(|it| it.exists())).for_each(|path| chown(path, Some(NOBODY), Some(NOBODY)).unwrap());
    }
    let may = |path: &std::path::Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    // A file that may not be written to, in a folder that may; then neither; then what processes share is gone.
    let file = folder.join("ledger.db");
    let lock_files = || ["-wal", "-shm", "-next", "-turn", "-bell"].map(|end| folder.join(format!("ledger.db{end}")));
    for round in ["file", "folder", "bare"] {
        may(&folder, 0o700);
        may(&file, 0o400);
        if round == "bare" {
            may(&file, 0o600);
            std::fs::remove_file(folder.join("ledger.db-shm")).unwrap();
            may(&file, 0o400);
        }
        if round != "file" {
            lock_files().iter().filter(|path| path.exists()).for_each(|path| may(path, 0o400));
            may(&folder, 0o500);
        }
        let before = listed();
        for arguments in [&["log"][..], &["show", "2"], &["verify"], &["export"], &["log", "--format", "json"]] {
            let answer = bound(arguments);
            assert_eq!(answer.code, 0, "{round}: {arguments:?}: {answer:?}");
            assert!(!answer.out.is_empty(), "{round}: {arguments:?}");
        }
        let words = "may only be read here";
        for arguments in [&["record", "a.json"][..], &["run", "open", "--objective", "x"], &["rebuild"]] {
            let answer = bound(arguments);
            assert!(answer.code == 3 && answer.err.contains(words), "{round}: {arguments:?}: {answer:?}");
        }
        let doctor = bound(&["doctor"]);
        assert!(doctor.code == 1 && doctor.out.contains(words), "{round}: {doctor:?}");
        let after = listed();
        let changed: Vec<_> = after.iter().filter(|it| !before.contains(it)).map(|(path, _)| path).collect();
        let kept = |path: &&&std::path::PathBuf| path.to_string_lossy().contains(".home/checkpoints");
        assert!(changed.iter().all(|path| kept(&path)), "{round}: {changed:?}");
    }
    may(&folder, 0o700);
}
