//! `countersign check` as its users call it.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;

use house::{House, document};
use serde_json::json;

const OK: &str = "OK";

#[test]
fn the_exit_code_says_what_the_worst_document_was() {
    let house = House::new();
    house.document("good.json", "assignment", json!({}));
    house.document(
        "bad.json",
        "assignment",
        json!({"task": {"lock_scope": ["src"], "forbidden_scope": ["src/vendor"]}}),
    );
    house.write("latin.json", b"{\"a\": \"\xe9\"}");
    house.write("notes.txt", "no payload").write("package.json", "{\"name\": \"x\"}");
    std::fs::create_dir(house.path("empty")).unwrap();
    let cases: [(&[&str], i32); 10] = [
        (&["good.json"], 0),
        (&["bad.json"], 1),
        (&["good.json", "bad.json"], 1),
        (&["absent.json"], 3),
        (&["bad.json", "absent.json", "good.json"], 3),
        (&["latin.json"], 3),
        (&["empty"], 3),
        (&["package.json"], 1),
        (&["--no-such-flag"], 2),
        (&["good.json", "--contract", "asignment"], 2),
    ];
    for (arguments, code) in cases {
        let answer = house.run(&[&["check"], arguments].concat());
        assert_eq!(answer.code, code, "{arguments:?}: {answer:?}");
    }
}

#[cfg(unix)]
#[test]
fn what_can_be_read_once_only_is_read_once() {
    let house = House::new();
    house.document("good.json", "assignment", json!({ "task": { "task_id": "T-1" } }));
    let other = document("assignment", json!({ "task": { "task_id": "T-2", "lock_scope": ["docs"] } })).to_string();
    for arguments in [["check", "/dev/stdin", "good.json"], ["check", "good.json", "/dev/stdin"]] {
        let answer = house.run_with(&arguments, &other, &[]);
        assert_eq!(answer.code, 0, "{arguments:?}: {answer:?}");
    }
    // It has company too, in both directions.
    let same = document("assignment", json!({ "task": { "task_id": "T-2", "dependencies": ["T-1"] } })).to_string();
    house.document("good.json", "assignment", json!({ "task": { "task_id": "T-1", "dependencies": ["T-2"] } }));
    let answer = house.run_with(&["check", "good.json", "/dev/stdin"], &same, &[]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(!answer.out.contains("empty"), "{answer:?}");
    // Given with --with as well, it is the same to both.
    let result = document("subagent_result", json!({})).to_string();
    house.document("assignment.json", "assignment", json!({}));
    for arguments in [["/dev/stdin", "assignment.json"], ["assignment.json", "/dev/stdin"]] {
        let [first, second] = arguments;
        let answer = house.run_with(&["check", first, second, "--with", "/dev/stdin"], &result, &[]);
        assert_eq!(answer.code, 0, "{arguments:?}: {answer:?}");
    }
}

#[test]
fn decisions_come_in_the_order_of_the_arguments() {
    let house = House::new();
    let names: Vec<String> = (0..200).map(|number| format!("{:03}.json", (number * 37) % 200)).collect();
    for name in &names {
        house.document(name, "assignment", json!({"task": {"task_id": format!("T-{}", &name[..3])}}));
    }
    let arguments: Vec<&str> = names.iter().map(String::as_str).collect();
    let (code, decisions) = house.decisions(&arguments);
    assert_eq!(code, 0);
    let files: Vec<&str> = decisions.iter().map(|it| it["details"]["file"].as_str().unwrap()).collect();
    assert_eq!(files, arguments);
}

#[test]
fn a_directory_is_walked_as_git_would_and_strangers_are_skipped() {
    let house = House::new();
    house
        .document("a/good.json", "assignment", json!({}))
        .write("a/package.json", "{\"name\": \"x\"}")
        .write("a/README.md", "# Title\n")
        .write("a/broken.json", "{\"name\": ")
        .write("ignored/bad.json", "{\"packet_type\": 1}")
        .write(".gitignore", "ignored\n");
    let answer = house.run(&["check"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(answer.err.trim(), "1 allowed, 0 refused, 3 skipped as no payload");
    // A payload that broke is not somebody else's file.
    house.write("a/cut.json", "{\"packet_type\": \"assignment\", ");
    let answer = house.run(&["check"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(answer.out.contains("error[syntax-invalid]"), "{answer:?}");
}

#[test]
fn documents_given_with_it_are_context_that_must_hold() {
    let house = House::new();
    house.document("assignment.json", "assignment", json!({}));
    house.document("other.json", "assignment", json!({"task": {"task_id": "T-99"}}));
    house.document("broken.json", "assignment", json!({"task": {"lock_scope": []}}));
    let result = json!({"changes": [{"resource": "src/api.py", "action": "edit"}]});
    house.document("outside.json", "subagent_result", result);
    house.document("result.json", "subagent_result", json!({}));
    let cases: [(&[&str], i32, &str); 7] = [
        (&["result.json"], 0, OK),
        (&["result.json", "--with", "assignment.json"], 0, OK),
        (&["outside.json"], 0, OK),
        (&["outside.json", "--with", "assignment.json"], 1, "SCOPE_VIOLATION"),
        (&["outside.json", "--with", "other.json", "--with", "assignment.json"], 1, "SCOPE_VIOLATION"),
        (&["result.json", "--with", "other.json"], 1, "CORRELATION_MISMATCH"),
        (&["result.json", "--with", "broken.json"], 1, "SCHEMA_INVALID"),
    ];
    for (arguments, code, expected) in cases {
        assert_eq!(house.codes(arguments), (code, vec![expected.to_owned()]), "{arguments:?}");
    }
    house.write("stranger.json", "{}");
    for name in ["result.json", "stranger.json"] {
        let answer = house.run(&["check", name, "--with", "absent.json"]);
        assert_eq!(answer.code, 3, "{answer:?}");
        assert!(answer.err.contains("`absent.json`, given with --with, cannot be read"), "{answer:?}");
    }
}

#[test]
fn an_earlier_copy_that_cannot_be_read_is_a_decision_in_every_format() {
    let house = House::new();
    house.document("good.json", "assignment", json!({})).write("latin.json", b"\"\xe9\"");
    for (older, why) in [("gone.json", "no such file"), ("latin.json", "UTF-8")] {
        for format in ["text", "json", "github"] {
            let answer = house.run(&["check", "good.json", "--against", older, "--format", format]);
            assert_eq!(answer.code, 3, "{format}: {answer:?}");
            assert!(answer.out.contains("the earlier copy cannot be used"), "{format}: {answer:?}");
            assert!(answer.err.contains(older) && answer.err.contains(why), "{format}: {answer:?}");
        }
        let (_, decisions) = house.decisions(&["good.json", "--against", older]);
        let said = &decisions[0]["details"]["diagnostics"][0]["rule"];
        assert_eq!((&decisions[0]["allow"], said), (&json!(false), &json!("companion-unreadable")));
    }
}

#[test]
fn an_earlier_copy_says_one_thing_about_a_document() {
    let house = House::new();
    let lines = format!("{}\n", document("worklog_entry", json!({})));
    house.write("old.jsonl", &lines).write("new.jsonl", "").write("gone.jsonl", "");
    house.document("old.json", "delegation_response", json!({}));
    house.document(
        "new.json",
        "delegation_response",
        json!({"AUDIT_ENTRY_ID": "PAA-2025-12-25-009",
        "AUDIT_ENTRY_PATH": ".evidence/platform-actions/2025-12/PAA-2025-12-25-009.md"}),
    );
    let rules = |arguments: &[&str]| -> Vec<String> {
        let (code, decisions) = house.decisions(arguments);
        assert_eq!(code, 1, "{arguments:?}");
        let found = decisions[0]["details"]["diagnostics"].as_array().unwrap().iter();
        found.map(|it| it["rule"].as_str().unwrap().to_owned()).collect()
    };
    // A worklog that was emptied is told by what it was.
    assert_eq!(rules(&["new.jsonl", "--against", "old.jsonl"]), ["worklog-rewritten"]);
    assert_eq!(rules(&["new.jsonl", "--against", "old.jsonl", "--contract", "worklog_entry"]), ["worklog-rewritten"]);
    assert_eq!(rules(&["new.jsonl", "--against", "gone.jsonl", "--contract", "worklog_entry"]), ["field-empty"]);
    assert_eq!(rules(&["new.jsonl"]), ["contract-undetected"]);
    // What is compared is not also said to be compared with nothing.
    let found = rules(&["new.json", "--against", "old.json"]);
    assert!(found.contains(&"instruction-answered-again".to_owned()), "{found:?}");
    assert!(!found.contains(&"companion-unused".to_owned()), "{found:?}");
}

#[test]
fn standard_input_is_not_given_with_a_document() {
    let house = House::new();
    house.document("good.json", "assignment", json!({}));
    let answer = house.run(&["check", "good.json", "--with", "-"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert!(answer.err.contains("standard input cannot be given with --with"), "{answer:?}");
}

#[test]
fn a_scope_that_cannot_be_used_collides_with_nothing() {
    let house = House::new();
    let unusable = json!({"task": {"lock_scope": ["../x", "src/money"]}});
    house.document("lock.json", "assignment", unusable.clone());
    house.document("forbidden.json", "assignment", json!({"task": {"forbidden_scope": ["../x"]}}));
    let held = json!({"active_locks": [{"task_id": "T-9", "resource": "../x", "active": true}]});
    house.document("held.json", "assignment", held);
    for name in ["lock.json", "forbidden.json", "held.json"] {
        let (code, decisions) = house.decisions(&[name]);
        let found = decisions[0]["details"]["diagnostics"].as_array().unwrap();
        let rules: Vec<&str> = found.iter().map(|it| it["rule"].as_str().unwrap()).collect();
        assert_eq!((code, rules), (1, vec!["assignment-resource-unusable"]), "{name}");
    }
}

#[test]
fn in_a_directory_documents_find_each_other_by_their_ids() {
    let house = House::new();
    house.document("assignments/T-12.json", "assignment", json!({}));
    house.document(
        "results/T-12.json",
        "subagent_result",
        json!({"changes": [{"resource": "src/api.py", "action": "edit"}]}),
    );
    house.document("results/T-13.json", "subagent_result", json!({"task_id": "T-13"}));
    let (code, codes) = house.codes(&["."]);
    assert_eq!((code, codes), (1, vec![OK.to_owned(), "SCOPE_VIOLATION".to_owned(), OK.to_owned()]));
}

#[test]
fn assignments_that_wait_for_each_other_are_found_wherever_they_lie() {
    let house = House::new();
    for (id, needs) in [("T-1", "T-2"), ("T-2", "T-3"), ("T-3", "T-1"), ("T-4", "T-1")] {
        let task = json!({"task": {"task_id": id, "dependencies": [needs], "lock_scope": [format!("src/{id}.py")]}});
        house.document(&format!("{id}/assignment.json"), "assignment", task);
    }
    let (_, codes) = house.codes(&["."]);
    let circle = "DEPENDENCY_NOT_MET".to_owned();
    assert_eq!(codes, [circle.clone(), circle.clone(), circle, OK.to_owned()]);
}

#[test]
fn standard_input_is_told_by_its_text_or_its_name() {
    let house = House::new();
    let assignment = document("assignment", json!({}));
    let yaml = countersign_contract::fix::write(&assignment, "", countersign_contract::Form::Yaml);
    let cases = [
        (assignment.to_string(), None),
        (format!("{assignment:#}"), None),
        (yaml.clone(), None),
        (yaml, Some("a.yaml")),
        (document("worklog_entry", json!({})).to_string(), Some("T-12.jsonl")),
    ];
    for (text, name) in cases {
        let name = name.map(|name| vec!["--stdin-filename", name]).unwrap_or_default();
        let answer = house.run_with(&[vec!["check", "-"], name].concat(), &text, &[]);
        assert_eq!(answer.code, 0, "{text}\n{answer:?}");
    }
    assert_eq!(house.run_with(&["check", "-", "-"], "", &[]).code, 3);
}

#[test]
fn the_configuration_tightens_and_never_loosens() {
    let house = House::new();
    house.document("unknown.json", "assignment", json!({"extra": 1}));
    assert_eq!(house.run(&["check", "unknown.json"]).code, 0);
    assert_eq!(house.run(&["check", "unknown.json", "--strict"]).code, 1);
    house.write(".countersign/config.toml", "[severity]\nfield-unknown = \"error\"\n");
    assert_eq!(house.run(&["check", "unknown.json"]).code, 1);
    let refused = [
        ("[severity]\nfield-missing = \"warning\"\n", "cannot be lowered"),
        ("[severity]\nno-such-rule = \"error\"\n", "there is no rule"),
        ("[tokens]\nmax = 9000\n", "not raise it"),
        ("[check]\nstric = true\n", "unknown field"),
        ("[[contracts]]\nname = \"assignment\"\nschema = \"x.json\"\n", "built-in"),
    ];
    for (config, why) in refused {
        house.write(".countersign/config.toml", config);
        let answer = house.run(&["check", "unknown.json"]);
        assert_eq!(answer.code, 3, "{config}");
        assert!(answer.err.contains(why), "{config}: {answer:?}");
    }
}

#[test]
fn a_schema_of_ones_own_is_a_contract() {
    let house = House::new();
    let schema = json!({
        "type": "object",
        "properties": {"invoice_id": {"type": "string", "pattern": "^I-[0-9]+$"}, "amount": {"type": "number", "minimum": 0}},
        "required": ["invoice_id", "amount"],
    });
    house.write("schemas/invoice.json", schema.to_string());
    let config = "[[contracts]]\nname = \"invoice\"\nschema = \"schemas/invoice.json\"\nmarks = [\"invoice_id\"]\n";
    house.write(".countersign/config.toml", config);
    house.write("good.json", "{\"invoice_id\": \"I-1\", \"amount\": 3}");
    house.write("bad.yaml", "invoice_id: I-1\namount: -3\n");
    house.write("leak.json", "{\"invoice_id\": \"I-1\", \"amount\": 3, \"note\": \"password=hunter2hunter2\"}");
    let (code, decisions) = house.decisions(&["good.json", "bad.yaml", "leak.json"]);
    assert_eq!(code, 1);
    assert_eq!(decisions[0]["code"], OK);
    assert_eq!(decisions[0]["details"]["contract"], "invoice");
    assert_eq!(decisions[1]["code"], "SCHEMA_INVALID");
    assert_eq!(decisions[1]["details"]["diagnostics"][0]["pointer"], "/amount");
    assert_eq!(decisions[1]["details"]["diagnostics"][0]["line"], 2);
    assert_eq!(decisions[2]["code"], "UNTRUSTED_CONTEXT_BLOCK");
    // What is missing is said as for any contract, and where it belongs.
    house.write("missing.json", "{\"invoice_id\": \"I-1\"}");
    let (_, decisions) = house.decisions(&["missing.json"]);
    let found = &decisions[0]["details"]["diagnostics"][0];
    assert_eq!((&decisions[0]["code"], &found["pointer"]), (&json!("MISSING_REQUIRED_INPUT"), &json!("/amount")));
    house.write(".countersign/config.toml", config.repeat(2));
    let answer = house.run(&["check", "good.json"]);
    assert!(answer.code == 3 && answer.err.contains("`invoice` is declared twice"), "{answer:?}");
    house.write(".countersign/config.toml", config);
    house.write("schemas/invoice.json", "{\"$ref\": \"https://example.com/schema.json\"}");
    let answer = house.run(&["check", "good.json"]);
    assert_eq!(answer.code, 3);
    assert!(answer.err.contains("lies outside it"), "{answer:?}");
    house.write("schemas/invoice.json", "{\"$schema\": \"http://json-schema.org/draft-07/schema#\"}");
    let answer = house.run(&["check", "good.json"]);
    assert_eq!(answer.code, 3);
    assert!(answer.err.contains("draft-07") && answer.err.contains("2020-12"), "{answer:?}");
}

#[test]
fn a_schema_outside_of_the_project_is_not_read() {
    let (house, other) = (House::new(), House::new());
    other.write("schema.json", "{}");
    let outside = other.path("schema.json").display().to_string();
    for schema in [outside.as_str(), "../../etc/hostname"] {
        house.write(
            ".countersign/config.toml",
            format!("[[contracts]]\nname = \"own\"\nmarks = [\"own\"]\nschema = \"{schema}\"\n"),
        );
        let answer = house.run(&["contracts"]);
        assert_eq!(answer.code, 3, "{schema}: {answer:?}");
        assert!(!answer.err.contains("not JSON"), "{schema}: {answer:?}");
    }
}

#[test]
fn colours_are_for_terminals_and_those_who_ask() {
    let house = House::new();
    house.document("bad.json", "assignment", json!({"task": {"timeout_seconds": 1}}));
    let coloured = |env: &[(&str, &str)]| house.run_with(&["check", "bad.json"], "", env).out.contains('\u{1b}');
    assert!(!coloured(&[]));
    assert!(coloured(&[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "0")]));
    assert!(!coloured(&[("NO_COLOR", "1")]));
}

/// A secret stands in every text in turn, as value and as key; no format may repeat it.
#[test]
fn a_secret_in_any_place_appears_in_no_output() {
    let canary = concat!("AKI", "AIOSFODNN7CANARYX");
    let house = House::new();
    let mut names = Vec::new();
    for contract in countersign_domain::contracts() {
        let mut places = Vec::new();
        texts(&(contract.example)(), "", &mut places);
        for (number, place) in places.iter().enumerate() {
            let mut document = document(contract.name, json!({}));
            *document.pointer_mut(place).unwrap() = format!("before {canary} after").into();
            let name = format!("{}-{number}.json", contract.name);
            house.write(&name, format!("{document:#}"));
            names.push(name);
        }
        let mut document = document(contract.name, json!({"password": "plainhunter2"}));
        document[canary] = json!(1);
        let name = format!("{}-key.json", contract.name);
        house.write(&name, format!("{document:#}"));
        names.push(name);
    }
    for format in ["text", "json", "sarif", "github"] {
        let arguments: Vec<&str> =
            ["check", "--format", format].into_iter().chain(names.iter().map(String::as_str)).collect();
        let answer = house.run(&arguments);
        assert_eq!(answer.code, 1);
        for secret in [canary, "plainhunter2"] {
            let leak = answer.out.lines().chain(answer.err.lines()).find(|line| line.contains(secret));
            assert_eq!(leak, None, "{format}");
        }
    }
    for name in &names {
        let answer = house.run(&["fix", name]);
        assert!(!answer.err.contains(canary) && !answer.err.contains("plainhunter2"), "{name}: {answer:?}");
        assert!(!answer.out.contains(canary) && !answer.out.contains("plainhunter2"), "{name}: {answer:?}");
    }
}

fn texts(value: &serde_json::Value, at: &str, places: &mut Vec<String>) {
    match value {
        serde_json::Value::String(_) => places.push(at.to_owned()),
        serde_json::Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| texts(item, &format!("{at}/{index}"), places));
        }
        serde_json::Value::Object(members) => {
            members.iter().for_each(|(key, member)| texts(member, &format!("{at}/{key}"), places));
        }
        _ => {}
    }
}

#[test]
fn what_could_not_be_written_is_no_success() {
    let house = House::new();
    house.document("good.json", "assignment", json!({}));
    for arguments in
        [&["check", "good.json", "--format", "json"][..], &["fix", "good.json"], &["example", "assignment"]]
    {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let status = std::process::Command::new(env!("CARGO_BIN_EXE_countersign"))
            .args(arguments)
            .current_dir(house.path("."))
            .stdout(full)
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(3), "{arguments:?}");
    }
}

#[test]
fn a_configuration_that_is_no_file_is_not_passed_over() {
    let house = House::new();
    house.document("good.json", "assignment", json!({}));
    std::fs::create_dir_all(house.path(".countersign/config.toml")).unwrap();
    assert_eq!(house.run(&["check", "good.json"]).code, 3);
}

#[test]
fn an_instruction_without_authority_is_context_for_the_response_that_declines_it() {
    let house = House::new();
    let unauthorised = json!({"REQUESTER": {"AUTHORIZATION_LEVEL": "AUTONOMOUS"}});
    house.document("instruction.json", "delegation_instruction", unauthorised);
    house.document("done.json", "delegation_response", json!({}));
    assert_eq!(
        house.codes(&["done.json", "--with", "instruction.json"]),
        (1, vec!["AUTHORIZATION_MISSING".to_owned()])
    );
}

#[test]
fn files_that_a_document_names_are_looked_for_whatever_its_contract() {
    let house = House::new();
    house.document("instruction.json", "delegation_instruction", json!({}));
    house.document("response.json", "delegation_response", json!({}));
    let found = |rule: &str| {
        let (code, decisions) = house.decisions(&["instruction.json", "response.json"]);
        assert_eq!(code, 0);
        let findings = decisions.iter().flat_map(|it| it["details"]["diagnostics"].as_array().unwrap());
        findings.filter(|it| it["rule"] == rule).count()
    };
    assert_eq!((found("evidence-file-absent"), found("audit-entry-absent")), (2, 1));
    house.write(".governance/compliance-check.md", "kept").write(".qa/results-2025-12-25.json", "{}");
    house.write(".evidence/platform-actions/2025-12/PAA-2025-12-25-001.md", "entry");
    assert_eq!((found("evidence-file-absent"), found("audit-entry-absent")), (0, 0));
}
