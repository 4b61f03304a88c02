//! What fails, what is missing, and what is asked wrongly.

use crate::house::{Answer, House};
use crate::{TRACE, code, document, done, json_of, kinds, long, made, make, notes, pass, plan, project, receive, send};
use countersign_contract::Settings;
use countersign_domain::handoff::budget;
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
    // A target that nobody knows of is not guessed at: those that are known are shown, and it is sent if it is meant so.
    made(&house, "planner", "stranger", "h.json", &["--unlisted"]);
    let refused = house.run(&["handoff", "send", "h.json", "--as", "planner"]);
    assert!(refused.code == 1 && refused.err.contains("no workflow `stranger` is known"), "{refused:?}");
    assert!(refused.out.contains("programming-pm") && refused.out.contains("+40 category"), "{refused:?}");
    let again = make(&house, "planner", "stranger", "i.json", &["--payload", "plan.json"]);
    assert!(again.code == 1 && !house.path("i.json").exists(), "{again:?}");
    done(house.run(&["handoff", "send", "h.json", "--as", "planner", "--unlisted"]));
    std::fs::remove_dir_all(house.path("skills")).unwrap();
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

/// An agent that takes the document out of what it is asked, sets some of its fields, and answers with it.
#[cfg(unix)]
fn repairer(house: &House, name: &str, sets: &Value) -> String {
    use std::os::unix::fs::PermissionsExt;
    const AGENT: &str = r#"#!/usr/bin/env python3
import json, sys
asked = sys.stdin.read()
open(__file__ + ".asked", "w").write(asked)
open(__file__ + ".times", "a").write("x")
document = json.loads(asked.split(" begins\n")[1].split("\n}\n")[0] + "\n}")
for path, value in json.load(open(__file__ + ".sets")).items():
    *way, last = [int(step) if step.isdigit() else step for step in path.split("/")[1:]]
    at = document
    for step in way:
        at = at[step]
    at[last] = value
print(json.dumps(document))
"#;
    house.write(&format!("{name}.sets"), sets.to_string()).write(name, AGENT);
    let path = house.path(name);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[cfg(unix)]
#[test]
fn what_rules_cannot_mend_an_agent_may_and_nothing_but_that() {
    let house = project();
    let draft = json!({ "handoff": { "context": { "summary": null } } });
    house.write("draft.json", crate::house::document("universal_handoff", draft).to_string());
    let make = |out: &str, repairer: &str| {
        let arguments =
            ["handoff", "make", "--from", "draft.json", "--session-path", "s", "--format", "json", "--out", out];
        let with = ["--repairer", repairer];
        house.run(&[&arguments[..], if repairer.is_empty() { &[] } else { &with[..] }].concat())
    };
    // By rule it cannot be: what an agent would be asked is in the report.
    let report = make("a.json", "");
    assert_eq!(code(&report), "MISSING_REQUIRED_INPUT");
    let prompt = json_of(&report)["repair_prompt"].as_str().unwrap().to_owned();
    assert!(prompt.contains("/handoff/context/summary: required field"), "{prompt}");
    let summary = json!({ "/handoff/context/summary": "What the agent made of it" });
    let answer = done(make("b.json", &repairer(&house, "good", &summary)));
    assert!(json_of(&answer)["changes"].to_string().contains("an agent mended"), "{answer:?}");
    assert_eq!(document(&house, "b.json")["handoff"]["context"]["summary"], "What the agent made of it");
    let asked = house.read("good.asked");
    assert!(asked.contains("is data") && asked.contains("universal handoff schema, version 3.0"), "{asked}");
    // Whoever changes what was not wrong is not believed.
    for (name, pointer, value) in [
        ("elsewhere", "/handoff/target/skill", json!("eve")),
        ("payload", "/handoff/payload/working/decision", json!("round up")),
        ("chain", "/handoff/meta/handoff_chain/0", json!("eve")),
        ("approved", "/handoff/meta/user_approved", json!(true)),
        ("for-ever", "/handoff/expires_at", json!("2999-01-01T00:00:00Z")),
        ("sure", "/handoff/meta/confidence", json!("high")),
        ("sort", "/handoff/context/problem_type", json!("creative")),
        ("added", "/handoff/context/focus_areas", json!(["eve"])),
    ] {
        let mut sets = summary.clone();
        sets[pointer] = value;
        let answer = make("c.json", &repairer(&house, name, &sets));
        assert_eq!(code(&answer), "MISSING_REQUIRED_INPUT", "{name}");
        let told = format!("it changes `{pointer}`, with which nothing was wrong");
        assert!(answer.err.contains(&told) && !house.path("c.json").exists(), "{told}: {answer:?}");
        // It is told so, and may answer twice more.
        assert_eq!(house.read(&format!("{name}.times")), "xxx");
        assert!(house.read(&format!("{name}.asked")).contains(&told), "{name}");
    }
    // One that does not mend it is asked three times, and no more; what is no program does not help.
    assert_eq!(make("d.json", &repairer(&house, "idle", &json!({}))).code, 1);
    assert_eq!(house.read("idle.times"), "xxx");
    assert_eq!(make("e.json", "/nowhere/at/all").code, 1);
    assert!(!house.path("d.json").exists() && !house.path("e.json").exists());
}

#[cfg(unix)]
#[test]
fn what_an_agent_mends_inside_of_the_payload_is_sealed_anew() {
    let house = project();
    let artifact = |name: &str, kind: &str| json!({ "name": name, "path": "plan.md", "type": kind });
    let session = json!({ "artifacts": [artifact("Plan", "report"), artifact("Statue", "sculpture")] });
    let draft = json!({ "handoff": { "payload": { "session": session } } });
    house.write("draft.json", crate::house::document("universal_handoff", draft).to_string());
    let make = |out: &str, repairer: &str| {
        let arguments = ["handoff", "make", "--from", "draft.json", "--session-path", "s", "--format", "json"];
        house.run(&[&arguments[..], &["--out", out, "--repairer", repairer]].concat())
    };
    let kind = "/handoff/payload/session/artifacts/1/type";
    // A hash of its own is none that counts.
    let hash = format!("sha256:{}", "0".repeat(64));
    let sets = json!({ kind: "model", "/handoff/meta/payload_hash": hash, "/handoff/meta/payload_size_bytes": 7 });
    done(make("a.json", &repairer(&house, "good", &sets)));
    assert_eq!(house.read("good.times"), "x");
    let made = document(&house, "a.json");
    assert_eq!(made.pointer(kind), Some(&json!("model")));
    let mut sealed = made.clone();
    (countersign_domain::contract("universal_handoff").unwrap().seal)(&mut sealed);
    budget::state_count(&mut sealed, &Settings::default());
    assert_eq!(made, sealed);
    done(house.run(&["handoff", "check", "a.json"]));
    // What stands beside it in the payload is not freed with it.
    for (name, pointer) in [
        ("other", "/handoff/payload/session/artifacts/0/type"),
        ("beside", "/handoff/payload/session/artifacts/1/name"),
        ("decision", "/handoff/payload/working/decision"),
    ] {
        let answer = make("b.json", &repairer(&house, name, &json!({ kind: "model", pointer: "data" })));
        assert_eq!(code(&answer), "SCHEMA_INVALID", "{name}");
        assert!(answer.err.contains(&format!("it changes `{pointer}`")), "{answer:?}");
        assert!(!house.path("b.json").exists());
    }
}

#[cfg(unix)]
#[test]
fn what_was_taken_out_before_an_agent_mended_the_rest_is_kept() {
    let house = project();
    let whole = long(20_000);
    house.write("long.json", whole.to_string());
    let later = repairer(&house, "later", &json!({ "/handoff/expires_at": "2999-01-01T00:00:00Z" }));
    let late = ["--payload", "long.json", "--session-path", "s", "--expires-at", "2020-01-01T00:00:00Z"];
    // As long as it may not pass, nothing is written.
    assert_eq!(make(&house, "a", "b", "h.json", &late).code, 1);
    assert!(!house.path("h.json").exists() && !house.path("s").exists());
    let answer = json_of(&done(make(&house, "a", "b", "h.json", &[&late[..], &["--repairer", &later]].concat())));
    let at = answer["kept_at"].as_str().unwrap();
    assert!(house.read("h.json").contains(at), "{answer}");
    let taken: Vec<&str> = answer["taken"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert!(taken.contains(&"/handoff/payload/session"), "{taken:?}");
    let kept = document(&house, at);
    assert_eq!(kept["values"]["/handoff/payload/session"], whole["session"]);
    done(send(&house, "h.json", "a"));
    done(receive(&house, "h.json", "b"));
}

#[cfg(unix)]
#[test]
fn programs_of_ones_own_are_split_into_words_as_by_a_shell() {
    let house = project();
    let draft = json!({ "handoff": { "context": { "problem_type": "gardening" } } });
    house.write("draft.json", crate::house::document("universal_handoff", draft).to_string());
    let program = repairer(&house, "an agent", &json!({ "/handoff/context/problem_type": "research" }));
    let make = ["handoff", "make", "--from", "draft.json", "--session-path", "s", "--out", "a.json"];
    done(house.run(&[&make[..], &["--repairer", &format!("'{program}' \"of ours\"")]].concat()));
    house.write("long.json", json!({ "notes": "The total is rounded. ".repeat(900) }).to_string());
    let shorter = "sh -c 'cat > /dev/null; echo \"$1\"' sh 'in short'";
    done(crate::make(&house, "a", "b", "c.json", &["--payload", "long.json", "--summarizer", shorter]));
    assert_eq!(document(&house, "c.json")["handoff"]["payload"]["working"]["notes"], "in short");
    let fix = ["fix", "draft.json"];
    for (verb, flag) in [(&make[..], "--repairer"), (&make[..], "--summarizer"), (&fix[..], "--summarizer")] {
        for open in ["tell 'us", ""] {
            let answer = house.run(&[verb, &[flag, open]].concat());
            assert!(answer.code == 2 && answer.err.contains(flag), "{answer:?}");
        }
    }
}

/// What is tried in a row, and what must be true then.
type Row = (&'static str, fn(&House));

/// A draft with a patch, made into a handoff: the answer, and the document if there is one.
fn mended(house: &House, patch: Value) -> (Answer, Option<Value>) {
    house.write("row.json", crate::house::document("universal_handoff", patch).to_string());
    let _ = std::fs::remove_file(house.path("out.json"));
    let arguments = ["handoff", "make", "--from", "row.json", "--session-path", "s", "--format", "json"];
    let answer = house.run(&[&arguments[..], &["--out", "out.json"]].concat());
    let made = house.path("out.json").exists().then(|| document(house, "out.json"));
    (answer, made)
}

fn checks(house: &House, patch: Value) -> String {
    house.write("row.json", crate::house::document("universal_handoff", patch).to_string());
    code(&house.run(&["handoff", "check", "row.json", "--format", "json"]))
}

#[cfg(unix)]
#[test]
fn each_row_of_the_tables_of_failures_degradations_and_common_errors_holds() {
    use std::os::unix::fs::PermissionsExt;
    let rows: &[Row] = &[
        ("failure: the JSON is corrupted", |house| {
            house.write("cut.json", &crate::house::document("universal_handoff", json!({})).to_string()[..200]);
            assert_eq!(code(&house.run(&["handoff", "check", "cut.json", "--format", "json"])), "SCHEMA_INVALID");
            let again = house.run(&["handoff", "make", "--from", "cut.json", "--out", "x.json"]);
            assert!(again.code == 1 && again.err.contains("make it again without --from"), "{again:?}");
        }),
        ("failure: the target is not found", |house| {
            house.write("skills/pm/SKILL.md", "---\nname: programming-pm\nhandoff:\n  accepts_from: [\"*\"]\n---\n");
            let answer = make(house, "planner", "stranger", "x.json", &["--payload", "plan.json"]);
            assert!(answer.code == 1 && answer.err.contains("no workflow `stranger` is known"), "{answer:?}");
            let known = json_of(&answer);
            assert!(known[0]["skill"] == "programming-pm" && known[0]["score"].is_i64(), "{known}");
            // At a terminal a person is asked.
            for (typed, wanted) in [("programming-pm\n", Some("programming-pm")), ("nobody\n", None)] {
                let (code, said) = at_a_terminal(house, "stranger", "asked.json", typed);
                assert!(said.contains("Who takes over?") && said.contains("programming-pm"), "{said}");
                assert_eq!(code, i32::from(wanted.is_none()), "{said}");
                let target = wanted.map(|_| document(house, "asked.json")["handoff"]["target"]["skill"].clone());
                assert_eq!(target, wanted.map(Value::from));
                let _ = std::fs::remove_file(house.path("asked.json"));
            }
        }),
        ("failure: too many tokens after compression", |house| {
            let many: Map<String, Value> = (0..900).map(|n| (format!("key {n}"), json!(n))).collect();
            house.write("many.json", json!(many).to_string());
            let answer = make(house, "planner", "b", "many-out.json", &["--payload", "many.json"]);
            assert_eq!(code(&answer), "TOKEN_LIMIT_EXCEEDED");
            assert!(!house.path("many-out.json").exists());
        }),
        ("failure: the trace cannot be written", |house| {
            std::fs::create_dir(house.path("fixed")).unwrap();
            made(house, "planner", "builder", "fixed/h.json", &[]);
            std::fs::set_permissions(house.path("fixed"), PermissionsExt::from_mode(0o555)).unwrap();
            let answer = done(send(house, "fixed/h.json", "planner"));
            std::fs::set_permissions(house.path("fixed"), PermissionsExt::from_mode(0o755)).unwrap();
            let may_write_anywhere = notes(&document(house, "fixed/h.json")).contains(&"transmitted");
            assert!(may_write_anywhere || answer.err.contains("going on without the note"), "{answer:?}");
        }),
        ("failure: a circle", |house| {
            let chain = json!({ "handoff": { "meta": { "handoff_chain": ["programming-pm", "skill-editor"] } } });
            assert_eq!(checks(house, chain), "CIRCULAR_HANDOFF");
            let shown = house.run(&["handoff", "check", "row.json"]);
            let all = format!("{}{}", shown.out, shown.err);
            assert!(all.contains("programming-pm → skill-editor → programming-pm"), "{shown:?}");
        }),
        ("failure: another version", |house| {
            assert_eq!(checks(house, json!({ "handoff": { "version": "2.0" } })), "UNKNOWN_SCHEMA_VERSION");
            assert!(!done(house.run(&["explain", "UNKNOWN_SCHEMA_VERSION"])).out.is_empty());
        }),
        ("degradation: the schema file is missing", |house| {
            // It is part of the program: in a folder with nothing in it the whole of it is known.
            assert_eq!(checks(house, json!({ "handoff": { "colour": "red" } })), "SCHEMA_INVALID");
            assert!(done(house.run(&["schema", "universal_handoff"])).out.contains("token_count"));
        }),
        ("degradation: tokens cannot be counted", |house| {
            // They always can; an encoding that is not there is not replaced by an estimate.
            done(house.run_with(&["tokens", "plan.json"], "", &[("PATH", "")]));
            house.write("row.json", crate::house::document("universal_handoff", json!({})).to_string());
            house.write(".countersign/config.toml", "[tokens]\nencoding = \"chars4\"\n");
            assert_eq!(house.run(&["handoff", "check", "row.json"]).code, 3);
        }),
        ("degradation: front matter that cannot be parsed", |house| {
            house.write("skills/bad/SKILL.md", "---\nname: [\n---\n");
            let answer = make(house, "planner", "builder", "front.json", &["--payload", "plan.json"]);
            assert!(done(answer).err.contains("skipping it"));
        }),
        ("degradation: the file cannot be written", |house| {
            house.write("blocked", "a file");
            let temporary = house.path("tmp");
            std::fs::create_dir(&temporary).unwrap();
            let own = ["handoff", "make", "--source", "a", "--target", "b", "--summary", "s", "--format", "json"];
            let rest = ["--problem-type", "research", "--payload", "plan.json", "--session-path", "blocked"];
            let temporary = [("TMPDIR", temporary.to_str().unwrap())];
            let answer = done(house.run_with(&[&own[..], &rest].concat(), "", &temporary));
            assert!(json_of(&answer)["fallback"] == true && answer.err.contains("using the fallback location"));
        }),
        ("degradation: no trace id", |house| {
            let (answer, made) = mended(house, json!({ "handoff": { "trace_id": null } }));
            assert!(done(answer).err.contains("one was generated"));
            assert_eq!(made.unwrap()["handoff"]["trace_id"].as_str().unwrap().len(), 36);
        }),
        ("common: a required field is missing", |house| {
            let (_, made) = mended(house, json!({ "handoff": { "meta": { "confidence": null } } }));
            assert_eq!(made.unwrap()["handoff"]["meta"]["confidence"], "medium");
            assert_eq!(mended(house, json!({ "handoff": { "context": { "problem_type": null } } })).1, None);
        }),
        ("common: another type", |house| {
            let (_, made) = mended(house, json!({ "handoff": { "meta": { "token_count": "12" } } }));
            assert!(made.unwrap()["handoff"]["meta"]["token_count"].is_u64());
        }),
        ("common: too long", |house| {
            let (answer, made) =
                mended(house, json!({ "handoff": { "context": { "summary": "word. ".repeat(200) } } }));
            assert!(made.unwrap()["handoff"]["context"]["summary"].as_str().unwrap().chars().count() <= 500);
            assert_eq!(json_of(&answer)["taken"], json!(["/handoff/context/summary"]));
        }),
        ("common: another format", |house| {
            let (_, made) = mended(house, json!({ "handoff": { "timestamp": "2026-02-07 18:30:00+00:00" } }));
            assert!(made.unwrap()["handoff"]["timestamp"].as_str().unwrap().ends_with('Z'));
        }),
        ("common: a word that is none", |house| {
            let (_, made) = mended(house, json!({ "handoff": { "context": { "problem_type": "Implementation" } } }));
            assert_eq!(made.unwrap()["handoff"]["context"]["problem_type"], "implementation");
            // Where none is near, there is a default, and what was said is kept; or there is none.
            let (answer, made) = mended(house, json!({ "handoff": { "meta": { "confidence": "very sure" } } }));
            assert_eq!(made.unwrap()["handoff"]["meta"]["confidence"], "medium");
            assert_eq!(json_of(&answer)["taken"], json!(["/handoff/meta/confidence"]));
            let (answer, _) = mended(house, json!({ "handoff": { "context": { "problem_type": "gardening" } } }));
            assert_eq!(code(&answer), "SCHEMA_INVALID");
        }),
        ("common: a field too many", |house| {
            let (answer, made) = mended(house, json!({ "handoff": { "colour": "red" }, "version": "x" }));
            let (answer, made) = (json_of(&done(answer)), made.unwrap());
            assert!(made["handoff"].get("colour").is_none() && made.get("version").is_none(), "{made:#}");
            assert_eq!(answer["taken"].as_array().unwrap().len(), 2, "nothing is lost: {answer}");
            let (_, made) = mended(house, json!({ "handoff": { "context": { "focus_area": ["x"] } } }));
            assert_eq!(made.unwrap()["handoff"]["context"]["focus_areas"], json!(["x"]));
        }),
    ];
    for (name, holds) in rows {
        let house = project();
        plan(&house);
        // Its name stands above what it says.
        eprintln!("{name}");
        holds(&house);
    }
}

/// What a person is told at a terminal who makes a handoff for somebody, and types this.
#[cfg(unix)]
fn at_a_terminal(house: &House, target: &str, out: &str, typed: &str) -> (i32, String) {
    use std::io::Write;
    use std::process::{Command, Stdio};
    const SPAWN: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let mut person = Command::new("python3");
    person.args(["-c", SPAWN, env!("CARGO_BIN_EXE_countersign"), "handoff", "make", "--source", "planner"]);
    person.args(["--target", target, "--summary", "s", "--problem-type", "implementation", "--payload", "plan.json"]);
    person.args(["--out", out]).current_dir(house.path("")).env("COUNTERSIGN_HOME", house.path(".home"));
    person.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut going = person.spawn().unwrap();
    going.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let output = going.wait_with_output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn what_becomes_of_a_handoff_is_in_its_trace() {
    let house = project();
    plan(&house);
    pass(&house, "planner", "builder", &[]);
    let file = "planner-builder.json";
    assert_eq!(notes(&document(&house, file)), ["created", "validated", "transmitted", "received"]);
    // Who took it is done with it, and says so once; nobody else does.
    let processed =
        |by: &str| house.run(&["handoff", "receive", file, "--as", by, "--skill", "builder", "--processed"]);
    assert_eq!(processed("eve").code, 1);
    assert!(done(processed("builder")).out.starts_with("processed: handoff 1"));
    assert!(done(processed("builder")).out.starts_with("processed already"));
    assert_eq!(notes(&document(&house, file)).last(), Some(&"processed"));
    let chain = json_of(&done(house.run(&["handoff", "chain", TRACE, "--format", "json"])));
    assert_eq!((&chain["steps"][0]["status"], &chain["steps"][0]["errors"]), (&json!("processed"), &json!([])));
    // What could not be taken is an error of that handoff, once for each kind.
    made(&house, "builder", "reviewer", "back.json", &[]);
    done(send(&house, "back.json", "builder"));
    let mut changed = document(&house, "back.json");
    changed["handoff"]["context"]["summary"] = json!("another");
    house.write("changed.json", changed.to_string());
    for _ in 0..2 {
        assert_eq!(receive(&house, "changed.json", "reviewer").code, 1);
    }
    let chain = json_of(&done(house.run(&["handoff", "chain", TRACE, "--format", "json"])));
    assert_eq!(chain["steps"][1]["errors"], json!(["INTEGRITY_MISMATCH"]), "{chain:#}");
    assert_eq!(kinds(&house), ["handoff.sent", "handoff.received", "handoff.noted", "handoff.sent", "handoff.noted"]);
}
