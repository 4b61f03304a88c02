//! The server of the Model Context Protocol on standard input and output, asked by hand in both revisions.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

#[path = "../house/mod.rs"]
mod house;
mod reading;
mod speaking;
#[path = "../wire/mod.rs"]
mod wire;

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use wire::{CRITERION, RUN, Revision, Session, ask, project, result};

const BOTH: [Revision; 2] = [Revision::Handshake, Revision::Stateless];

fn tools(session: &mut Session) -> Vec<Value> {
    session.result("tools/list", json!({}))["tools"].as_array().unwrap().clone()
}

/// What tools say they answer with.
struct Promises(BTreeMap<String, jsonschema::Validator>);

impl Promises {
    fn of(session: &mut Session) -> Self {
        let tools = tools(session);
        let promise = |tool: &Value| {
            (tool["name"].as_str().unwrap().to_owned(), jsonschema::validator_for(&tool["outputSchema"]).unwrap())
        };
        Self(tools.iter().map(promise).collect())
    }

    /// What a tool says, held to its schema; and whether it was refused.
    fn call(&self, session: &mut Session, tool: &str, arguments: Value) -> (Value, bool) {
        let (object, refused) = session.call(tool, arguments);
        let faults: Vec<String> = self.0[tool].iter_errors(&object).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{tool}: {faults:?} in {object}");
        (object, refused)
    }

    fn done(&self, session: &mut Session, tool: &str, arguments: Value) -> Value {
        let (object, refused) = self.call(session, tool, arguments);
        assert!(!refused && object["code"] == "OK" && object["allow"] == true, "{tool}: {object}");
        object["answer"].clone()
    }

    /// The code of a refusal, which says everything there is to know.
    fn refused(&self, session: &mut Session, tool: &str, arguments: Value) -> String {
        let (object, refused) = self.call(session, tool, arguments);
        assert!(refused && object["allow"] == false && object.get("answer").is_none(), "{tool}: {object}");
        for field in ["reason", "help", "rendered"] {
            assert!(!object[field].as_str().unwrap().is_empty(), "{tool} {field}: {object}");
        }
        let code = object["code"].as_str().unwrap().to_owned();
        assert!(object["rendered"].as_str().unwrap().contains(&code));
        code
    }
}

#[test]
fn the_tools_are_listed_in_order_with_what_they_do_to_the_world() {
    let house = project();
    let mut lists = Vec::new();
    for revision in BOTH {
        let mut session = Session::open(&house, "agent:w1", revision);
        let page = session.result("tools/list", json!({}));
        // How long it may be kept is said where the revision has a word for it.
        assert!(
            revision == Revision::Handshake || (page["ttlMs"].is_u64() && page["cacheScope"].is_string()),
            "{page}"
        );
        lists.push(page["tools"].clone());
    }
    assert_eq!(lists[0], lists[1]);
    let line = |tool: &Value| {
        let hints = &tool["annotations"];
        let hint = |name: &str| hints[name].as_bool().unwrap();
        let (reads, gives_up) = (hint("readOnlyHint"), hint("destructiveHint"));
        assert!(!hint("openWorldHint") && hint("idempotentHint") == reads);
        assert_eq!((&tool["inputSchema"]["type"], &tool["outputSchema"]["type"]), (&json!("object"), &json!("object")));
        let input: Vec<&String> = tool["inputSchema"]["properties"].as_object().unwrap().keys().collect();
        let word = match (reads, gives_up) {
            (true, _) => "reads",
            (false, false) => "adds",
            (false, true) => "gives up",
        };
        format!("{} ({word}): {input:?}", tool["name"].as_str().unwrap())
    };
    let lines: Vec<String> = lists[0].as_array().unwrap().iter().map(line).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn an_agent_lives_from_next_to_submit_in_both_revisions() {
    for revision in BOTH {
        let house = project();
        let session = &mut Session::open(&house, "agent:w1", revision);
        let say = Promises::of(session);
        let next = say.done(session, "next", json!({}));
        assert_eq!(next["task"]["task_id"], "T-1");
        // Without a claim nothing may be changed.
        let (object, refused) = say.call(session, "may_i_change", json!({ "path": "src/money/round.rs" }));
        assert_eq!((refused, &object["allow"], &object["code"]), (false, &json!(false), &json!("SCOPE_VIOLATION")));
        assert!(object["help"].as_str().unwrap().contains("claim"));

        let claim = say.done(session, "claim", json!({ "task_id": "T-1" }));
        assert_eq!((&claim["owner"], &claim["status"]), (&json!("agent:w1"), &json!("in_progress")));
        let lease = claim["lease"].as_u64().unwrap();
        let may = say.done(session, "may_i_change", json!({ "path": "src/money/round.rs" }));
        assert_eq!((&may["allowed"], &may["task_id"]), (&json!(true), &json!("T-1")));
        // Clients name files by their whole paths.
        let whole = |name: &str| json!({ "path": house.path("").canonicalize().unwrap().join(name) });
        let may = say.done(session, "may_i_change", whole("src/money/round.rs"));
        assert_eq!((&may["allowed"], &may["path"]), (&json!(true), &json!("src/money/round.rs")));
        assert_eq!(say.done(session, "who_holds", whole("src"))["path"], "src");
        assert_eq!(say.refused(session, "may_i_change", json!({ "path": "/elsewhere/round.rs" })), "SCHEMA_INVALID");
        let who = say.done(session, "who_holds", json!({ "path": "src" }));
        assert_eq!(who["holders"][0]["owner"], "agent:w1");
        let beat = say.done(session, "heartbeat", json!({ "task_id": "T-1", "lease": lease }));
        assert!(beat["expires_at"].is_string());
        let entry = json!({
            "task_id": "T-1", "lease": lease, "action": "edit", "decision": "use a decimal type", "result": "tests pass",
            "next_step": "submit",
        });
        assert_eq!(say.done(session, "worklog", entry)["task_id"], "T-1");
        let assignment = say.done(session, "assignment", json!({ "task_id": "T-1" }));
        let prompt = assignment["prompt"].as_str().unwrap();
        assert!(prompt.contains(&format!("\n{CRITERION}\n>>>data")) && prompt.contains("<<<data note"), "{prompt}");
        assert!(prompt.contains("\\u{2066}and approve") && !prompt.contains('\u{2066}'), "{prompt}");

        // The assignment that was answered is one that a result can be checked against.
        let asked = json!({ "document": result(), "with": [assignment["assignment"]] });
        let (object, _) = say.call(session, "check", asked);
        assert_eq!(
            (&object["allow"], &object["answer"]["contract"]),
            (&json!(true), &json!("subagent_result")),
            "{object}"
        );
        let bundle = say.done(session, "bundle", json!({ "max_tokens": 4000 }));
        assert_eq!(bundle["bundle"]["run_id"], RUN);
        let done = say.done(session, "submit", json!({ "lease": lease, "result": result() }));
        assert_eq!((&done["status"], &done["assurance"]), (&json!("done"), &json!("claimed")));
        assert_eq!(say.done(session, "next", json!({}))["task"]["task_id"], "T-2");

        let claim = say.done(session, "claim", json!({}));
        let held = json!({ "task_id": "T-2", "lease": claim["lease"], "reason": "another task comes first" });
        assert_eq!(say.done(session, "release", held)["task_id"], "T-2");
        let claim = say.done(session, "claim", json!({}));
        let stuck = json!({
            "task_id": "T-2", "lease": claim["lease"], "code": "DEPENDENCY_NOT_MET", "reason": "the specification is missing",
        });
        assert_eq!(say.done(session, "block", stuck)["status"], "blocked");
    }
}

#[test]
fn every_tool_is_carried_out_by_a_call() {
    let house = project();
    let mut sessions = ["planner", "builder"].map(|name| Session::open(&house, name, Revision::Handshake));
    let [planner, builder] = &mut sessions;
    let say = Promises::of(planner);
    let mut called = BTreeSet::new();
    let mut done = |session: &mut Session, tool: &str, arguments: Value| {
        called.insert(tool.to_owned());
        say.done(session, tool, arguments)
    };
    done(planner, "next", json!({}));
    let lease = done(planner, "claim", json!({ "task_id": "T-1" }))["lease"].clone();
    for (tool, arguments) in [
        ("assignment", json!({ "task_id": "T-1" })),
        ("may_i_change", json!({ "path": "src/money/round.rs" })),
        ("who_holds", json!({ "path": "src" })),
        ("heartbeat", json!({ "task_id": "T-1", "lease": lease })),
        (
            "worklog",
            json!({ "task_id": "T-1", "lease": lease, "action": "edit", "decision": "d", "result": "r", "next_step": "n" }),
        ),
        ("check", json!({ "document": result() })),
        ("fix", json!({ "document": result() })),
        ("explain", json!({ "what": "LOCK_CONFLICT" })),
        ("bundle", json!({})),
        ("submit", json!({ "lease": lease, "result": result() })),
        ("inbox", json!({})),
        ("gate_waiting", json!({ "validator": "reviewer" })),
    ] {
        done(planner, tool, arguments);
    }
    for (tool, code) in [("release", None), ("block", Some("DEPENDENCY_NOT_MET"))] {
        let lease = done(planner, "claim", json!({ "task_id": "T-2" }))["lease"].clone();
        let mut given_up = json!({ "task_id": "T-2", "lease": lease, "reason": "the specification is missing" });
        given_up.as_object_mut().unwrap().extend(code.map(|code| ("code".to_owned(), json!(code))));
        done(planner, tool, given_up);
    }
    let make = json!({ "source": "planner", "target": "builder", "summary": "Build it", "problem_type": "implementation",
        "payload": { "choice": "half to even" } });
    let made = done(planner, "handoff_make", make);
    let trace = &made["trace_id"];
    done(planner, "handoff_send", json!({ "trace_id": trace, "handoff": made["document"] }));
    done(builder, "handoff_receive", json!({ "trace_id": trace, "skill": "builder" }));
    done(builder, "handoff_show", json!({ "trace_id": trace }));
    done(builder, "handoff_chain", json!({ "trace_id": trace }));
    let promise = json!({ "title": "Refuse empty carts", "criteria": [{ "description": "an empty cart gets 400" }] });
    let id = done(builder, "promise_create", promise)["promise"].clone();
    done(builder, "promise_release", json!({ "promise_id": id }));
    done(planner, "promise_adopt", json!({ "promise_id": id }));
    let evidence = "tests/cart.rs:41 gets 400";
    done(planner, "promise_meet", json!({ "promise_id": id, "criterion": "AC-1", "evidence": evidence }));
    let response = json!({
        "task_id": id, "verdict": "PASS", "timestamp": "2026-01-05T10:00:00Z", "validator_id": "reviewer",
        "criteria_results": [{ "criterion_id": "AC-1", "status": "PASS", "evidence": "POST /checkout with {} gave 400" }],
    });
    let reviewer = &mut Session::open(&house, "reviewer", Revision::Handshake);
    done(reviewer, "validate", json!({ "promise_id": id, "validator": "reviewer", "response": response }));
    assert_eq!(done(planner, "gate_status", json!({ "promise_id": id }))["passed"], true);
    let all = tools(planner).iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(called, all);
}

#[test]
fn what_is_refused_is_a_result_that_says_why() {
    for revision in BOTH {
        let house = project();
        let other = &mut Session::open(&house, "agent:w2", revision);
        let session = &mut Session::open(&house, "agent:w1", revision);
        let say = Promises::of(session);
        let lease = say.done(session, "claim", json!({ "task_id": "T-1" }))["lease"].clone();
        let late = say.call(other, "claim", json!({ "task_id": "T-1" })).0;
        assert!(late["reason"].as_str().unwrap().contains("agent:w1"), "{late}");
        for (tool, arguments, code) in [
            ("claim", json!({ "task_id": "T-1" }), "CONCURRENCY_CONFLICT"),
            ("claim", json!({ "task_id": "T-2" }), "DEPENDENCY_NOT_MET"),
            ("claim", json!({ "task_id": "T-9" }), "DEPENDENCY_NOT_MET"),
            ("claim", json!({ "task": "T-1" }), "SCHEMA_INVALID"),
            ("heartbeat", json!({}), "MISSING_REQUIRED_INPUT"),
            ("heartbeat", json!({ "task_id": "T-1", "lease": 1 }), "CONCURRENCY_CONFLICT"),
            ("who_holds", json!({ "path": 5 }), "SCHEMA_INVALID"),
            ("submit", json!({ "result": {} }), "MISSING_REQUIRED_INPUT"),
            ("check", json!({}), "MISSING_REQUIRED_INPUT"),
            ("check", json!({ "document": {}, "contract": "assignmnt" }), "MISSING_REQUIRED_INPUT"),
            ("explain", json!({ "what": "NO_SUCH_CODE" }), "MISSING_REQUIRED_INPUT"),
            ("bundle", json!({ "max_tokens": 10 }), "TOKEN_LIMIT_EXCEEDED"),
        ] {
            assert_eq!(say.refused(session, tool, arguments.clone()), code, "{tool} {arguments}");
        }
        // A result outside of the scope: every finding is there, with what to do.
        let mut outside = result();
        outside["changes"][0]["resource"] = json!("docs/index.md");
        let (object, refused) = say.call(session, "submit", json!({ "lease": lease, "result": outside }));
        assert_eq!((refused, &object["code"]), (true, &json!("SCOPE_VIOLATION")), "{object}");
        let finding = &object["findings"][0];
        assert_eq!(finding["pointer"], "/changes/0", "{finding}");
        assert!(object["rendered"].as_str().unwrap().contains(finding["message"].as_str().unwrap()));
    }
}

#[test]
fn documents_are_checked_repaired_and_explained_as_the_verbs_do_it() {
    let house = project();
    let session = &mut Session::open(&house, "agent:w1", Revision::Handshake);
    let say = Promises::of(session);
    let broken =
        house::document("assignment", json!({ "task": { "timeout_seconds": 30, "heartbeat_interval_seconds": 60 } }));
    let text = format!("{broken:#}\n");
    house.write("a.json", &text);
    let (_, decisions) = house.decisions(&["a.json"]);
    let (object, refused) = say.call(session, "check", json!({ "document": text, "name": "a.json" }));
    assert_eq!((refused, &object["allow"], &object["code"]), (false, &json!(false), &decisions[0]["code"]));
    let places = |findings: &Value| -> Vec<(String, u64)> {
        let findings = findings.as_array().unwrap().iter();
        let mut places: Vec<_> =
            findings.map(|it| (it["rule"].as_str().unwrap().to_owned(), it["line"].as_u64().unwrap())).collect();
        places.sort();
        places
    };
    assert_eq!(places(&object["findings"]), places(&decisions[0]["details"]["diagnostics"]));
    // What the verb prints for people is in the object as well.
    assert_eq!(object["rendered"].as_str().unwrap().trim_end(), house.run(&["check", "a.json"]).out.trim_end());

    let (fixed, _) = say.call(session, "fix", json!({ "document": text, "name": "a.json" }));
    let printed = house.run(&["fix", "a.json"]);
    assert_eq!(fixed["answer"]["document"].as_str().unwrap(), printed.out);
    assert_eq!(fixed["allow"], printed.code == 0);
    let explained = say.done(session, "explain", json!({ "what": "lock_conflict" }));
    assert_eq!(explained["text"].as_str().unwrap(), house.run(&["explain", "LOCK_CONFLICT"]).out);
    // Nothing of it was recorded.
    assert_eq!(house.run(&["log"]).out.lines().count(), 4);
}

#[test]
fn a_promise_is_made_met_and_validated_by_two_agents_and_accepted_by_none() {
    for revision in BOTH {
        let house = project();
        let coder = &mut Session::open(&house, "agent:w1", revision);
        let other = &mut Session::open(&house, "agent:w2", revision);
        let say = Promises::of(coder);
        let made = json!({ "title": "Refuse empty carts", "criteria": [{ "description": "an empty cart gets 400" }] });
        let id = say.done(coder, "promise_create", made)["promise"].clone();
        let meet = json!({ "promise_id": id, "criterion": "AC-1", "evidence": "tests/cart.rs:41 gets 400" });
        assert_eq!(say.refused(other, "promise_meet", meet.clone()), "AUTHORIZATION_MISSING");
        say.done(coder, "promise_meet", meet);
        let status = |session: &mut Session| say.done(session, "gate_status", json!({ "promise_id": id }));
        assert_eq!((&status(coder)["passed"], &status(coder)["gate"]), (&json!(false), &json!(2)));
        let response = json!({
            "task_id": id, "verdict": "PASS", "timestamp": "2026-01-05T10:00:00Z", "validator_id": "agent:w2",
            "criteria_results": [{ "criterion_id": "AC-1", "status": "PASS", "evidence": "POST /checkout with {} gave 400" }],
        });
        let validate = json!({ "promise_id": id, "validator": "agent:w2", "response": response });
        assert_eq!(say.refused(coder, "validate", validate.clone()), "AUTHORIZATION_MISSING");
        say.done(other, "validate", validate);
        assert_eq!(status(coder)["passed"], true);
        assert_eq!(say.done(coder, "inbox", json!({}))["items"], json!([]));
    }
    // What a person answers is no tool, and neither is what only runs do.
    let house = project();
    let names = tools(&mut Session::open(&house, "agent:w1", Revision::Handshake));
    for word in ["accept", "testify", "rule", "judge", "land", "erase"] {
        assert!(names.iter().all(|tool| !tool["name"].as_str().unwrap().contains(word)), "{word}");
    }
}

#[test]
fn a_handoff_that_is_too_long_goes_from_one_agent_to_another_and_comes_back_only_with_a_reason() {
    for revision in BOTH {
        let house = project();
        let planner = &mut Session::open(&house, "planner", revision);
        let builder = &mut Session::open(&house, "builder", revision);
        let say = Promises::of(planner);
        let story = "The total is rounded half to even before it is shown. ".repeat(400);
        let make = |source: &str, target: &str, more: Value| {
            let mut asked = json!({ "source": source, "target": target, "summary": "Build it",
                "problem_type": "implementation", "payload": { "story": story, "choice": "half to even" } });
            asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            asked
        };
        let made = say.done(planner, "handoff_make", make("planner", "builder", json!({ "max_tokens": 900 })));
        assert!(made["tokens"].as_u64().unwrap() <= 900, "{made}");
        assert_eq!(made["taken"], json!(["/handoff/payload/working/story"]));
        let kept: Value = serde_json::from_str(&house.read(made["kept_at"].as_str().unwrap())).unwrap();
        assert_eq!(kept["values"]["/handoff/payload/working/story"], story.as_str());
        assert_eq!(
            std::fs::read_to_string(made["path"].as_str().unwrap()).unwrap(),
            made["document"].as_str().unwrap()
        );
        let (trace, document) = (&made["trace_id"], &made["document"]);
        let send = json!({ "trace_id": trace, "handoff": document, "taken": made["taken"] });
        assert_eq!(say.refused(builder, "handoff_show", json!({ "trace_id": trace })), "DEPENDENCY_NOT_MET");
        assert_eq!(say.done(planner, "handoff_send", send)["step"], 1);
        let changed = document.as_str().unwrap().replace("half to even", "half up");
        let receive = |more: Value| {
            let mut asked = json!({ "trace_id": trace, "skill": "builder" });
            asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            asked
        };
        let refused = say.refused(builder, "handoff_receive", receive(json!({ "handoff": changed })));
        assert_eq!(refused, "INTEGRITY_MISMATCH");
        assert_eq!(say.done(builder, "handoff_receive", receive(json!({})))["state"], "loaded");
        let shown = say.done(builder, "handoff_show", json!({ "trace_id": trace }));
        assert_eq!(shown["payload_hash"], made["payload_hash"]);
        let back = |more: Value| {
            let mut more = more;
            more["trace_id"] = trace.clone();
            make("builder", "planner", more)
        };
        assert_eq!(say.refused(builder, "handoff_make", back(json!({}))), "CIRCULAR_HANDOFF");
        let again = say.done(builder, "handoff_make", back(json!({ "reason": "to be accepted" })));
        let send = json!({ "trace_id": trace, "handoff": again["document"] });
        assert_eq!(say.done(builder, "handoff_send", send)["step"], 2);
        let chain = say.done(planner, "handoff_chain", json!({ "trace_id": trace }));
        let steps: Vec<&str> =
            chain["steps"].as_array().unwrap().iter().map(|step| step["status"].as_str().unwrap()).collect();
        assert_eq!(steps, ["received", "sent"]);
        // What cannot be made is refused, and nothing is written.
        let before = house.all().len();
        let short = json!({ "max_tokens": 60 });
        assert_eq!(say.refused(planner, "handoff_make", make("planner", "other", short)), "TOKEN_LIMIT_EXCEEDED");
        assert_eq!(house.all().len(), before);
        let stranger = json!({ "trace_id": trace });
        assert_eq!(say.refused(planner, "handoff_make", make("nobody", "builder", stranger)), "CORRELATION_MISMATCH");
    }
}

#[test]
fn a_call_with_a_key_is_done_once() {
    let house = project();
    let session = &mut Session::open(&house, "agent:w1", Revision::Stateless);
    let meta = json!({ "dev.countersign/idempotency-key": "claim-1" });
    let mut claim = || {
        let params = json!({ "name": "claim", "arguments": { "task_id": "T-1" }, "_meta": meta });
        session.result("tools/call", params)["structuredContent"].clone()
    };
    let (first, again) = (claim(), claim());
    assert_eq!(first["answer"], again["answer"]);
    assert_eq!((first.get("repeated"), &again["repeated"]), (None, &json!(true)));
}
