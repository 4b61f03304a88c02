//! What fails, what is missing, and what is asked wrongly.

use crate::{TRACE, code, document, done, json_of, kinds, long, made, make, notes, plan, project, send};
use serde_json::{Map, Value, json};

#[test]
fn every_failure_of_the_pipeline_is_told_and_nothing_passes_for_success() {
    let house = project();
    plan(&house);
    let handoff = |patch: Value| crate::house::document("universal_handoff", patch).to_string();
    house.write("cut.json", &handoff(json!({}))[..200]);
    house.write("old.json", handoff(json!({ "handoff": { "version": "2.0" } })));
    house.write("nobody.json", handoff(json!({ "handoff": { "target": { "skill": null } } })));
    house.write("self.json", handoff(json!({ "handoff": { "target": { "skill": "skill-editor" } } })));
    let past = json!({ "handoff": { "timestamp": "2026-01-05T10:00:00Z", "expires_at": "2026-01-06T10:00:00Z" } });
    house.write("late.json", handoff(past));
    let cases = [
        ("cut.json", "SCHEMA_INVALID"),
        ("old.json", "UNKNOWN_SCHEMA_VERSION"),
        ("self.json", "CIRCULAR_HANDOFF"),
        ("late.json", "SCHEMA_INVALID"),
    ];
    for (file, wanted) in cases {
        for verb in ["check", "send"] {
            assert_eq!(code(&house.run(&["handoff", verb, file, "--format", "json"])), wanted, "{verb} {file}");
        }
    }
    for file in ["cut.json", "old.json"] {
        let answer = house.run(&["handoff", "make", "--from", file, "--out", "x.json", "--format", "json"]);
        assert_eq!(answer.code, 1, "{file}: {answer:?}");
        assert!(!house.path("x.json").exists());
    }
    // No target: nobody is known, and then somebody is.
    let alone = house.run(&["handoff", "send", "nobody.json"]);
    assert!(alone.code == 1 && alone.err.contains("none were found"), "{alone:?}");
    house.write("skills/pm/SKILL.md", "---\nname: programming-pm\nhandoff:\n  accepts_from: [\"*\"]\n  schema_version: \"3.0\"\ncategories: [implementation]\n---\n");
    house.write("skills/bad/SKILL.md", "---\nname: [\n---\n");
    let found = house.run(&["handoff", "send", "nobody.json"]);
    assert!(found.code == 1 && found.out.contains("programming-pm") && found.out.contains("+40 category"), "{found:?}");
    assert!(found.err.contains("skipping it"), "{found:?}");
    let drafted = house.run(&[
        "handoff",
        "make",
        "--source",
        "a",
        "--summary",
        "s",
        "--problem-type",
        "implementation",
        "--payload",
        "plan.json",
    ]);
    assert!(drafted.code == 1 && drafted.out.contains("programming-pm"), "{drafted:?}");
    // A target that nobody knows of is sent to, and said.
    made(&house, "planner", "stranger", "h.json", &[]);
    assert!(done(send(&house, "h.json", "planner")).err.contains("no workflow `stranger` is known"));
    // What cannot be shortened is for a person to decide.
    let many: Map<String, Value> = (0..900).map(|n| (format!("key {n}"), json!(n))).collect();
    house.write("many.json", json!(many).to_string());
    let answer = make(&house, "planner", "b", "many-out.json", &["--payload", "many.json", "--session-path", "s"]);
    assert_eq!(code(&answer), "TOKEN_LIMIT_EXCEEDED");
    assert!(!house.path("many-out.json").exists() && !house.path("s/handoffs/session-context.json").exists());
    // What only its author knows is not made up.
    let answer =
        house.run(&["handoff", "make", "--source", "a", "--target", "b", "--payload", "plan.json", "--format", "json"]);
    assert_eq!(code(&answer), "MISSING_REQUIRED_INPUT");
}

#[cfg(unix)]
#[test]
fn what_is_missing_around_a_handoff_degrades_it_and_is_said() {
    use std::os::unix::fs::PermissionsExt;
    let house = project();
    house.write("plan.json", long(12_000).to_string());
    // A session that cannot be written: a file stands in its way.
    house.write("blocked", "a file");
    let temporary = house.path("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let answer = house.run_with(
        &[
            "handoff",
            "make",
            "--source",
            "a",
            "--target",
            "b",
            "--summary",
            "s",
            "--problem-type",
            "research",
            "--payload",
            "plan.json",
            "--session-path",
            "blocked",
            "--format",
            "json",
        ],
        "",
        &[("TMPDIR", temporary.to_str().unwrap())],
    );
    let made = json_of(&done(answer));
    assert_eq!(made["fallback"], true);
    let folder = temporary.join("countersign-handoffs").display().to_string();
    for field in ["path", "kept_at"] {
        let path = made[field].as_str().unwrap();
        assert!(path.starts_with(&folder) && std::path::Path::new(path).is_file(), "{made}");
    }
    // A draft of old, without a trace.
    house.write(
        "old.json",
        crate::house::document("universal_handoff", json!({ "handoff": { "trace_id": null } })).to_string(),
    );
    let answer =
        done(house.run(&["handoff", "make", "--from", "old.json", "--session-path", "s", "--out", "new.json"]));
    assert!(answer.err.contains("one was generated"), "{answer:?}");
    assert_eq!(document(&house, "new.json")["handoff"]["trace_id"].as_str().unwrap().len(), 36);
    // A file that cannot be replaced is sent without the note.
    std::fs::create_dir(house.path("fixed")).unwrap();
    std::fs::rename(house.path("new.json"), house.path("fixed/new.json")).unwrap();
    std::fs::set_permissions(house.path("fixed"), PermissionsExt::from_mode(0o555)).unwrap();
    let answer = done(house.run(&["handoff", "send", "fixed/new.json", "--as", "skill-editor"]));
    std::fs::set_permissions(house.path("fixed"), PermissionsExt::from_mode(0o755)).unwrap();
    let may_write_anywhere = notes(&document(&house, "fixed/new.json")).contains(&"transmitted");
    assert!(may_write_anywhere || answer.err.contains("going on without the note"), "{answer:?}");
    assert_eq!(kinds(&house), ["handoff.sent"]);
    // An estimate of tokens never takes the place of their number.
    house.write(".countersign/config.toml", "[tokens]\nencoding = \"chars4\"\n");
    assert_eq!(house.run(&["handoff", "check", "fixed/new.json"]).code, 3);
}

#[test]
fn what_is_asked_wrongly_is_said() {
    let house = project();
    plan(&house);
    house.write("other.json", json!({ "decision": "round up" }).to_string());
    let twice = ["--payload", "plan.json", "other.json"];
    assert_eq!(make(&house, "a", "b", "x.json", &twice).code, 2);
    assert_eq!(house.run(&["handoff", "make", "--trace", "x", "--source", "a"]).code, 2);
    assert_eq!(house.run(&["handoff", "receive", TRACE]).code, 2);
    assert_eq!(house.run(&["handoff", "check", "absent.json"]).code, 3);
    assert_eq!(house.run(&["handoff", "show", TRACE]).code, 1);
    // A draft that vouches for another payload than it has is not gone on from.
    made(&house, "a", "b", "h.json", &[]);
    let mut changed = document(&house, "h.json");
    changed["handoff"]["payload"]["working"]["decision"] = json!("round up");
    house.write("changed.json", changed.to_string());
    let answer = house.run(&["handoff", "make", "--from", "changed.json", "--out", "y.json", "--format", "json"]);
    assert_eq!(code(&answer), "INTEGRITY_MISMATCH");
    // What is there is not written over.
    assert_eq!(make(&house, "a", "b", "h.json", &["--payload", "plan.json"]).code, 3);
}
