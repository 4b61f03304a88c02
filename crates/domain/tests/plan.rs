//! Plans as people write them: which lists may be empty, where scopes lead, and what can never be shown.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

use countersign_contract::diagnostic::{Code, Decision, Source};
use countersign_contract::{Checker, Outside, Request, Settings, check, prove};
use countersign_domain::{contract, contracts};
use serde_json::{Value, json};

fn decide(text: &str) -> Decision {
    let settings = Settings::default();
    let checker = Checker { contracts: contracts(), foreign: &[], settings: &settings, raised: &[] };
    let outside = Outside::default();
    check(&checker, &Request::alone(Source { name: "plan.yaml", text }, &outside)).decision
}

/// A plan of one task, over which a patch is laid, as is another over the plan.
fn plan(task: Value, more: Value) -> String {
    let mut planned = json!({
        "id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
        "acceptance": [{ "text": "tests pass", "check": { "test": ["pytest"] } }],
    });
    prove::merge(&mut planned, &task);
    let mut plan = (contract("plan").unwrap().example)();
    plan["tasks"] = json!([planned]);
    prove::merge(&mut plan, &more);
    plan.to_string()
}

/// A plan whose only criterion is that.
fn criterion(criterion: Value, more: Value) -> String {
    plan(json!({ "acceptance": [criterion] }), more)
}

/// The code, and rule and place of each finding.
fn found(decision: &Decision) -> (&'static str, Vec<(&'static str, &str)>) {
    let findings = decision.details.diagnostics.iter().map(|it| (it.rule, it.pointer.as_str()));
    (decision.code.map_or(Code::OK, Code::as_str), findings.collect())
}

#[test]
fn lists_that_may_be_left_out_may_be_empty_and_others_may_not() {
    let empty = json!([]);
    let fine = [
        plan(json!({ "depends_on": empty }), json!({})),
        plan(json!({ "forbidden_scope": empty }), json!({})),
        criterion(json!({ "text": "t", "check": { "test": ["pytest"] }, "pin": empty }), json!({})),
        plan(json!({}), json!({ "constraints": empty, "allow_hosts": empty })),
        plan(json!({}), json!({ "agents": { "coder": { "environment": empty } } })),
    ];
    for text in fine {
        assert_eq!(found(&decide(&text)), (Code::OK, vec![]), "{text}");
    }
    let missing = [
        plan(json!({ "lock_scope": empty }), json!({})),
        plan(json!({ "acceptance": empty }), json!({})),
        criterion(json!({ "text": "t", "check": empty }), json!({})),
        plan(json!({}), json!({ "agents": { "coder": { "command": empty } } })),
        plan(json!({}), json!({ "gates": { "validate": empty } })),
    ];
    for text in missing {
        assert_eq!(found(&decide(&text)).0, "MISSING_REQUIRED_INPUT", "{text}");
    }
}

#[test]
fn a_path_that_leads_out_of_the_project_is_named_where_it_stands() {
    let file = |path: &str| json!({ "text": "t", "check": { "file": { "path": path } } });
    let second = json!({ "text": "t", "check": [{ "diff": true }, { "file": { "path": "../x" } }] });
    let pinned = |pin: Value| json!({ "text": "t", "check": { "test": ["pytest"] }, "pin": pin });
    let cases = [
        (plan(json!({ "lock_scope": "../x" }), json!({})), "/tasks/0/lock_scope"),
        (plan(json!({ "lock_scope": ["../x"] }), json!({})), "/tasks/0/lock_scope/0"),
        (plan(json!({ "forbidden_scope": "../x" }), json!({})), "/tasks/0/forbidden_scope"),
        (plan(json!({ "forbidden_scope": ["vendor", "a/../../x"] }), json!({})), "/tasks/0/forbidden_scope/1"),
        (criterion(file("../x"), json!({})), "/tasks/0/acceptance/0/check/file/path"),
        (criterion(second, json!({})), "/tasks/0/acceptance/0/check/1/file/path"),
        (criterion(pinned(json!("../x")), json!({})), "/tasks/0/acceptance/0/pin"),
        (criterion(pinned(json!(["tests", "../x"])), json!({})), "/tasks/0/acceptance/0/pin/1"),
    ];
    for (text, place) in cases {
        let decision = decide(&text);
        assert_eq!(found(&decision), ("SCHEMA_INVALID", vec![("plan-resource-unusable", place)]), "{text}");
        assert!(decision.details.diagnostics[0].message.contains("`"), "{decision:?}");
    }
    for scope in ["/etc", "C:/x"] {
        assert_eq!(found(&decide(&plan(json!({ "lock_scope": scope }), json!({})))).0, "SCHEMA_INVALID", "{scope}");
    }
}

#[test]
fn a_wildcard_in_a_scope_is_a_warning_and_a_bracket_is_a_name() {
    let scopes = json!({ "lock_scope": ["src/*.py", "app/[id]/page.tsx"], "forbidden_scope": ["vendor", "v?"] });
    let decision = decide(&plan(scopes, json!({})));
    let expected = ["/tasks/0/lock_scope/0", "/tasks/0/forbidden_scope/1"].map(|place| ("plan-scope-wildcard", place));
    assert_eq!(found(&decision), (Code::OK, expected.to_vec()));
}

#[test]
fn an_entry_inside_another_is_a_warning_that_names_it() {
    let decision = decide(&plan(json!({ "lock_scope": ["x/y", "z", "x"] }), json!({})));
    assert_eq!(found(&decision), (Code::OK, vec![("plan-scope-redundant", "/tasks/0/lock_scope/0")]));
    assert!(decision.details.diagnostics[0].message.contains("`x/y` is already inside `x`"), "{decision:?}");
    let decision = decide(&plan(json!({ "lock_scope": ["x", "x2", "y/x"] }), json!({})));
    assert_eq!(found(&decision), (Code::OK, vec![]));
}

#[test]
fn a_criterion_that_nobody_could_show_is_found() {
    let test = || json!({ "test": ["pytest"] });
    let file = |more: Value| {
        let mut file = json!({ "path": "billing/round.py" });
        prove::merge(&mut file, &more);
        json!({ "text": "t", "check": { "file": file } })
    };
    let http = |url: &str| json!({ "text": "t", "check": { "http": { "url": url } } });
    let page = |url: &str| json!({ "text": "t", "check": { "page": { "url": url } } });
    let person = || json!({ "gates": { "validate": "person" } });
    let hosts = |hosts: Value| json!({ "allow_hosts": hosts });
    let sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let (weak, host, red) = (Some("plan-evidence-too-weak"), Some("plan-host-not-allowed"), Some("plan-red-unchecked"));
    let never = Some("plan-check-contradictory");
    let cases = [
        (json!({ "text": "t", "evidence": "test" }), person(), weak),
        (json!({ "text": "t", "evidence": "file" }), person(), weak),
        (json!({ "text": "t", "evidence": "statement" }), person(), None),
        (json!({ "text": "t" }), person(), None),
        (json!({ "text": "t", "evidence": "test", "check": { "human": "Is it?" } }), person(), weak),
        (json!({ "text": "t", "evidence": "test", "check": test() }), person(), None),
        (http("http://example.com/"), json!({}), host),
        (http("http://localhost@example.com/"), json!({}), host),
        (http("http://a.example.com/"), hosts(json!("example.com")), host),
        (http("http://example.com/"), hosts(json!("example.com:80")), host),
        (http("http://example.com:80/x"), hosts(json!(["other.org", "Example.com."])), None),
        (http("http://localhost:8000/x"), json!({}), None),
        (http("http://[::1]:8000/x"), json!({}), None),
        (page("https://example.com"), json!({}), host),
        (page("https://example.com"), hosts(json!("example.com")), None),
        (json!({ "text": "t", "red_before_green": true }), person(), red),
        (json!({ "text": "t", "check": { "human": "Is it?" }, "red_before_green": true }), json!({}), red),
        (json!({ "text": "t", "check": [{ "human": "Is it?" }, test()], "red_before_green": true }), json!({}), None),
        (file(json!({ "contains": "float(", "not_contains": "float(" })), json!({}), never),
        (file(json!({ "contains": ["a", "a float("], "not_contains": ["b", "float("] })), json!({}), never),
        (file(json!({ "contains": "float", "not_contains": "float(" })), json!({}), None),
        (file(json!({ "min_size": 2, "max_size": 1 })), json!({}), never),
        (file(json!({ "min_size": 2, "max_size": 2 })), json!({}), None),
        (file(json!({ "contains": "abc", "max_size": 2 })), json!({}), never),
        (file(json!({ "contains": "abc", "max_size": 3 })), json!({}), None),
        (file(json!({ "exists": false, "contains": "a" })), json!({}), never),
        (file(json!({ "exists": false, "min_size": 1 })), json!({}), never),
        (file(json!({ "exists": false, "sha256": sha256 })), json!({}), never),
        (file(json!({ "exists": false })), json!({}), None),
        (file(json!({ "exists": false, "not_contains": "a" })), json!({}), None),
        (file(json!({ "exists": true, "contains": "a", "sha256": sha256 })), json!({}), None),
        (file(json!({ "json_pointer": "a" })), json!({}), never),
        (file(json!({ "json_pointer": "/a", "equals": 1 })), json!({}), None),
        (file(json!({ "json_pointer": "/a", "equals": "NULL" })), json!({}), None),
        (file(json!({ "exists": false, "equals": "NULL" })), json!({}), never),
    ];
    for (wanted, more, rule) in cases {
        // To a patch null is what is left out.
        let text = criterion(wanted, more).replace("\"NULL\"", "null");
        let decision = decide(&text);
        let rules: Vec<&str> = found(&decision).1.into_iter().map(|(rule, _)| rule).collect();
        assert_eq!((rules, decision.allow), (rule.into_iter().collect(), rule.is_none()), "{text}");
    }
}

#[test]
fn a_known_agent_does_not_look_at_its_own_work_under_another_name() {
    let agents = |coder: Value, critic: Value| {
        let agents = json!({ "coder": { "command": null }, "critic": { "role": "validator" } });
        let mut more = json!({ "agents": agents, "gates": { "validate": "critic" } });
        prove::merge(&mut more["agents"]["coder"], &coder);
        more["agents"]["coder"]["command"] = coder["command"].clone();
        prove::merge(&mut more["agents"]["critic"], &critic);
        plan(json!({}), more)
    };
    let claude = || json!({ "preset": "claude" });
    let cases = [
        (agents(claude(), claude()), false),
        (agents(json!({ "preset": "claude", "model": "a" }), json!({ "preset": "claude", "model": "a" })), false),
        (agents(json!({ "preset": "claude", "model": "a" }), json!({ "preset": "claude", "model": "b" })), true),
        (agents(claude(), json!({ "preset": "claude", "model": "b" })), true),
        (agents(claude(), json!({ "preset": "claude", "environment": "OTHER_KEY" })), true),
        (agents(claude(), json!({ "preset": "codex" })), true),
        (agents(json!({ "command": ["a"] }), json!({ "command": ["a"] })), false),
        (agents(json!({ "command": ["a"] }), json!({ "command": ["b"] })), true),
        (agents(json!({ "peer": true }), json!({ "peer": true })), true),
    ];
    for (text, allowed) in cases {
        let decision = decide(&text);
        let rules: Vec<&str> = found(&decision).1.into_iter().map(|(rule, _)| rule).collect();
        let expected: &[&str] = if allowed { &[] } else { &["plan-validator-is-author"] };
        assert_eq!((rules.as_slice(), decision.allow), (expected, allowed), "{text}");
    }
}
