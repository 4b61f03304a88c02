//! A ledger somewhere else: in another file or a database, exported, imported and moved.

use super::Project;
use super::house::House;
use countersign_ledger::conformance::postgres_server;

#[test]
fn what_is_imported_into_an_empty_folder_is_a_project_like_any_other() {
    let project = Project::with_file();
    project.record("a.json", "the first");
    project.says(&["export", "--out", "all.jsonl"]);
    let other = House::new();
    std::fs::copy(project.house.path("all.jsonl"), other.path("all.jsonl")).unwrap();
    let answer = other.run(&["import", "all.jsonl", "--unsigned"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    for file in ["config.toml", ".gitignore", "ledger.db"] {
        assert!(other.path(".countersign").join(file).exists(), "{file}");
    }
    assert_eq!(other.run(&["verify"]).code, 0);
}

#[test]
fn a_directory_whose_folder_is_lost_becomes_another_project_only_when_that_is_said() {
    let stranger = Project::with_file();
    stranger.record("a.json", "the first");
    let text = stranger.says(&["export"]);
    let project = Project::with_file();
    std::fs::remove_dir_all(project.house.path(".countersign")).unwrap();
    project.house.write("all.jsonl", &text);
    let refused = project.run(&["import", "all.jsonl", "--unsigned"]);
    assert!(refused.code == 3 && refused.err.contains("this is an export of project"), "{refused:?}");
    assert!(refused.err.contains("--new"), "{refused:?}");
    assert!(!project.house.path(".countersign").exists(), "nothing is written before it is refused");
    // As it says, and then it is a project like any other.
    project.says(&["import", "all.jsonl", "--unsigned", "--new"]);
    assert_eq!(project.says(&["log"]).lines().count(), 2);
    project.says(&["verify"]);
    project.says(&["init"]);
    project.record("b.json", "the second");
    // A ledger that is there is not given up for another one.
    let other = Project::with_file();
    other.house.write("all.jsonl", &text);
    let refused = other.run(&["import", "all.jsonl", "--unsigned", "--new"]);
    assert!(refused.code == 3 && refused.err.contains("name another place for it with --ledger\n"), "{refused:?}");
    assert_eq!(other.says(&["log"]).lines().count(), 1);
}

#[test]
fn a_ledger_elsewhere_is_found_again() {
    let house = House::new();
    assert_eq!(house.run(&["--ledger", "kept/here.db", "init"]).code, 3, "the folder is not there");
    std::fs::create_dir(house.path("kept")).unwrap();
    assert_eq!(house.run(&["--ledger", "kept/here.db", "init"]).code, 0);
    assert!(house.read(".countersign/config.toml").contains("\nplace = \"kept/here.db\"\n"));
    assert_eq!(house.run(&["log"]).out.lines().count(), 1);
}

#[test]
fn settings_of_a_project_do_not_choose_where_a_password_goes() {
    let project = Project::with_file();
    let config =
        project.config().replace("# place = \".countersign/ledger.db\"", "place = \"postgres://ana@localhost:1/db\"");
    project.house.write(".countersign/config.toml", config);
    let answer = project.run(&["log"]);
    assert!(answer.code == 3 && answer.err.contains("name it once with --ledger"), "{answer:?}");
}

#[test]
fn an_export_of_a_stranger_is_taken_only_when_asked_to() {
    let stranger = Project::with_file();
    stranger.record("a.json", "the first");
    let text = stranger.says(&["export"]);
    let project = Project::with_file();
    project.house.write("all.jsonl", &text);
    let answer = project.run(&["verify", "all.jsonl"]);
    assert!(answer.code == 1 && answer.err.contains("no known key has signed"), "{answer:?}");
    project.says(&["verify", "all.jsonl", "--unsigned"]);
    // An id that would lead out of the folder of keys is none.
    let id = text.split("\"project\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    project.house.write("evil.jsonl", text.replace(&id, "../../evil"));
    let answer = project.run(&["--ledger", "x.db", "import", "evil.jsonl", "--unsigned"]);
    assert!(answer.code == 3 && answer.err.contains("names no project"), "{answer:?}");
}

#[test]
fn an_export_becomes_the_same_ledger_again() {
    let project = Project::with_file();
    for number in 0..30 {
        project.record("a.json", &format!("number {number}"));
    }
    let head = project.head();
    project.says(&["export", "--out", "all.jsonl"]);
    let said = project.says(&["--ledger", "copy.db", "import", "all.jsonl"]);
    assert!(said.starts_with("imported 31 events"), "{said}");
    let copied = project.says(&["--ledger", "copy.db", "verify"]);
    assert!(copied.contains(&head), "{copied}");
    assert_eq!(project.run(&["--ledger", "copy.db", "import", "all.jsonl"]).code, 3, "it is in use now");
    let text = project.house.read("all.jsonl");
    project.house.write("cut.jsonl", &text[..text.len() - 1]);
    let cut = project.run(&["verify", "cut.jsonl"]);
    assert_eq!(cut.code, 1);
    assert!(cut.err.contains("was cut"), "{}", cut.err);
    let stranger = House::new();
    stranger.write("all.jsonl", &text);
    let unknown = stranger.run(&["verify", "all.jsonl"]);
    assert!(unknown.code == 1 && unknown.err.contains("--key"), "{unknown:?}");
    let key = std::fs::read_dir(project.house.path(".home/keys")).unwrap().map(|it| it.unwrap().path());
    let key = key.filter(|it| it.extension().is_some_and(|it| it == "pub")).collect::<Vec<_>>().remove(0);
    assert_eq!(stranger.run(&["verify", "all.jsonl", "--key", key.to_str().unwrap()]).code, 0);
}

#[test]
fn a_fork_is_found_where_a_checkpoint_of_the_log_is_kept() {
    let project = Project::with_file();
    project.record("a.json", "the first");
    project.says(&["export", "--out", "early.jsonl"]);
    project.says(&["backup", "fork.db"]);
    // Somebody with the same key, and without what is known here, goes another way.
    std::fs::create_dir_all(project.house.path(".elsewhere/keys")).unwrap();
    for key in std::fs::read_dir(project.house.path(".home/keys")).unwrap().map(|it| it.unwrap()) {
        std::fs::copy(key.path(), project.house.path(".elsewhere/keys").join(key.file_name())).unwrap();
    }
    let home = project.house.path(".elsewhere").display().to_string();
    let elsewhere = |arguments: &[&str]| {
        let answer = project.house.run_with(arguments, "", &[("COUNTERSIGN_HOME", &home)]);
        assert_eq!(answer.code, 0, "{arguments:?}: {answer:?}");
    };
    project.record("b.json", "the second");
    project.says(&["export", "--out", "late.jsonl"]);
    let fork = ["--ledger", "fork.db"];
    elsewhere(&[&fork[..], &["record", "a.json"]].concat());
    elsewhere(&[&fork[..], &["record", "b.json"]].concat());
    elsewhere(&[&fork[..], &["export", "--out", "fork.jsonl"]].concat());
    elsewhere(&[&fork[..], &["export", "--since", "4", "--out", "tail.jsonl"]].concat());
    elsewhere(&["verify", "fork.jsonl"]);
    let words = "up to event 3 this is another log than the one that the checkpoint knows which was kept here";
    for (file, code) in [("fork.jsonl", 1), ("tail.jsonl", 1)] {
        let found = project.run(&["verify", file]);
        assert!(found.code == code && found.err.contains(words), "{file}: {found:?}");
    }
    let refused = project.run(&["--ledger", "again.db", "import", "fork.jsonl"]);
    assert!(refused.code == 3 && refused.err.contains(words), "{refused:?}");
    assert!(!project.house.path("again.db").exists());
    // What is shorter than what is known contradicts nothing.
    for (file, met) in [("early.jsonl", "checkpoints 0 met"), ("late.jsonl", "checkpoints 1 met")] {
        let said = project.says(&["verify", file]);
        assert!(said.contains(met), "{file}: {said}");
    }
    assert_eq!(project.run(&["verify", "late.jsonl", "--from", "2"]).code, 2, "an export is verified as a whole");
}

#[test]
fn a_ledger_moves_to_a_database_and_back() {
    let project = Project::with_file();
    project.record("a.json", "the first");
    let head = project.head();
    let server = postgres_server::shared();
    let said = project.says(&["migrate", "--to", &server.url()]);
    assert!(said.starts_with("moved 2 events"), "{said}");
    assert_eq!(project.head(), head);
    project.record("b.json", "in the database");
    let closed = project.run(&["--ledger", ".countersign/ledger.db", "record", "a.json"]);
    assert!(closed.code == 3 && closed.err.contains("has moved to postgres://"), "{closed:?}");
    let head = project.head();
    project.says(&["migrate", "--to", ".countersign/ledger.db"]);
    assert_eq!(project.head(), head);
    project.record("c.json", "at home again");
}

#[test]
fn a_password_is_written_nowhere() {
    let house = House::new();
    let answer = house.run(&["--ledger", "postgres://ana:tops3cret@localhost:1/db", "init"]);
    assert_eq!(answer.code, 3);
    let said = answer.out + &answer.err;
    assert!(said.contains("PGPASSWORD") && !said.contains("tops3cret"), "{said}");
    let answer = house.run(&["--ledger", "postgres://ana:tops3cret@localhost:1/db?sslmode=disable", "log"]);
    assert!(answer.code == 3 && !(answer.out + &answer.err).contains("tops3cret"));
    assert!(house.all().iter().all(|(_, bytes)| !bytes.windows(9).any(|it| it == b"tops3cret")));
}
