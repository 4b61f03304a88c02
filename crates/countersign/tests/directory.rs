//! `countersign check DIR`: nothing that is ours is passed over, and what belongs together is found.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;

use house::{House, document};
use serde_json::json;
use std::os::unix::fs::symlink;

#[test]
fn a_payload_that_broke_is_refused_however_it_broke() {
    let assignment = document("assignment", json!({})).to_string();
    let mut latin = assignment.clone().into_bytes();
    latin.extend(b"\xe9");
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(assignment.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let cases: [(&str, Vec<u8>, i32); 9] = [
        ("latin.json", latin, 3),
        ("utf16.json", utf16, 3),
        ("first-line.yaml", b"packet_type: [\n".to_vec(), 1),
        ("quoted.yaml", b"a: 1\n'packet_type': [\n".to_vec(), 1),
        ("flow.yaml", b"{packet_type: assignment, ".to_vec(), 1),
        ("indented.yaml", b"  packet_type: a\n b: [\n".to_vec(), 1),
        ("front.md", b"---\nacceptance_check: [\n---\n".to_vec(), 1),
        ("foreign.json", b"{\"invoice_id\": ".to_vec(), 1),
        ("list.json", format!("[{assignment}]").into_bytes(), 1),
    ];
    for (name, text, code) in cases {
        let house = House::new();
        house.write("schemas/invoice.json", "{\"type\": \"object\"}");
        let config = "[[contracts]]\nname = \"invoice\"\nschema = \"schemas/invoice.json\"\nmarks = [\"invoice_id\"]\n";
        house.write(".countersign/config.toml", config);
        house.document("good.json", "assignment", json!({}));
        assert_eq!(house.run(&["check"]).code, 0);
        house.write(name, text);
        let answer = house.run(&["check"]);
        assert_eq!(answer.code, code, "{name}: {answer:?}");
        assert!(format!("{}{}", answer.out, answer.err).contains(name), "{name}: {answer:?}");
    }
}

#[test]
fn files_of_others_are_skipped_however_they_look() {
    let house = House::new();
    house
        .document("good.json", "assignment", json!({}))
        .write("latin.json", b"{\"name\": \"\xe9\"}")
        .write("large.json", format!("[\"{}\"]", "x".repeat(3_000)))
        .write("README.md", "# Handoffs\n\nhandoff: a word, and ownership: another\n")
        .write("schema.json", "{\"properties\": {\"handoff\": {\"type\": \"object\"}}}")
        .write("nested.yaml", "team:\n  ownership: us\n");
    let answer = house.run(&["check", "--max-size", "3000"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(answer.err.trim(), "1 allowed, 0 refused, 5 skipped as no payload");
}

#[test]
fn front_matter_with_the_keys_of_a_contract_that_is_never_markdown_is_somebody_elses() {
    let house = House::new();
    let skill = "---\nname: pm\nhandoff: {accepts_from: [\"*\"], schema_version: \"3.0\"}\n---\n# Skill\n";
    house
        .document("good.json", "assignment", json!({}))
        .write(".claude/skills/pm/SKILL.md", skill)
        .write(".claude/skills/broken/SKILL.md", skill.replace('}', ""));
    let answer = house.run(&["check", "."]);
    assert_eq!((answer.code, answer.err.trim()), (0, "1 allowed, 0 refused, 2 skipped as no payload"), "{answer:?}");
    // Whoever names it means it, and so does whoever names the contract.
    let arguments: [&[&str]; 2] =
        [&[".claude/skills/pm/SKILL.md"], &[".claude/skills/pm", "--contract", "universal_handoff"]];
    for arguments in arguments {
        let (code, decisions) = house.decisions(arguments);
        assert_eq!((code, &decisions[0]["details"]["diagnostics"][0]["rule"]), (1, &json!("form-unfit")));
    }
    // In another form the same keys are a handoff that is not right.
    house.write("handoff.yaml", "handoff: {accepts_from: [\"*\"]}\n");
    assert_eq!(house.run(&["check", "."]).code, 1);
}

#[test]
fn a_payload_that_is_too_large_is_refused_and_not_passed_over() {
    let house = House::new();
    house.document("good.json", "assignment", json!({}));
    // The mark comes last, far beyond the limit.
    let filler = "x".repeat(1_000_000);
    house.write("large.json", format!("{{\"a\": \"{filler}\", \"packet_type\": \"assignment\"}}"));
    let arguments = ["--max-size", "100000"];
    let (code, codes) = house.codes(&[&["."], &arguments[..]].concat());
    assert_eq!((code, codes), (1, vec!["OK".to_owned(), "SCHEMA_INVALID".to_owned()]));
    let (code, decisions) = house.decisions(&[&["large.json"], &arguments[..]].concat());
    assert_eq!(code, 1);
    assert_eq!(decisions[0]["details"]["diagnostics"][0]["rule"], "limit-exceeded");
}

#[test]
fn nothing_found_is_a_failure_in_every_format() {
    let house = House::new();
    house.write("package.json", "{\"name\": \"x\"}");
    for format in ["text", "json", "sarif", "github"] {
        let answer = house.run(&["check", ".", "--format", format]);
        assert_eq!(answer.code, 3, "{format}: {answer:?}");
        assert!(answer.err.contains("nothing to check was found"), "{format}: {answer:?}");
    }
    let log: serde_json::Value = serde_json::from_str(&house.run(&["check", "--format", "sarif"]).out).unwrap();
    assert_eq!(log["version"], "2.1.0");
}

#[test]
fn links_are_followed_where_they_stay_inside_and_counted_where_they_lead_out() {
    let house = House::new();
    let bad = json!({"task": {"lock_scope": ["src"], "forbidden_scope": ["src/vendor"]}});
    house.document("elsewhere/bad.json", "assignment", bad.clone());
    house.document("inside/kept.txt", "assignment", bad);
    house.document("inside/good.json", "assignment", json!({"task": {"task_id": "T-99"}}));
    symlink("kept.txt", house.path("inside/linked.json")).unwrap();
    symlink("../elsewhere/bad.json", house.path("inside/outside.json")).unwrap();
    symlink("../elsewhere", house.path("inside/folder")).unwrap();
    symlink("nowhere", house.path("inside/broken.json")).unwrap();
    let (_, decisions) = house.decisions(&["inside"]);
    let files: Vec<&str> = decisions.iter().map(|it| it["details"]["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["inside/good.json", "inside/linked.json"]);
    let answer = house.run(&["check", "inside"]);
    assert_eq!(answer.code, 1);
    assert!(answer.err.contains("3 links skipped that lead nowhere or out of the directory"), "{answer:?}");
}

#[test]
fn only_gitignore_keeps_a_file_from_being_checked() {
    let house = House::new();
    house.document("good.json", "assignment", json!({}));
    house.write("bad.json", "{\"packet_type\": 1}").write(".ignore", "bad.json\n");
    house.write(".git/info/exclude", "bad.json\n").write(".git/HEAD", "ref: refs/heads/main\n");
    assert_eq!(house.run(&["check"]).code, 1);
    house.write(".gitignore", "bad.json\n");
    assert_eq!(house.run(&["check"]).code, 0);
}

#[test]
fn several_with_one_id_must_say_the_same_wherever_they_lie() {
    let outside = json!({"changes": [{"resource": "src/api.py", "action": "edit"}]});
    let wide = json!({"task": {"lock_scope": ["src/api.py"]}});
    let has = |decision: &serde_json::Value, rule: &str| {
        decision["details"]["diagnostics"].as_array().unwrap().iter().any(|it| it["rule"] == rule)
    };
    // One in the same folder is what the result is compared with, and that another differs is said.
    let house = House::new();
    house.document("a/assignment.json", "assignment", wide.clone());
    house.document("b/assignment.json", "assignment", json!({}));
    house.document("b/result.json", "subagent_result", outside.clone());
    let (_, decisions) = house.decisions(&["."]);
    assert!(has(&decisions[2], "change-outside-scope") && has(&decisions[2], "companion-contested"), "{decisions:?}");
    // Whoever puts a wider one beside their own result has gained nothing.
    house.document("a/assignment.json", "assignment", json!({})).document(
        "b/assignment.json",
        "assignment",
        wide.clone(),
    );
    let (code, decisions) = house.decisions(&["."]);
    assert_eq!((code, &decisions[2]["code"]), (1, &json!("CORRELATION_MISMATCH")), "{decisions:?}");
    assert!(has(&decisions[2], "companion-contested"), "{decisions:?}");
    // Two that say the same are one.
    let house = House::new();
    house.document("a/assignment.json", "assignment", json!({}));
    house.document("b/assignment.json", "assignment", json!({}));
    house.document("c/result.json", "subagent_result", outside.clone());
    let (_, codes) = house.codes(&["."]);
    assert_eq!(codes[2], "SCOPE_VIOLATION");
    // Of two that differ neither is taken.
    house.document("b/assignment.json", "assignment", wide);
    let (_, codes) = house.codes(&["."]);
    assert_ne!(codes[2], "SCOPE_VIOLATION");
    // One that is itself refused does not count: its own decision speaks of it.
    let refused = json!({"task": {"lock_scope": ["src"], "forbidden_scope": ["src/vendor"]}});
    house.document("a/assignment.json", "assignment", refused);
    house.document("b/assignment.json", "assignment", json!({}));
    let (_, codes) = house.codes(&["."]);
    assert_ne!(codes[0], "OK");
    assert_eq!(codes[2], "SCOPE_VIOLATION");
}

#[test]
fn a_long_chain_of_assignments_is_no_circle_until_it_is_closed() {
    let house = House::new();
    for number in 1..=400 {
        let needs: Vec<String> = (number > 1).then(|| format!("T-{}", number - 1)).into_iter().collect();
        let task = json!({"task_id": format!("T-{number}"), "dependencies": needs, "lock_scope": [format!("src/{number}.py")]});
        house.document(&format!("{number:04}.json"), "assignment", json!({"task": task}));
    }
    let (code, codes) = house.codes(&["."]);
    assert_eq!((code, codes.len()), (0, 400));
    house.document(
        "0001.json",
        "assignment",
        json!({"task": {"task_id": "T-1", "dependencies": ["T-400"], "lock_scope": ["src/1.py"]}}),
    );
    let (_, codes) = house.codes(&["."]);
    assert!(codes.iter().all(|code| code == "DEPENDENCY_NOT_MET"), "{codes:?}");
}

#[test]
fn a_folder_that_cannot_be_looked_into_is_not_passed_over() {
    use std::os::unix::fs::PermissionsExt;
    let house = House::new();
    house.document("good.json", "assignment", json!({})).document("closed/a.json", "assignment", json!({}));
    let closed = |mode| std::fs::set_permissions(house.path("closed"), std::fs::Permissions::from_mode(mode)).unwrap();
    closed(0o000);
    let open_to_all = std::fs::read_dir(house.path("closed")).is_ok();
    let answer = house.run(&["check"]);
    closed(0o755);
    // Whoever may read everything has nothing to be refused.
    if !open_to_all {
        assert_eq!(answer.code, 3, "{answer:?}");
        assert!(answer.err.contains("1 allowed, 0 refused, 1 could not be read"), "{answer:?}");
    }
}

#[test]
fn a_validator_who_had_a_hand_in_the_work_is_found_by_its_traces() {
    let worklog = |actor: &str| format!("{}\n", document("worklog_entry", json!({"actor": actor})));
    // Who wrote in the worklogs that lie beside the response, and what becomes of the response.
    let cases: [(&[&str], &str); 4] = [
        (&["worker-7"], "OK"),
        (&["Judge"], "MISSING_VALIDATOR"),
        (&["worker-7", "judge", "worker-8"], "MISSING_VALIDATOR"),
        (&["worker-7", "worker-8"], "OK"),
    ];
    for (actors, code) in cases {
        let house = House::new();
        house.document("response.json", "validation_response", json!({"task_id": "T-12", "validator_id": "judge"}));
        let lines: String = actors.iter().map(|actor| worklog(actor)).collect();
        house.write("one.jsonl", lines).write("two.jsonl", worklog("somebody"));
        let with = house.codes(&["response.json", "--with", "one.jsonl", "--with", "two.jsonl"]);
        assert_eq!(with.1, [code], "{actors:?}");
        let (_, decisions) = house.decisions(&["."]);
        let response = decisions.iter().find(|it| it["details"]["contract"] == "validation_response").unwrap();
        assert_eq!(response["code"], code, "{actors:?}");
    }
    // A worklog of another task shows nothing, and is not passed over in silence.
    let house = House::new();
    house.document("response.json", "validation_response", json!({"task_id": "T-13", "validator_id": "judge"}));
    house.write("one.jsonl", worklog("judge"));
    let mismatch = vec!["CORRELATION_MISMATCH".to_owned()];
    assert_eq!(house.codes(&["response.json", "--with", "one.jsonl"]), (1, mismatch));
}

#[test]
fn one_id_for_two_different_instructions_is_refused_wherever_they_meet() {
    let other = json!({"AUDIT_CONTEXT": {"REASON": "it is not needed any more"}});
    let refused = ["CORRELATION_MISMATCH"];
    // The second document and where it lies, how both are named, and how many of the two are refused.
    let cases: [(&str, &serde_json::Value, &[&str], usize); 6] = [
        ("b.json", &other, &["a.json", "b.json"], 2),
        ("b.json", &other, &["."], 2),
        ("b.json", &other, &["a.json", "--with", "b.json"], 1),
        ("b.json", &json!({}), &["."], 0),
        ("elsewhere/b.json", &other, &["."], 0),
        ("elsewhere/b.json", &other, &["a.json", "elsewhere/b.json"], 2),
    ];
    for (name, patch, arguments, count) in cases {
        let house = House::new();
        house.document("a.json", "delegation_instruction", json!({}));
        house.document(name, "delegation_instruction", patch.clone());
        let (_, codes) = house.codes(arguments);
        let found = codes.iter().filter(|code| refused.contains(&code.as_str())).count();
        assert_eq!(found, count, "{name} {arguments:?}: {codes:?}");
    }
    // However many there are: each is one of several that differ.
    let house = House::new();
    house.document("a.json", "delegation_instruction", json!({})).document(
        "b.json",
        "delegation_instruction",
        json!({}),
    );
    house.document("c.json", "delegation_instruction", other);
    assert_eq!(house.codes(&["."]).1, ["CORRELATION_MISMATCH"; 3]);
}

#[test]
fn a_sarif_log_says_what_could_not_be_read() {
    let house = House::new();
    house.document("good.json", "assignment", json!({})).write("latin.json", b"{\"packet_type\": \"\xe9\"}");
    // What is checked, whether the check was carried out, its exit code, and which files are named as not read.
    let cases: [(&[&str], bool, i32, &[&str]); 5] = [
        (&["good.json"], true, 0, &[]),
        (&["good.json", "--against", "gone.json"], false, 3, &[""]),
        (&["."], false, 3, &["latin.json"]),
        (&["good.json", "--with", "gone.json"], false, 3, &[""]),
        (&["empty"], false, 3, &[""]),
    ];
    std::fs::create_dir(house.path("empty")).unwrap();
    for (arguments, successful, code, files) in cases {
        let answer = house.run(&[&["check", "--format", "sarif"], arguments].concat());
        assert_eq!(answer.code, code, "{arguments:?}");
        let log: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
        let said = &log["runs"][0]["invocations"][0];
        assert_eq!((&said["executionSuccessful"], &said["exitCode"]), (&json!(successful), &json!(code)), "{said}");
        let notes = said["toolExecutionNotifications"].as_array().unwrap().iter();
        let named = |note: &serde_json::Value| {
            let uri = note.pointer("/locations/0/physicalLocation/artifactLocation/uri");
            uri.and_then(|it| it.as_str()).unwrap_or_default().trim_start_matches("./").to_owned()
        };
        assert_eq!(notes.map(named).collect::<Vec<_>>(), files, "{said}");
    }
}
