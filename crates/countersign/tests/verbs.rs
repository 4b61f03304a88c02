//! The verbs that tell: explain, rules, contracts, schema, example, new, tokens, targets, completions, man.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;

use countersign_contract::Form;
use house::{House, document};
use serde_json::{Value, json};

const VERBS: [&str; 48] = [
    "demo",
    "validate",
    "check",
    "fix",
    "explain",
    "rules",
    "contracts",
    "schema",
    "example",
    "new",
    "tokens",
    "targets",
    "handoff",
    "completions",
    "man",
    "init",
    "record",
    "log",
    "show",
    "verify",
    "checkpoint",
    "prove",
    "verify-proof",
    "export",
    "import",
    "erase",
    "rebuild",
    "backup",
    "doctor",
    "migrate",
    "run",
    "task",
    "lock",
    "promise",
    "gate",
    "inbox",
    "delegate",
    "apply",
    "worklog",
    "bundle",
    "reconcile",
    "watch",
    "trace",
    "token",
    "serve",
    "mcp",
    "hook",
    "install",
];

/// Those that have verbs of their own.
const DEEPER: [(&str, &[&str]); 9] = [
    ("run", &["open", "close", "cancel", "accept", "list", "show"]),
    (
        "task",
        &[
            "add",
            "next",
            "claim",
            "heartbeat",
            "extend",
            "release",
            "submit",
            "block",
            "unblock",
            "replan",
            "fail",
            "cancel",
            "reassign",
            "show",
            "list",
            "graph",
            "assignment",
        ],
    ),
    ("lock", &["who", "mine", "list", "may"]),
    ("promise", &["create", "start", "meet", "release", "adopt", "cancel", "show", "list"]),
    ("gate", &["status", "check", "accept", "testify", "rule", "approve", "refuse", "validate", "judge", "land"]),
    ("worklog", &["add", "show"]),
    ("bundle", &["make", "resume"]),
    ("token", &["make", "list", "revoke"]),
    ("handoff", &["make", "check", "send", "receive", "chain", "show"]),
];

#[test]
fn every_verb_has_help_with_examples() {
    let house = House::new();
    for verb in VERBS {
        let answer = house.run(&[verb, "--help"]);
        assert_eq!(answer.code, 0, "{verb}");
        assert!(answer.out.contains("Examples:"), "{verb}");
    }
    for (verb, deeper) in DEEPER {
        for deeper in deeper {
            let answer = house.run(&[verb, deeper, "--help"]);
            assert_eq!(answer.code, 0, "{verb} {deeper}");
            assert!(answer.out.contains("Examples:"), "{verb} {deeper}");
        }
    }
}

/// What can be asked of the engine, and the verbs that ask it.
const ASKED: [(&str, &[&str]); 85] = [
    ("run.lead", &["run"]),
    ("handoff.send", &["handoff", "send"]),
    ("handoff.receive", &["handoff", "receive"]),
    ("handoff.note", &["handoff", "receive"]),
    ("handoff.chain", &["handoff", "chain"]),
    ("handoff.show", &["handoff", "show"]),
    ("project.init", &["init"]),
    ("record.keep", &["record"]),
    ("text.erase", &["erase"]),
    ("run.open", &["run", "open"]),
    ("run.close", &["run", "close"]),
    ("run.cancel", &["run", "cancel"]),
    ("run.accept", &["run", "accept"]),
    ("task.add", &["task", "add"]),
    ("envelope.apply", &["apply"]),
    ("task.claim", &["task", "claim"]),
    ("task.heartbeat", &["task", "heartbeat"]),
    ("task.extend", &["task", "extend"]),
    ("task.release", &["task", "release"]),
    ("task.submit", &["task", "submit"]),
    ("task.block", &["task", "block"]),
    ("task.unblock", &["task", "unblock"]),
    ("task.replan", &["task", "replan"]),
    ("task.fail", &["task", "fail"]),
    ("task.cancel", &["task", "cancel"]),
    ("task.reassign", &["task", "reassign"]),
    ("worklog.add", &["worklog", "add"]),
    ("bundle.resume", &["bundle", "resume"]),
    ("run.list", &["run", "list"]),
    ("run.show", &["run", "show"]),
    ("task.list", &["task", "list"]),
    ("task.show", &["task", "show"]),
    ("task.next", &["task", "next"]),
    ("task.assignment", &["task", "assignment"]),
    ("task.graph", &["task", "graph"]),
    ("lock.who", &["lock", "who"]),
    ("lock.may", &["lock", "may"]),
    ("lock.mine", &["lock", "mine"]),
    ("lock.list", &["lock", "list"]),
    // What was changed beyond a claim is asked by hooks, after a shell command.
    ("lock.strays", &["hook"]),
    ("worklog.show", &["worklog", "show"]),
    ("bundle.make", &["bundle", "make"]),
    ("reconcile", &["reconcile"]),
    // One verb goes the whole way of an instruction.
    ("delegation.receive", &["delegate"]),
    ("delegation.start", &["delegate"]),
    ("delegation.answer", &["delegate"]),
    ("delegation.observe", &["delegate"]),
    ("delegation.end", &["delegate"]),
    ("delegation.show", &["delegate"]),
    ("delegation.next", &["delegate"]),
    ("delegation.alerts", &["delegate"]),
    ("delegation.entries", &["doctor"]),
    ("delegation.resolve", &["delegate"]),
    ("delegation.approve", &["gate", "approve"]),
    ("delegation.refuse", &["gate", "refuse"]),
    // An action of a plan is asked for and concluded by runs themselves.
    ("delegation.ask", &["run"]),
    ("delegation.conclude", &["run"]),
    ("delegation.task", &["run"]),
    ("promise.create", &["promise", "create"]),
    ("promise.start", &["promise", "start"]),
    ("promise.meet", &["promise", "meet"]),
    ("promise.release", &["promise", "release"]),
    ("promise.adopt", &["promise", "adopt"]),
    ("promise.cancel", &["promise", "cancel"]),
    ("promise.show", &["promise", "show"]),
    ("promise.list", &["promise", "list"]),
    ("gate.validate", &["gate", "validate"]),
    ("gate.judge", &["gate", "judge"]),
    ("gate.accept", &["gate", "accept"]),
    ("gate.testify", &["gate", "testify"]),
    ("gate.rule", &["gate", "rule"]),
    ("gate.land", &["gate", "land"]),
    ("gate.status", &["gate", "status"]),
    ("gate.waiting", &["gate", "waiting"]),
    ("inbox.list", &["inbox"]),
    // What follows a plan, and what is done in the world for it, is asked by runs themselves.
    ("run.plan", &["run"]),
    ("run.start", &["run", "start"]),
    ("attempt.fail", &["run"]),
    ("attempt.hold", &["run"]),
    ("attempt.return", &["run"]),
    ("gate.hold", &["run"]),
    ("gate.recheck", &["run"]),
    ("effect.start", &["run"]),
    ("effect.finish", &["run"]),
    ("effect.list", &["run"]),
];

#[test]
fn everything_that_can_be_asked_has_a_verb() {
    let commands = countersign_engine::COMMANDS.iter().map(|row| row.info.id);
    let ids: Vec<&str> = commands.chain(countersign_engine::VIEWS.iter().map(|row| row.info.id)).collect();
    let mut asked: Vec<&str> = ASKED.iter().map(|(id, _)| *id).collect();
    let mut known = ids.clone();
    asked.sort_unstable();
    known.sort_unstable();
    assert_eq!(asked, known);
    let house = House::new();
    for (id, verb) in ASKED {
        assert_eq!(house.run(&[verb, &["--help"]].concat()).code, 0, "{id}");
    }
}

#[test]
fn every_rule_and_code_is_explained() {
    let house = House::new();
    let rules: Vec<Value> = serde_json::from_str(&house.run(&["rules", "--format", "json"]).out).unwrap();
    assert_eq!(rules.len(), countersign_domain::rules().len());
    for rule in rules.iter().step_by(17) {
        for key in ["rule", "code", "severity", "contract", "summary", "domain"] {
            assert!(rule[key].is_string(), "{rule}");
        }
        let id = rule["rule"].as_str().unwrap();
        let answer = house.run(&["explain", id]);
        assert_eq!(answer.code, 0, "{id}");
        assert!(answer.out.starts_with(id) && answer.out.contains("## Why"), "{answer:?}");
    }
    for code in countersign_diagnostic::Code::ALL {
        assert_eq!(house.run(&["explain", code.as_str()]).code, 0, "{code}");
    }
    let answer = house.run(&["explain", "LOCK_CONFLIKT"]);
    assert_eq!(answer.code, 2);
    assert!(answer.err.contains("did you mean `LOCK_CONFLICT`?"), "{answer:?}");
}

#[test]
fn what_is_printed_as_an_example_or_begun_anew_passes() {
    let house = House::new();
    for contract in countersign_domain::contracts() {
        for verb in ["example", "new"] {
            let printed = house.run(&[verb, contract.name]);
            assert_eq!(printed.code, 0, "{verb} {}", contract.name);
            let checked = house.run_with(&["check", "-", "--strict"], &printed.out, &[]);
            assert_eq!(checked.code, 0, "{verb} {}: {checked:?}", contract.name);
        }
        let schema: Value = serde_json::from_str(&house.run(&["schema", contract.name]).out).unwrap();
        assert!(jsonschema::options().build(&schema).is_ok(), "{}", contract.name);
        let page = house.run(&["contracts", "--reference", contract.name]).out;
        assert!(page.contains("## Smallest example") && page.contains("## Rules"), "{page}");
    }
    assert_eq!(house.run(&["schema", "assignmnt"]).code, 2);
}

#[test]
fn a_contract_of_the_users_is_known_to_every_verb() {
    let house = House::new();
    let schema = json!({"title": "What a customer owes", "type": "object", "required": ["invoice_id", "total"],
        "properties": {"invoice_id": {"type": "string"}, "total": {"type": "integer", "minimum": 1}}});
    let opaque = json!({"type": "object", "required": ["code"], "properties": {"code": {"pattern": "^[A-Z]{3}$"}}});
    house.write("invoice.json", schema.to_string()).write("opaque.json", opaque.to_string());
    let config = "[[contracts]]\nname = \"invoice\"\nschema = \"invoice.json\"\nmarks = [\"invoice_id\"]\n\
                  [[contracts]]\nname = \"opaque\"\nschema = \"opaque.json\"\n";
    house.write(".countersign/config.toml", config);
    let answer = house.run(&["schema", "invoice"]);
    assert_eq!(serde_json::from_str::<Value>(&answer.out).unwrap(), schema, "{answer:?}");
    for verb in ["example", "new"] {
        let answer = house.run(&[verb, "invoice"]);
        assert_eq!(answer.code, 0, "{answer:?}");
        assert_eq!(house.run_with(&["check", "-"], &answer.out, &[]).code, 0, "{answer:?}");
        let answer = house.run(&[verb, "opaque"]);
        assert_eq!((answer.code, answer.out.as_str()), (3, ""), "{answer:?}");
        assert!(answer.err.contains("add one to its `examples`"), "{answer:?}");
    }
    let answer = house.run(&["new", "invoice", "--set", "/total=12"]);
    assert_eq!(serde_json::from_str::<Value>(&answer.out).unwrap()["total"], 12);
    assert!(house.run(&["contracts"]).out.contains("What a customer owes"));
    let listed: Value = serde_json::from_str(&house.run(&["contracts", "--format", "json"]).out).unwrap();
    assert_eq!(listed.as_array().unwrap().iter().filter(|it| it["domain"] == "configured").count(), 2);
    let answer = house.run(&["contracts", "--reference", "invoice"]);
    assert!(answer.code == 2 && answer.err.contains("countersign schema invoice"), "{answer:?}");
    let answer = house.run(&["rules", "--contract", "invoice"]);
    assert!(answer.code == 2 && answer.err.contains("schema"), "{answer:?}");
    let answer = house.run(&["schema", "invoic"]);
    assert!(answer.code == 2 && answer.err.contains("did you mean `invoice`?"), "{answer:?}");
    // What is built in can be had however broken the configuration is.
    house.write(".countersign/config.toml", "[");
    assert_eq!(house.run(&["schema", "assignment"]).code, 0);
    assert_eq!(house.run(&["schema", "invoice"]).code, 3);
}

#[test]
fn values_can_be_set_in_a_new_document() {
    let house = House::new();
    let set = ["--set", "/task/title=Round half to even", "--set", "/task/lock_scope=[\"billing\"]"];
    let answer = house.run(&[&["new", "assignment", "--out", "a.json"], &set[..]].concat());
    assert_eq!(answer.code, 0, "{answer:?}");
    let made: Value = serde_json::from_str(&house.read("a.json")).unwrap();
    assert_eq!(made["task"]["title"], "Round half to even");
    assert_eq!(made["task"]["lock_scope"], json!(["billing"]));
    assert_ne!(made["run_id"], document("assignment", json!({}))["run_id"]);
    // A file that is there is not written over.
    assert_eq!(house.run(&["new", "assignment", "--out", "a.json"]).code, 3);
    assert_eq!(house.run(&["new", "assignment", "--set", "/tsk/title=x"]).code, 2);
    assert_eq!(house.run(&["new", "assignment", "--set", "title"]).code, 2);
    // An item that is there is replaced; at the end of a list one more has its place.
    for (set, expected) in [
        ("/task/lock_scope/0=a", Some(json!(["a"]))),
        ("/task/lock_scope/1=a", Some(json!(["src/money", "a"]))),
        ("/task/lock_scope/-=a", Some(json!(["src/money", "a"]))),
        ("/task/lock_scope/2=a", None),
        ("/task/timeout_seconds=abc", None),
        ("/task/lock_scope/0=7", None),
    ] {
        let answer = house.run(&["new", "assignment", "--set", set, "--out", "b.json"]);
        assert_eq!(answer.code, if expected.is_some() { 0 } else { 2 }, "{set}: {answer:?}");
        assert_eq!(house.path("b.json").exists(), expected.is_some(), "{set}");
        if let Some(expected) = expected {
            let made: Value = serde_json::from_str(&house.read("b.json")).unwrap();
            assert_eq!(made["task"]["lock_scope"], expected, "{set}");
            std::fs::remove_file(house.path("b.json")).unwrap();
        }
    }
}

#[test]
fn a_new_document_has_the_form_that_its_ending_says() {
    let house = House::new();
    for contract in countersign_domain::contracts() {
        for (ending, form) in
            [("json", Form::Json), ("jsonl", Form::JsonLines), ("yaml", Form::Yaml), ("md", Form::Markdown)]
        {
            let name = format!("{}.{ending}", contract.name);
            let answer = house.run(&["new", contract.name, "--out", &name]);
            if contract.forms.contains(&form) {
                assert_eq!(answer.code, 0, "{name}: {answer:?}");
                let checked = house.run(&["check", "--strict", &name]);
                assert_eq!(checked.code, 0, "{name}: {checked:?}");
                let plain = serde_json::from_str::<Value>(&house.read(&name)).is_ok();
                assert_eq!(plain, matches!(form, Form::Json | Form::JsonLines), "{name}");
            } else {
                assert_eq!((answer.code, house.path(&name).exists()), (2, false), "{name}: {answer:?}");
                assert!(answer.err.contains("name a file of JSON"), "{name}: {answer:?}");
            }
        }
    }
    assert_eq!(house.read("worklog_entry.jsonl").lines().count(), 1);
}

#[test]
fn tokens_are_counted_as_the_limit_counts_them() {
    let house = House::new();
    house.write("a.json", "{\n    \"hello\": \"world\"\n}\n").write("a.txt", "hello world\n");
    let count = |arguments: &[&str]| -> Value {
        let answer = house.run(&[&["tokens", "--format", "json"], arguments].concat());
        assert_eq!(answer.code, 0, "{answer:?}");
        serde_json::from_str(&answer.out).unwrap()
    };
    let document = count(&["a.json"]);
    assert_eq!((document["of"].as_str(), document["encoding"].as_str()), (Some("compact_json"), Some("o200k_base")));
    assert!(document["tokens"].as_u64() < document["tokens_as_written"].as_u64());
    // The same document counts the same on standard input.
    let piped = house.run_with(&["tokens", "-", "--format", "json"], &house.read("a.json"), &[]);
    let piped: Value = serde_json::from_str(&piped.out).unwrap();
    assert_eq!((&piped["of"], &piped["tokens"]), (&document["of"], &document["tokens"]));
    assert_eq!(count(&["a.txt"])["tokens"], 3);
    assert_eq!(count(&["a.txt", "--encoding", "chars4"])["tokens"], 3);
    assert_eq!(house.run(&["tokens", "a.txt", "--encoding", "p50k"]).code, 2);
    assert_eq!(house.run(&["tokens", "absent"]).code, 3);
}

#[test]
fn an_entry_of_a_registry_that_cannot_be_read_is_not_taken_for_the_registry() {
    let house = House::new();
    house.document("handoff.json", "universal_handoff", json!({}));
    house.write(
        "registry.yaml",
        "workflows:\n  - name: 5\n    handoff: {}\n  - name: pm\n    handoff: {accepts_from: ['*']}\n",
    );
    let answer = house.run(&["targets", "handoff.json", "--registry", "registry.yaml"]);
    assert!(
        answer
            .err
            .contains("could not parse an entry of `registry.yaml`, skipping it: it has no `name` that is a text")
    );
    assert!(answer.code == 0 && answer.out.contains("pm"), "{answer:?}");
}

#[test]
fn targets_are_found_in_front_matter_and_registry_with_reasons() {
    let house = House::new();
    house.document("handoff.json", "universal_handoff", json!({"handoff": {"target": {"category": "implementation"}}}));
    house.write(".countersign/registry.yaml", "workflows:\n  - name: writer\n    handoff: {accepts_from: [\"*\"]}\n    categories: [creative]\n  - handoff: {}\n");
    house.write("skills/pm/SKILL.md", "---\nname: programming-pm\nhandoff:\n  accepts_from: [\"*\"]\n  schema_version: \"3.0\"\ncategories: [implementation]\n---\n# PM\n");
    house.write("skills/bad/SKILL.md", "---\nname: [\n---\n");
    let answer = house.run(&["targets", "handoff.json", "--format", "json"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let list: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(list[0]["skill"], "programming-pm");
    assert_eq!(list[0]["parts"][0], json!({"part": "category", "points": 40, "reason": list[0]["parts"][0]["reason"]}));
    assert_eq!(answer.err.matches("skipping it").count(), 2, "{answer:?}");
    house.write("skills/pm/SKILL.md", "").write(".countersign/registry.yaml", "workflows: []\n");
    assert_eq!(house.run(&["targets", "handoff.json"]).code, 1);
}

#[test]
fn completions_and_manual_pages_name_every_verb() {
    let house = House::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = house.run(&["completions", shell]).out;
        assert!(VERBS.iter().all(|verb| script.contains(verb)), "{shell}");
    }
    assert!(house.run(&["man"]).out.contains(".TH countersign"));
    assert_eq!(house.run(&["man", "--out", "pages"]).code, 0);
    assert!(house.path("pages/countersign-check.1").is_file());
}
