//! `countersign fix` as its users call it.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;

use house::{House, document};
use serde_json::{Map, Value, json};

/// A handoff far beyond its budget, most of it in the session.
fn long_handoff(session_path: &str) -> Value {
    let findings: Vec<String> = (0..200)
        .map(|number| format!("finding {number}: the handler of area {number} reads the tenant from the request"))
        .collect();
    document(
        "universal_handoff",
        json!({"handoff": {
            "source": {"session_path": session_path},
            "context": {"original_prompt": "Look through all handlers for tenants. ".repeat(20)},
            "payload": {"session": {"state": {"findings": findings}}},
        }}),
    )
}

#[test]
fn without_write_nothing_is_written_anywhere() {
    let house = House::new();
    house.write("handoff.json", format!("{:#}\n", long_handoff("session")));
    let before = house.all();
    let answer = house.run(&["fix", "handoff.json"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(house.all(), before);
    assert!(answer.err.contains("--- handoff.json"), "{answer:?}");
    // What comes out on standard output is the document that passes.
    let checked = house.run_with(&["check", "-", "--stdin-filename", "handoff.json"], &answer.out, &[]);
    assert_eq!(checked.code, 0, "{checked:?}");
}

#[test]
fn what_is_taken_out_is_kept_before_the_document_is_replaced() {
    let house = House::new();
    let original = long_handoff("session");
    house.write("handoff.json", format!("{original:#}\n"));
    let answer = house.run(&["fix", "--write", "handoff.json"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(answer.out, "");
    let fixed: Value = serde_json::from_str(&house.read("handoff.json")).unwrap();
    let reference = fixed.pointer("/handoff/payload/references/files/0/path").unwrap().as_str().unwrap();
    assert_eq!(reference, "session/handoffs/session-context.json");
    let kept: Value = serde_json::from_str(&house.read(reference)).unwrap();
    assert_eq!(kept["values"]["/handoff/payload/session"], original["handoff"]["payload"]["session"]);
    assert_eq!(house.run(&["check", "handoff.json"]).code, 0);
    // A second time there is nothing to do.
    let before = house.all();
    let again = house.run(&["fix", "--write", "handoff.json"]);
    assert!(again.err.starts_with("nothing to repair"), "{again:?}");
    assert_eq!(house.all(), before);
}

#[test]
fn of_many_changes_some_are_shown_and_the_rest_counted() {
    const LINES: usize = 3000;
    let house = House::new();
    let line = document("worklog_entry", json!({ "files_touched": "src/a.rs" })).to_string();
    house.write("log.jsonl", format!("{line}\n").repeat(LINES));
    let answer = house.run(&["fix", "log.jsonl"]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert_eq!(answer.out.lines().count(), LINES);
    assert!(answer.err.lines().count() < 600, "{}", answer.err.lines().count());
    // Two lines of names, one for the place; each line is there as it was and as it is.
    let more = format!("… {} more lines of the diff; `--whole-diff` shows all of them", 2 * LINES + 3 - 400);
    assert!(answer.err.contains(&more), "{}", answer.err);
    assert!(answer.err.contains(&format!("… {} more changes; `--whole-diff`", LINES - 100)), "{}", answer.err);
    assert!(!answer.out.contains('…'));
    let whole = house.run(&["fix", "log.jsonl", "--whole-diff"]);
    assert!(whole.err.lines().count() > 3 * LINES && !whole.err.contains('…'), "{}", whole.err.lines().count());
    assert_eq!(whole.out, answer.out);
}

#[test]
fn of_a_long_line_some_is_shown_and_the_rest_counted() {
    let house = House::new();
    let evidence = format!("password=hunter22{}", " été".repeat(10_000));
    let change = json!([{ "resource": "a", "action": "edit", "evidence": evidence }]);
    house.write("result.json", document("subagent_result", json!({ "changes": change })).to_string());
    let longest = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap();
    let answer = house.run(&["fix", "result.json"]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert!(longest(&answer.err) < 1100 && answer.err.contains(" more characters\n"), "{}", longest(&answer.err));
    let whole = house.run(&["fix", "result.json", "--whole-diff"]);
    assert!(longest(&whole.err) > 40_000 && !whole.err.contains(" more characters"), "{}", longest(&whole.err));
    assert_eq!(whole.out, answer.out);
}

#[test]
fn a_repaired_handoff_says_what_was_repaired_and_how_many_tokens_it_has() {
    let house = House::new();
    let exact = |house: &House, name: &str| {
        let counted = house.run(&["tokens", name, "--format", "json"]);
        let counted: Value = serde_json::from_str(&counted.out).unwrap();
        counted["tokens"].as_u64().unwrap()
    };
    let mut wrong = document("universal_handoff", json!({}));
    wrong["handoff"]["meta"]["token_count"] = json!(1999);
    let mut long = long_handoff("session");
    long["handoff"]["payload"]["working"]["text"] = json!("une idée, puis une autre; ".repeat(150));
    for (name, original) in [("wrong.json", wrong.clone()), ("long.json", long)] {
        house.write(name, format!("{original:#}\n"));
        let answer = house.run(&["fix", "--write", name]);
        assert_eq!(answer.code, 0, "{answer:?}");
        let fixed: Value = serde_json::from_str(&house.read(name)).unwrap();
        assert_eq!(fixed["handoff"]["meta"]["token_count"], exact(&house, name), "{name}");
        let noted = fixed["handoff"]["tracing"]["events"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(
            (&noted["event_type"], &noted["workflow"]),
            (&json!("validated"), &json!("countersign-fix")),
            "{noted}"
        );
        let repairs = &noted["details"]["repairs"];
        let said = |it: &Value| answer.err.contains(&format!("  {}\n", it.as_str().unwrap()));
        assert!(
            repairs.is_u64() || repairs.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(said)),
            "{noted}"
        );
        assert_eq!(house.run(&["check", name]).code, 0);
        // What has nothing to repair has nothing to note.
        let before = house.read(name);
        assert!(house.run(&["fix", "--write", name]).err.starts_with("nothing to repair"));
        assert_eq!(house.read(name), before);
    }
    // Where there is no room, nothing is noted, and the number is right all the same.
    house.write("tight.json", wrong.to_string());
    let tight = (exact(&house, "tight.json") + 2).to_string();
    assert_eq!(house.run(&["fix", "--write", "tight.json", "--max-tokens", &tight]).code, 0);
    let fixed: Value = serde_json::from_str(&house.read("tight.json")).unwrap();
    assert_eq!(
        (fixed["handoff"].get("tracing"), &fixed["handoff"]["meta"]["token_count"]),
        (wrong["handoff"].get("tracing"), &json!(exact(&house, "tight.json")))
    );
    // The note costs no comment, wherever it stands.
    let yaml = format!("# by hand\n{}", house.run(&["example", "universal_handoff"]).out);
    let yaml = yaml.replace("\"token_count\": ", "\"token_count\": 9");
    house.write("kept.yaml", &yaml);
    assert_eq!(house.run(&["fix", "--write", "kept.yaml"]).code, 0);
    assert!(house.read("kept.yaml").starts_with("# by hand\n") && house.read("kept.yaml").contains("countersign-fix"));
    let blocks = countersign_contract::fix::write(&wrong, "", countersign_contract::Form::Yaml);
    let lines: Vec<String> = blocks.lines().map(|line| format!("{line} # of this line")).collect();
    house.write("lines.yaml", lines.join("\n"));
    assert_eq!(house.run(&["fix", "--write", "lines.yaml"]).code, 0);
    let fixed = house.read("lines.yaml");
    let kept = lines.iter().filter(|line| fixed.contains(*line)).count();
    assert!(kept + 1 >= lines.len() && fixed.contains("countersign-fix"), "{fixed}");
    assert_eq!(fixed.matches("# of this line").count(), lines.len(), "{fixed}");
}

#[test]
fn however_often_a_handoff_is_repaired_one_reference_leads_to_everything() {
    let house = House::new();
    house.write("handoff.json", format!("{:#}\n", long_handoff("session")));
    let paths = |document: &Value| -> Vec<String> {
        let files = document.pointer("/handoff/payload/references/files").unwrap().as_array().unwrap();
        files.iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
    };
    let mut taken = vec![long_handoff("session")["handoff"]["payload"]["session"].clone()];
    for round in 1..=3 {
        let answer = house.run(&["fix", "--write", "handoff.json"]);
        assert_eq!(answer.code, 0, "{answer:?}");
        let mut document: Value = serde_json::from_str(&house.read("handoff.json")).unwrap();
        assert_eq!(paths(&document), ["session/handoffs/session-context.json"]);
        let kept: Value = serde_json::from_str(&house.read("session/handoffs/session-context.json")).unwrap();
        let later = kept["later"].as_array().into_iter().flatten();
        let all: Vec<Value> =
            std::iter::once(&kept["values"]).chain(later).map(|it| it["/handoff/payload/session"].clone()).collect();
        assert_eq!(all, taken, "round {round}");
        // The session goes on, and the handoff grows again.
        let session = json!({"state": {"notes": format!("round {round}: {}", "word ".repeat(3000))}});
        document["handoff"]["payload"]["session"] = session.clone();
        (countersign_domain::contract("universal_handoff").unwrap().seal)(&mut document);
        house.write("handoff.json", document.to_string());
        taken.push(session);
    }
    assert_eq!(std::fs::read_dir(house.path("session/handoffs")).unwrap().count(), 1);
    // One that is gone or is not ours any more is not added to; then there is a new one.
    house.write("session/handoffs/session-context.json", "someone else's");
    assert_eq!(house.run(&["fix", "--write", "handoff.json"]).code, 0);
    assert_eq!(house.read("session/handoffs/session-context.json"), "someone else's");
    assert!(house.path("session/handoffs/session-context-2.json").is_file());
}

#[cfg(unix)]
#[test]
fn a_pipe_that_a_handoff_names_is_not_waited_for() {
    let house = House::new();
    let pipe = house.path("session-context.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let file = json!({"path": "session-context.json", "size": 0, "created": "2026-01-01T00:00:00Z"});
    let patch = json!({"handoff": {"payload": {"references": {"files": [file]}}}});
    house.write("handoff.json", document("universal_handoff", patch).to_string());
    assert_eq!(house.run(&["check", "handoff.json"]).code, 0);
    let answer = house.run(&["fix", "handoff.json"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(house.run(&["handoff", "check", "handoff.json"]).code, 0);
}

#[test]
fn what_an_earlier_repair_kept_is_never_overwritten() {
    let house = House::new();
    house.write("session/handoffs/session-context.json", "someone else's");
    house.write("handoff.json", long_handoff("session").to_string());
    assert_eq!(house.run(&["fix", "--write", "handoff.json"]).code, 0);
    assert_eq!(house.read("session/handoffs/session-context.json"), "someone else's");
    let kept: Value = serde_json::from_str(&house.read("session/handoffs/session-context-2.json")).unwrap();
    assert!(kept["values"]["/handoff/payload/session"].is_object());
}

#[test]
fn a_session_that_lies_elsewhere_or_cannot_be_written_falls_back_and_says_so() {
    let house = House::new();
    house.write("a-file", "");
    for (name, session) in [("elsewhere.json", "/etc/countersign-test"), ("blocked.json", "a-file")] {
        house.write(name, long_handoff(session).to_string());
        let temp = house.path("temporary");
        std::fs::create_dir_all(&temp).unwrap();
        let answer = house.run_with(&["fix", "--write", name], "", &[("TMPDIR", temp.to_str().unwrap())]);
        assert_eq!(answer.code, 0, "{answer:?}");
        assert!(answer.err.contains("using the fallback location"), "{answer:?}");
        let fixed: Value = serde_json::from_str(&house.read(name)).unwrap();
        let reference = fixed.pointer("/handoff/payload/references/files/0/path").unwrap().as_str().unwrap();
        assert!(std::path::Path::new(reference).starts_with(&temp) && std::path::Path::new(reference).is_file());
        assert!(!std::path::Path::new("/etc/countersign-test").exists());
    }
}

#[test]
fn without_write_the_place_is_named_that_write_would_use_and_that_nothing_is_there() {
    let house = House::new();
    let temp = house.path("temporary");
    std::fs::create_dir_all(&temp).unwrap();
    let (inside, elsewhere) = (long_handoff("session").to_string(), long_handoff("/etc/countersign-test").to_string());
    house.write("inside.json", &inside).write("elsewhere.json", &elsewhere);
    let before = house.all();
    let cases: [(&str, &str, &str, &str); 3] = [
        ("inside.json", "", "session/handoffs/", "--write writes both"),
        ("elsewhere.json", "", temp.to_str().unwrap(), "--write writes both"),
        ("-", &elsewhere, temp.to_str().unwrap(), "save the original as a file"),
    ];
    for (name, stdin, place, how) in cases {
        let answer = house.run_with(&["fix", name], stdin, &[("TMPDIR", temp.to_str().unwrap())]);
        assert_eq!(answer.code, 0, "{answer:?}");
        let fixed: Value = serde_json::from_str(&answer.out).unwrap();
        let reference = fixed.pointer("/handoff/payload/references/files/0/path").unwrap().as_str().unwrap();
        assert!(reference.starts_with(place), "{reference}");
        assert!(answer.err.contains(&format!("would be kept in {reference}")), "{answer:?}");
        assert!(
            answer.err.contains("refers to that file, which is not written") && answer.err.contains(how),
            "{answer:?}"
        );
        assert_eq!(house.all(), before);
    }
}

/// Facts that are each too short to be taken out, and together too long.
fn many_facts() -> Value {
    (0..600)
        .map(|number| (format!("fact {number}"), json!(format!("it is number {number}"))))
        .collect::<Map<_, _>>()
        .into()
}

#[test]
fn nobody_is_advised_to_do_what_was_just_done_and_a_loose_answer_is_told_what_it_lacks() {
    let house = House::new();
    house.document("handoff.json", "universal_handoff", json!({"handoff": {"payload": {"working": many_facts()}}}));
    house.write("bare.json", r#"{"result": "pass"}"#);
    let long = house.run(&["fix", "handoff.json"]);
    assert!(
        long.err.contains("leave out what the target can read") && !long.err.contains("countersign fix"),
        "{long:?}"
    );
    let bare = house.run(&["fix", "bare.json"]);
    assert!(bare.code == 1 && bare.err.contains("--with REQUEST"), "{bare:?}");
}

#[test]
fn a_handoff_that_cannot_be_made_to_fit_is_left_alone_and_a_person_is_asked() {
    let house = House::new();
    let patch = json!({"handoff": {"source": {"session_path": "session"}, "payload": {"working": many_facts(), "session": {"state": {"a": 1}}}}});
    house.write("handoff.json", document("universal_handoff", patch).to_string());
    let before = house.all();
    let answer = house.run(&["fix", "--write", "handoff.json"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert_eq!(house.all(), before);
    assert!(answer.err.contains("a person must decide"), "{answer:?}");
    assert!(answer.err.contains("refused: TOKEN_LIMIT_EXCEEDED"), "{answer:?}");
    assert!(answer.err.contains("nothing was written") && !answer.err.contains("would be kept"), "{answer:?}");
}

#[test]
fn a_summarizer_is_asked_and_may_fail() {
    let house = House::new();
    let text: String = "A long account of what was tried, in order, with what came of it. ".repeat(300);
    let patch = json!({"handoff": {"source": {"session_path": "session"}, "payload": {"working": {"account": text}}}});
    house.write("handoff.json", document("universal_handoff", patch).to_string());
    let answer = house.run(&["fix", "handoff.json", "--summarizer", "head -c 200"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let fixed: Value = serde_json::from_str(&answer.out).unwrap();
    let account = fixed.pointer("/handoff/payload/working/account").unwrap().as_str().unwrap();
    assert_eq!(account, text[..200].trim());
    for command in ["false", "no-such-program-here", "true"] {
        let answer = house.run(&["fix", "handoff.json", "--summarizer", command]);
        assert_eq!(answer.code, 0, "{command}: {answer:?}");
    }
}

#[test]
fn a_loose_answer_becomes_a_response_only_with_its_request() {
    let house = House::new();
    house.document("request.json", "validation_request", json!({}));
    house.write("answer.json", r#"{"result": "pass", "reason": "POST /checkout with an empty cart answered 400"}"#);
    assert_eq!(house.run(&["fix", "answer.json"]).code, 1);
    let answer = house.run(&["fix", "--write", "answer.json", "--with", "request.json"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(house.run(&["check", "answer.json", "--with", "request.json"]).code, 0);
    // What has the marks of a response but not its ids is completed from the request as well.
    let mut response = document("validation_response", json!({}));
    response.as_object_mut().unwrap().remove("task_id");
    house.write("no-id.json", response.to_string());
    assert_eq!(house.run(&["fix", "no-id.json"]).code, 1);
    let answer = house.run(&["fix", "no-id.json", "--with", "request.json"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let two = json!({"acceptance_criteria": [{"id": "A", "description": "one"}, {"id": "B", "description": "two"}]});
    house.document("two.json", "validation_request", two);
    house.write("bare.json", r#"{"result": "pass", "reason": "POST /checkout answered 400"}"#);
    assert_eq!(house.run(&["fix", "bare.json", "--with", "two.json"]).code, 1);
}

#[test]
fn of_a_loose_answer_it_is_said_what_a_person_must_decide() {
    let house = House::new();
    let two = json!({"acceptance_criteria": [{"id": "A", "description": "one"}, {"id": "B", "description": "two"}]});
    house.document("one.json", "validation_request", json!({})).document("two.json", "validation_request", two);
    let cases = [
        (json!({"result": "pass"}), "two.json", "2 were asked about"),
        (json!({"result": "pass", "task_id": "T-99"}), "one.json", "the answer is to task `T-99`"),
        (json!({"result": "pass", "status": "fail"}), "one.json", "`status` is `fail` and `result` is `pass`"),
        (json!({"result": "perhaps"}), "one.json", "`result` is `perhaps`"),
    ];
    for (answer, request, why) in cases {
        house.write("answer.json", answer.to_string());
        let fixed = house.run(&["fix", "answer.json", "--with", request]);
        assert!(fixed.code == 1 && fixed.err.contains(why), "{fixed:?}");
        assert!(!fixed.err.contains("no contract has these keys"), "{fixed:?}");
        assert!(!fixed.err.contains("\\u{a}"), "{fixed:?}");
    }
}

#[test]
fn results_by_criterion_are_a_list_by_names_and_no_item_of_one() {
    let house = House::new();
    house.document("request.json", "validation_request", json!({}));
    let mut response = document("validation_response", json!({}));
    let mut result = response["criteria_results"][0].clone();
    let id = result.as_object_mut().unwrap().remove("criterion_id").unwrap();
    let id = id.as_str().unwrap();
    for (results, code) in [(json!({id: "pass"}), 1), (json!({id: result}), 0)] {
        response["criteria_results"] = results;
        let text = response.to_string();
        house.write("response.json", &text);
        let answer = house.run(&["fix", "--write", "response.json"]);
        assert_eq!(answer.code, code, "{answer:?}");
        assert!(code == 0 || house.read("response.json") == text, "{answer:?}");
    }
}

#[test]
fn what_is_filled_in_is_said_with_its_value() {
    let house = House::new();
    let mut response = document("validation_response", json!({}));
    response.as_object_mut().unwrap().remove("verdict");
    house.write("response.json", response.to_string());
    let answer = house.run(&["fix", "response.json"]);
    assert!(answer.code == 0 && answer.err.contains("/verdict: add `verdict`: `PASS`\n"), "{answer:?}");
}

#[test]
fn a_kind_of_secret_is_named_once() {
    let house = House::new();
    let secrets = format!("the token is ghp_{} ", "a1B2c3D4e5F6".repeat(3)).repeat(50);
    house.document("entry.json", "worklog_entry", json!({"decision": secrets}));
    let answer = house.run(&["check", "entry.json"]);
    assert!(answer.code == 1 && answer.out.contains("holds a secret (github-token)\n"), "{answer:?}");
}

#[test]
fn yaml_and_markdown_stay_what_they_are() {
    let house = House::new();
    let result = document("subagent_result", json!({"status": "Done"}));
    let yaml = countersign_contract::fix::write(&result, "", countersign_contract::Form::Yaml);
    house.write("result.md", format!("---\n{yaml}---\n# What was done\n\nIn words.\n"));
    let answer = house.run(&["fix", "--write", "result.md"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let text = house.read("result.md");
    assert!(text.contains("\nstatus: done\n") && text.ends_with("---\n# What was done\n\nIn words.\n"), "{text}");
}

#[test]
fn a_link_stays_a_link_and_permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let house = House::new();
    house.document("real.json", "assignment", json!({"task": {"priority": "HIGH"}}));
    std::fs::set_permissions(house.path("real.json"), std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("real.json", house.path("link.json")).unwrap();
    assert_eq!(house.run(&["fix", "--write", "link.json"]).code, 0);
    assert!(house.path("link.json").is_symlink());
    assert_eq!(std::fs::metadata(house.path("real.json")).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(house.read("real.json").contains("\"priority\": \"high\""));
}

#[test]
fn what_check_refuses_for_its_files_fix_does_not_allow() {
    let house = House::new();
    house.write(".countersign/config.toml", "[severity]\nhandoff-file-missing = \"error\"\n");
    let file = json!({"path": "docs/plan.md"});
    let patch = json!({"handoff": {"payload": {"references": {"files": [file]}}}});
    let fit = document("universal_handoff", patch.clone());
    // What cannot be read before it is repaired is looked for afterwards.
    let mut unfit = fit.clone();
    unfit["handoff"]["workflow"] = Value::Null;
    for (name, handoff) in [("fit.json", &fit), ("unfit.json", &unfit)] {
        house.write(name, handoff.to_string());
        for verb in ["check", "fix"] {
            let answer = house.run(&[verb, name]);
            assert!(answer.code == 1 && (answer.out + &answer.err).contains("docs/plan.md"), "{verb} {name}");
        }
    }
    house.write("docs/plan.md", "a plan");
    assert_eq!(house.run(&["fix", "fit.json"]).code, 0);
    // The file that is written with the document is there when the document is.
    house.write("long.json", long_handoff("session").to_string());
    assert_eq!(house.run(&["fix", "--write", "long.json"]).code, 0);
    assert_eq!(house.run(&["check", "long.json"]).code, 0);
}

#[test]
fn everything_is_repaired_also_what_is_not_listed() {
    let house = House::new();
    let line = document("worklog_entry", json!({})).to_string();
    let mut broken: Value = serde_json::from_str(&line).unwrap();
    broken["evidence"] = Value::Null;
    house.write("log.jsonl", format!("{broken}\n").repeat(1000));
    assert_eq!(house.run(&["check", "log.jsonl"]).code, 1);
    let answer = house.run(&["fix", "--write", "log.jsonl"]);
    assert_eq!(answer.code, 0, "{}", answer.err.lines().last().unwrap());
    let before = house.read("log.jsonl");
    assert!(house.run(&["fix", "--write", "log.jsonl"]).err.contains("nothing to repair"));
    assert_eq!(house.read("log.jsonl"), before);
}

#[test]
fn lines_of_a_worklog_are_changed_for_errors_and_secrets_alone() {
    let house = House::new();
    let line = |patch| format!("{}\n", document("worklog_entry", patch));
    let odd = line(json!({"files_touched": ["src//a"]}));
    house.write("log.jsonl", &odd).write("earlier.jsonl", &odd);
    let answer = house.run(&["fix", "--write", "log.jsonl"]);
    assert!(answer.code == 0 && answer.err.contains("left as they are: 1 "), "{answer:?}");
    assert_eq!(house.read("log.jsonl"), odd);
    assert_eq!(house.run(&["check", "log.jsonl", "--against", "earlier.jsonl"]).code, 0);
    // The same entry by itself is no log.
    house.write("entry.json", &odd);
    assert!(house.run(&["fix", "entry.json"]).out.contains("src/a"));
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    house.write("log.jsonl", odd.clone() + &line(json!({"decision": format!("the token is {secret}")})));
    assert_eq!(house.run(&["fix", "--write", "log.jsonl"]).code, 0);
    assert!(house.read("log.jsonl").starts_with(&odd) && !house.read("log.jsonl").contains(&secret));
}

#[test]
fn wrong_usage_is_said() {
    let house = House::new();
    house.document("a.json", "assignment", json!({})).document("b.json", "assignment", json!({}));
    assert_eq!(house.run(&["fix", "a.json", "b.json"]).code, 2);
    assert_eq!(house.run(&["fix", "--write", "-"]).code, 2);
    assert_eq!(house.run(&["fix"]).code, 2);
    assert_eq!(house.run(&["fix", "absent.json"]).code, 3);
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_summarizer_leaves_behind_is_ended_with_it() {
    let house = House::new();
    let text: String = "A long account of what was tried, in order, with what came of it. ".repeat(300);
    let patch = json!({"handoff": {"source": {"session_path": "session"}, "payload": {"working": {"account": text}}}});
    house.write("handoff.json", document("universal_handoff", patch).to_string());
    // The child holds the output open and would outlive the test.
    house.write("short.sh", "sleep 600 & echo $! >> left; head -c 200\n");
    let begun = std::time::Instant::now();
    let answer = house.run(&["fix", "handoff.json", "--summarizer", "sh short.sh"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(!answer.err.contains("the summarizer did not help"), "{answer:?}");
    let left = house.read("left");
    assert!(!left.trim().is_empty());
    let until = begun + std::time::Duration::from_secs(30);
    while left.lines().any(is_alive) && std::time::Instant::now() < until {
        std::thread::yield_now();
    }
    assert!(!left.lines().any(is_alive), "{left}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_the_summarizer_too_and_nothing_is_changed() {
    let house = House::new();
    let text: String = "A long account of what was tried, in order, with what came of it. ".repeat(300);
    let patch = json!({"handoff": {"source": {"session_path": "session"}, "payload": {"working": {"account": text}}}});
    house.write("handoff.json", document("universal_handoff", patch).to_string());
    house.write("slow.sh", "echo $$ > begun; mv begun pid; exec sleep 600\n");
    let before = house.read("handoff.json");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(["fix", "--write", "handoff.json", "--summarizer", "sh slow.sh"]).current_dir(house.path(""));
    let mut fix = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !house.path("pid").exists() && std::time::Instant::now() < until {
        std::thread::yield_now();
    }
    let summarizer = house.read("pid");
    assert!(is_alive(summarizer.trim()));
    assert!(std::process::Command::new("kill").arg(fix.id().to_string()).status().unwrap().success());
    assert_eq!(fix.wait().unwrap().code(), Some(3));
    assert!(!is_alive(summarizer.trim()));
    assert_eq!(house.read("handoff.json"), before);
    assert!(!house.path("session").exists());
}

/// Whether a process is there and has not ended.
#[cfg(target_os = "linux")]
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Behind the name in brackets stands the state; one that nobody has laid to rest yet is no longer alive.
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
}
