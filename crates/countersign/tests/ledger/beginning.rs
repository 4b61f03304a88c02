//! A project is begun once: by several at the same time too, and not a second time where its ledger is gone or elsewhere.

use super::Project;
use super::house::{Answer, House};
use countersign_ledger::conformance::postgres_server;
use serde_json::Value;

/// The project that `init` or `import` has named, as a program is told.
fn id(answer: &Answer) -> String {
    let told: Value = serde_json::from_str(&answer.out).unwrap_or_else(|error| panic!("{error}: {answer:?}"));
    told["project"].as_str().unwrap().to_owned()
}

/// Another database on the server of the tests, which holds nothing yet.
fn empty_database(server: &postgres_server::Server, name: &str) -> String {
    server.sql(&format!("CREATE DATABASE {name}"));
    let url = server.url();
    format!("{}/{name}", url.strip_suffix("/postgres").unwrap())
}

#[test]
fn several_who_make_a_project_at_once_get_the_same_one() {
    let server = postgres_server::shared();
    let url = server.url();
    for place in [&[][..], &["--ledger", "elsewhere.db"], &["--ledger", &url]] {
        for _ in 0..3 {
            let house = House::new();
            let init = || house.run(&[&["init", "--format", "json"], place].concat());
            let answers: Vec<Answer> = std::thread::scope(|scope| {
                let all: Vec<_> = (0..4).map(|_| scope.spawn(init)).collect();
                all.into_iter().map(|one| one.join().unwrap()).collect()
            });
            for answer in &answers {
                assert_eq!((answer.code, id(answer)), (0, id(&answers[0])), "{place:?}: {answers:?}");
            }
            let log = house.run(&["log"]);
            assert_eq!((log.code, log.out.lines().count()), (0, 1), "{place:?}: {log:?}");
            assert!(house.run(&["doctor"]).out.ends_with("all is well\n"), "{place:?}");
        }
    }
}

#[test]
fn where_a_database_does_not_hold_the_project_another_is_begun_only_when_asked_for() {
    let project = Project::with_database();
    let server = postgres_server::shared();
    let before = project.config();
    let made = id(&project.run(&["init", "--format", "json"]));
    let empty = empty_database(&server, "begun_elsewhere");
    let elsewhere = project.run(&["init", "--ledger", &empty]);
    assert!(elsewhere.code == 3 && elsewhere.err.contains("`countersign migrate` moves it there"), "{elsewhere:?}");
    assert_eq!(project.config(), before, "what is refused changes nothing");
    project.says(&["log"]);
    // The database was lost, and made anew.
    let gone = format!("UPDATE countersign.head SET name = 'gone' WHERE name = '{made}'");
    server.sql(&gone);
    for _ in 0..2 {
        let refused = project.run(&["init"]);
        assert!(refused.code == 3 && refused.err.contains("is gone; put a backup in its place"), "{refused:?}");
    }
    let new = id(&project.run(&["init", "--new", "--format", "json"]));
    assert_ne!(new, made);
    assert_eq!(project.says(&["log"]).lines().count(), 1);
    project.says(&["verify"]);
}

#[test]
fn a_ledger_that_is_elsewhere_is_not_said_to_be_gone() {
    let project = Project::with_file();
    let server = postgres_server::shared();
    for place in ["other.db", &server.url()] {
        let refused = project.run(&["init", "--ledger", place]);
        assert!(refused.code == 3 && refused.err.contains("`countersign migrate` moves it there"), "{refused:?}");
    }
    assert!(!project.house.path("other.db").exists());
    project.says(&["init", "--ledger", ".countersign/ledger.db"]);
    project.says(&["init", "--ledger", "other.db", "--new"]);
    assert_eq!(project.says(&["log"]).lines().count(), 1);
}

#[test]
fn an_export_is_imported_as_the_project_that_it_is_of() {
    let stranger = Project::with_file();
    stranger.record("a.json", "the first");
    let text = stranger.says(&["export"]);
    let exported = id(&stranger.run(&["init", "--format", "json"]));
    let server = postgres_server::shared();
    let empty = empty_database(&server, "imported_elsewhere");
    // Beside another project, whose settings name another id.
    let project = Project::with_database();
    project.house.write("all.jsonl", &text);
    let own = project.run(&["import", "all.jsonl", "--unsigned"]);
    assert!(own.code == 3 && own.err.contains("name another place for it with --ledger"), "{own:?}");
    let imported = project.run(&["--ledger", &empty, "import", "all.jsonl", "--unsigned", "--format", "json"]);
    assert_eq!((imported.code, id(&imported)), (0, exported), "{imported:?}");
    for house in [&stranger.house, &House::new()] {
        let log = house.run(&["--ledger", &empty, "log"]);
        assert_eq!((log.code, log.out.lines().count()), (0, 2), "{log:?}");
    }
    // A file that is gone does not come back as another project's.
    let file = Project::with_file();
    std::fs::remove_file(file.house.path(".countersign/ledger.db")).unwrap();
    file.house.write("all.jsonl", &text);
    let refused = file.run(&["import", "all.jsonl", "--unsigned"]);
    assert!(refused.code == 3 && refused.err.contains("this is an export of project"), "{refused:?}");
    assert!(!file.house.path(".countersign/ledger.db").exists());
}

#[test]
fn a_ledger_that_was_emptied_is_not_begun_again_under_its_name() {
    let project = Project::with_file();
    project.record("a.json", "the first");
    project.says(&["export", "--out", "all.jsonl"]);
    let (made, head) = (id(&project.run(&["init", "--format", "json"])), project.head());
    let empty = || {
        for end in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(project.house.path(&format!(".countersign/ledger.db{end}")));
        }
        std::fs::write(project.house.path(".countersign/ledger.db"), "").unwrap();
        let refused = project.run(&["init"]);
        assert!(refused.code == 3 && refused.err.contains("has nothing in it any more"), "{refused:?}");
    };
    empty();
    project.says(&["import", "all.jsonl"]);
    assert_eq!(project.head(), head);
    empty();
    let another = project.run(&["init", "--new", "--format", "json"]);
    assert_eq!(another.code, 0, "{another:?}");
    assert_ne!(id(&another), made);
}
