//! What is wrong with a ledger is told: by the doctor, and in words that do not contradict each other.

use super::Project;
use super::house::House;
use countersign_ledger::conformance::postgres_server::{self, Server};
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Takes a ledger and what belongs to it away.
fn remove_ledger(project: &Project) {
    for end in ["", "-wal", "-shm"] {
        std::fs::remove_file(project.house.path(&format!(".countersign/ledger.db{end}"))).unwrap();
    }
}

fn replace(project: &Project) {
    remove_ledger(project);
    let other = House::new();
    assert_eq!(other.run(&["init"]).code, 0);
    for end in ["", "-wal"] {
        let name = format!(".countersign/ledger.db{end}");
        std::fs::copy(other.path(&name), project.house.path(&name)).unwrap();
    }
}

fn name_a_strange_database(project: &Project) {
    let place = "# place = \".countersign/ledger.db\"";
    let config = project.config().replace(place, "place = \"postgres://ana@localhost:1/db\"");
    project.house.write(".countersign/config.toml", config);
}

fn spoil_checkpoint(project: &Project) {
    let notes = std::fs::read_dir(project.house.path(".home/checkpoints")).unwrap().map(|it| it.unwrap().path());
    notes.for_each(|note| std::fs::write(note, "no checkpoint").unwrap());
}

fn cut(project: &Project) {
    project.says(&["checkpoint"]);
    let sql = rusqlite::Connection::open(project.house.path(".countersign/ledger.db")).unwrap();
    sql.execute_batch("DELETE FROM event WHERE seq = 2; DELETE FROM text WHERE seq = 2").unwrap();
    project.says(&["rebuild"]);
}

#[test]
fn the_doctor_says_so_where_a_ledger_cannot_be_used_or_is_not_the_one_it_was() {
    type Spoil = fn(&Project);
    let table: [(Spoil, &str, &str); 4] = [
        (replace, "bad   ledger", "it was replaced"),
        (name_a_strange_database, "bad   ledger", "name it once with --ledger"),
        (spoil_checkpoint, "bad   checkpoint", "cannot be used"),
        (cut, "bad   checkpoint", "is not the one that the kept checkpoint of 2 events knows"),
    ];
    for (spoil, what, why) in table {
        let project = Project::with_file();
        project.record("a.json", "the first");
        assert!(project.says(&["doctor"]).contains("ok    checkpoint       the one that was kept knows 1 events"));
        spoil(&project);
        let told = project.run(&["doctor"]);
        let line = told.out.lines().find(|line| line.starts_with(what));
        assert!(told.code == 1 && line.is_some_and(|line| line.contains(why)), "{why}: {told:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_key_that_the_doctor_closes_to_others_is_good_in_the_same_visit() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::with_file();
    let keys = std::fs::read_dir(project.house.path(".home/keys")).unwrap().map(|it| it.unwrap().path());
    let secret = keys.into_iter().find(|path| path.extension().is_some_and(|it| it == "key")).unwrap();
    std::fs::set_permissions(secret, PermissionsExt::from_mode(0o644)).unwrap();
    assert_eq!(project.run(&["doctor"]).code, 1);
    let fixed = project.says(&["doctor", "--fix"]);
    assert!(fixed.contains("fixed permissions") && fixed.contains("ok    signing key"), "{fixed}");
}

#[test]
fn an_erasure_that_leaves_a_copy_does_not_say_that_nothing_was_written() {
    let project = Project::with_file();
    project.record("a.json", "the first");
    let reader = rusqlite::Connection::open(project.house.path(".countersign/ledger.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM event").unwrap();
    let told = project.run_as_owner(&["erase", "2", "--reason", "recorded by mistake"]);
    assert!(told.code == 3 && told.err.contains("but a copy of it is left"), "{told:?}");
    assert!(told.err.contains("another process reads") && !told.err.contains("nothing was written"), "{told:?}");
    drop(reader);
    project.says(&["doctor", "--fix"]);
    assert!(project.says(&["show", "2"]).contains("text 0: erased"));
}

/// A process that follows the log of a project, and what it prints behind the first line.
fn following(project: &Project, arguments: &[&str]) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut follower = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(["log", "--follow"])
        .args(arguments)
        .current_dir(project.house.path(""))
        .env("COUNTERSIGN_HOME", project.house.path(".home"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("project.initialised"));
    (follower, lines)
}

#[test]
fn following_goes_on_after_the_server_was_away() {
    let server = Server::start();
    let project = Project { house: House::new(), server: None };
    project.says(&["--ledger", &server.url(), "init"]);
    let (mut follower, mut lines) = following(&project, &["-n", "2"]);
    server.crash();
    let mut told = String::new();
    BufReader::new(follower.stderr.take().unwrap()).read_line(&mut told).unwrap();
    assert!(told.contains("trying again until it can be read"), "{told}");
    server.run();
    postgres_server::eventually("the server takes it", || {
        project.house.document("a.json", "assignment", serde_json::json!({}));
        project.run(&["record", "a.json"]).code == 0
    });
    assert!(lines.next().unwrap().unwrap().contains("record.kept"));
    assert!(follower.wait().unwrap().success());
}

#[test]
fn following_ends_when_waiting_does_not_help() {
    let server = Server::start();
    server.sql("CREATE DATABASE followed");
    let followed = format!("{}/followed", server.url().strip_suffix("/postgres").unwrap());
    let project = Project { house: House::new(), server: None };
    project.says(&["--ledger", &followed, "init"]);
    let follow = |patience: &str| following(&project, &["--patience", patience]).0;
    let ends = |follower: Child| {
        let ended = follower.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(3), "{ended:?}");
        String::from_utf8(ended.stderr).unwrap()
    };
    // A server that stays away is waited for as long as was said.
    let follower = follow("0");
    server.crash();
    let said = ends(follower);
    assert!(said.contains("the ledger was away for 0 seconds") && said.contains("--since 2"), "{said}");
    server.run();
    // A database that is gone does not come back by itself, however long one waits.
    postgres_server::eventually("the server answers", || project.run(&["log"]).code == 0);
    let follower = follow("1000000");
    server.sql("DROP DATABASE followed WITH (FORCE)");
    let said = ends(follower);
    assert!(said.contains("\"followed\" does not exist") && !said.contains("was away"), "{said}");
}

#[test]
fn a_file_that_is_not_there_is_told_of_alike() {
    let project = Project::with_file();
    let table: [&[&str]; 6] = [
        &["record", "gone.json"],
        &["import", "gone.json"],
        &["verify", "gone.json"],
        &["verify", "--checkpoint", "gone.json"],
        &["verify", "--key", "gone.json"],
        &["verify-proof", "gone.json"],
    ];
    for verb in table {
        let answer = project.run(verb);
        let said = (answer.code, answer.err.as_str());
        assert_eq!(said, (3, "error: `gone.json` cannot be read: there is no such file\n"), "{verb:?}");
    }
}

#[test]
fn a_verification_that_cannot_be_says_why_and_does_not_blame_the_ledger() {
    let project = Project::with_file();
    project.says(&["checkpoint", "--out", "one.note"]);
    project.record("a.json", "the first");
    project.record("b.json", "the second");
    let verified = |from: &str| project.run(&["verify", "--checkpoint", "one.note", "--from", from]);
    assert_eq!(verified("2").code, 0);
    let early = verified("3");
    assert!(early.code == 2 && early.err.starts_with("error: one.note knows 1 events, and --from 3"), "{early:?}");
    project.says(&["backup", "copy.db"]);
    for verb in ["verify", "import"] {
        let ledger = project.run(&[verb, "copy.db"]);
        assert!(ledger.code == 3 && ledger.err.contains("`countersign --ledger copy.db verify`"), "{verb}: {ledger:?}");
    }
    project.says(&["--ledger", "copy.db", "verify"]);
}

#[test]
fn an_export_that_does_not_match_is_told_of_to_programs_as_well() {
    let project = Project::with_file();
    project.says(&["export", "--out", "audit.jsonl"]);
    let spoilt = project.house.read("audit.jsonl").replacen("billing", "killing", 1);
    std::fs::write(project.house.path("spoilt.jsonl"), spoilt).unwrap();
    let unknown = project.house.path(".nobody").display().to_string();
    let nobody = [("COUNTERSIGN_HOME", unknown.as_str())];
    let told = [
        (project.run(&["verify", "spoilt.jsonl", "--format", "json"]), "spoilt.jsonl: line 2: "),
        (
            project.house.run_with(&["verify", "audit.jsonl", "--format", "json"], "", &nobody),
            "no known key has signed",
        ),
    ];
    for (answer, why) in told {
        let found: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
        assert_eq!((answer.code, &found["matches"]), (1, &serde_json::Value::Bool(false)), "{answer:?}");
        assert!(found["findings"][0]["what"].as_str().is_some_and(|what| what.starts_with(why)), "{answer:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_export_is_written_to_what_is_there_already() {
    let project = Project::with_file();
    let kept = project.house.path("kept.jsonl");
    std::fs::write(&kept, "before").unwrap();
    std::os::unix::fs::symlink(&kept, project.house.path("link.jsonl")).unwrap();
    project.says(&["export", "--out", "link.jsonl"]);
    assert!(std::fs::symlink_metadata(project.house.path("link.jsonl")).unwrap().is_symlink());
    project.says(&["verify", "kept.jsonl"]);
    let pipe = project.house.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    project.says(&["export", "--out", "pipe"]);
    assert!(!std::fs::symlink_metadata(&pipe).unwrap().is_file(), "it took the place of a pipe");
    assert_eq!(reader.join().unwrap(), project.house.read("kept.jsonl"));
    for verb in [&["export"][..], &["checkpoint"], &["prove", "1"]] {
        let over = project.run(&[verb, &["--out", ".countersign/ledger.db"]].concat());
        assert!(over.code == 3 && over.err.contains("is a ledger, and would be lost"), "{verb:?}: {over:?}");
    }
    project.says(&["verify"]);
    let missing = project.run(&["export", "--out", "missing/audit.jsonl"]);
    let said = "error: missing/audit.jsonl cannot be written: there is no directory missing\n";
    assert_eq!((missing.code, missing.err.as_str()), (3, said));
}

#[test]
fn a_log_in_a_database_under_another_name_is_told_of() {
    let server = Server::start();
    let project = Project { house: House::new(), server: None };
    project.says(&["--ledger", &server.url(), "init"]);
    // Where no settings say whose log it is, the only one is taken.
    let verify = || House::new().run(&["--ledger", &server.url(), "verify"]);
    assert_eq!(verify().code, 0);
    server.sql("UPDATE countersign.head SET name = 'another'");
    let found = verify();
    assert!(found.code == 1 && found.err.contains("is found as `another`"), "{found:?}");
}
