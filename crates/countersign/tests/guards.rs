//! What a document, a name or a file in the project must not be able to do.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;

use house::{House, document};
use serde_json::{Value, json};

const CANARY: &str = concat!("AKI", "AIOSFODNN7CANARYX");

fn acting(text: &str) -> Option<char> {
    text.chars().find(|letter| countersign_diagnostic::acts(*letter) && !matches!(letter, '\n' | '\t'))
}

#[test]
fn a_name_acts_on_no_terminal_and_gives_no_command_to_a_pipeline() {
    let house = House::new();
    let bad = "bad\u{1b}]0;x\u{7}\n::error::injected\u{9b}31m.json";
    house.document(
        bad,
        "assignment",
        json!({"task": {"lock_scope": ["src"], "forbidden_scope": ["src/vendor"]}, "-->": 1}),
    );
    let absent = "absent\u{1b}[31m\n::error::injected.json";
    let mut calls: Vec<Vec<&str>> =
        vec![vec!["fix", bad], vec!["tokens", bad], vec!["tokens", absent], vec!["targets", bad]];
    for format in ["text", "json", "sarif", "github"] {
        calls.push(vec!["check", "--format", format, bad, absent]);
        calls.push(vec!["check", "--format", format, bad, "--with", absent]);
    }
    for arguments in calls {
        let answer = house.run(&arguments);
        assert_eq!((acting(&answer.out), acting(&answer.err)), (None, None), "{arguments:?}: {answer:?}");
        let injected = answer.out.lines().chain(answer.err.lines()).any(|line| line.starts_with("::error::injected"));
        assert!(!injected, "{arguments:?}: {answer:?}");
    }
}

#[test]
fn files_are_looked_for_only_where_a_document_may_point() {
    let house = House::new();
    let temporary = house.path("temporary");
    std::fs::create_dir_all(&temporary).unwrap();
    let elsewhere = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::write(elsewhere.path().join("there"), "").unwrap();
    std::fs::create_dir_all(house.path("project/.countersign")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), house.path("project/out")).unwrap();
    let missing = |path: &str| {
        let files = json!([{"path": path, "description": "d", "relevance": "important"}]);
        let patch = json!({"handoff": {"payload": {"references": {"files": files}}}});
        house.document("project/handoff.json", "universal_handoff", patch);
        let temporary = [("TMPDIR", temporary.to_str().unwrap())];
        let project = house.path("project");
        let arguments = ["check", "--format", "json", "project/handoff.json", "--project", project.to_str().unwrap()];
        let answer = house.run_with(&arguments, "", &temporary);
        answer.out.contains("handoff-file-missing")
    };
    house.write("project/here.md", "");
    assert!(!missing("here.md"));
    assert!(missing("absent.md"));
    assert!(missing("sub/../absent.md"));
    assert!(missing(temporary.join("absent.md").to_str().unwrap()));
    // Whether these are there nobody is told.
    for path in ["/etc/absent", "/etc/passwd", "../absent", "out/absent", "out/there", "a/../../absent"] {
        assert!(!missing(path), "{path}");
    }
    let inside = house.path("project").canonicalize().unwrap().join("absent.md");
    assert!(missing(inside.to_str().unwrap()));
}

#[test]
fn a_file_in_the_project_raises_no_limit_that_its_user_did_not() {
    let house = House::new();
    house.document("a.json", "assignment", json!({}));
    house.write(".countersign/config.toml", "[limits]\nsize = 33554432\n");
    let answer = house.run(&["check", "a.json"]);
    assert_eq!(answer.code, 3);
    assert!(answer.err.contains("not raise it"), "{answer:?}");
    assert_eq!(house.run(&["check", "a.json", "--max-size", "33554432"]).code, 0);
    assert_eq!(house.run_with(&["check", "a.json"], "", &[("COUNTERSIGN_MAX_SIZE", "33554432")]).code, 0);
    assert_eq!(house.run(&["check", "a.json", "--max-size", "0"]).code, 2);
    house.write(".countersign/config.toml", "[limits]\nsize = 100\n");
    assert_eq!(house.codes(&["a.json"]), (1, vec!["SCHEMA_INVALID".to_owned()]));
    house.write(".countersign/config.toml", "[tokens]\nencoding = \"chars4\"\n");
    let answer = house.run(&["check", "a.json"]);
    assert_eq!(answer.code, 3);
    assert!(answer.err.contains("may not be chars4"), "{answer:?}");
}

#[test]
fn no_line_of_a_broken_document_is_shown_that_may_hold_a_secret() {
    let house = House::new();
    house.write("aws.json", format!("{{\"packet_type\": \"assignment\", \"note\": \"{CANARY}\" \"x\": 1}}"));
    house.write("named.yaml", "packet_type: assignment\npassword: plainhunter2 plainhunter3: [\n");
    house.write("plain.json", "{\"packet_type\": \"assignment\" \"x\": 1}");
    for name in ["aws.json", "named.yaml"] {
        for arguments in [["check", name], ["fix", name]] {
            let answer = house.run(&arguments);
            assert_eq!(answer.code, 1, "{answer:?}");
            assert!(
                answer.out.contains(&format!("--> {name}:")) || answer.err.contains(&format!("--> {name}:")),
                "{answer:?}"
            );
            for secret in [CANARY, "plainhunter2"] {
                assert!(!answer.out.contains(secret) && !answer.err.contains(secret), "{arguments:?}: {answer:?}");
            }
        }
    }
    assert!(house.run(&["check", "plain.json"]).out.contains("1 | {\"packet_type\""));
}

#[test]
fn what_fix_prints_holds_no_secret_that_was_found() {
    let house = House::new();
    let mut document = document("assignment", json!({"password": "plainhunter2"}));
    document[CANARY] = json!(1);
    document["task"]["title"] = Value::from(format!("use {CANARY}"));
    house.write("a.json", format!("{document:#}\n"));
    let answer = house.run(&["fix", "a.json"]);
    for secret in [CANARY, "plainhunter2"] {
        assert!(!answer.out.contains(secret) && !answer.err.contains(secret), "{answer:?}");
    }
    assert!(!answer.out.is_empty());
    // Beyond the findings that are listed there may be secrets that are not.
    let passwords: Vec<Value> = (0..250).map(|number| json!({"password": format!("plainhunter{number}")})).collect();
    house.document("many.json", "assignment", json!({"x_notes": passwords}));
    for arguments in [["fix", "many.json"], ["check", "many.json"]] {
        let answer = house.run(&arguments);
        assert!(!answer.out.contains("plainhunter") && !answer.err.contains("plainhunter"), "{answer:?}");
    }
}

#[test]
fn verbs_for_one_file_refuse_a_directory() {
    let house = House::new();
    house.document("folder/a.json", "assignment", json!({"task": {"priority": "HIGH"}}));
    let before = house.all();
    for arguments in [&["fix", "folder"][..], &["fix", "--write", "folder"]] {
        let answer = house.run(arguments);
        assert_eq!(answer.code, 2, "{answer:?}");
        assert!(answer.err.contains("is a directory"), "{answer:?}");
    }
    for verb in ["tokens", "targets"] {
        let answer = house.run(&[verb, "folder"]);
        assert_eq!(answer.code, 3, "{answer:?}");
        assert!(answer.err.contains("it is a directory"), "{answer:?}");
    }
    assert_eq!(house.all(), before);
}
