//! Traces through the real binary: what a collector gets is what the ledger says, and whatever a collector does, the run ends as it
//! would without one.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses a part of what they share")]

mod clients;
mod collector;
mod house;
mod run_support;
mod server;

use collector::{Collector, Reply, decode};
use house::{House, document};
use run_support::{Yard, task, wait_for};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
/// What nobody may find in a trace: it stands wherever people and agents write.
const CANARY: &str = "canary5a17";

/// A plan of two tasks: the agent of the first fails once, and says much beside it.
fn plan(yard: &Yard) -> String {
    let mark = yard.path("tried");
    let script = format!(
        "echo {CANARY} >&2; if [ $COUNTERSIGN_TASK = T-1 ] && [ ! -f {mark} ]; then touch {mark}; exit 3; fi; \
         echo {CANARY} > \"$scope\"; claim \"$scope\" | sed s/asked/{CANARY}/",
        mark = mark.display()
    );
    let mut coder = yard.agent(&script);
    coder["model"] = json!("model-1");
    let more = json!({ "objective": format!("find {CANARY}") });
    let criterion = |id: &str| {
        let check = json!({ "file": { "path": format!("src/{id}") } });
        json!({ "acceptance": [{ "text": format!("the {CANARY} is there"), "check": check }], "title": CANARY })
    };
    yard.plan(json!({ "coder": coder }), vec![task("T-1", criterion("T-1")), task("T-2", criterion("T-2"))], more)
}

/// A span in a few words: its name and that of the one around it, its times, and the code that it failed with.
type Row = (String, String, i64, i64, String);

fn rows(spans: &[Value]) -> BTreeSet<Row> {
    let names: BTreeMap<&str, &str> = spans.iter().map(|it| (text(it, "id"), text(it, "name"))).collect();
    let number = |span: &Value, name: &str| span[name].as_i64().unwrap();
    let row = |it: &Value| {
        let parent = text(it, "parent");
        let around = if parent.is_empty() { "" } else { names[parent] };
        let code = it["status"][1].as_str().unwrap();
        (text(it, "name").to_owned(), around.to_owned(), number(it, "begun"), number(it, "ended"), code.to_owned())
    };
    spans.iter().map(row).collect()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// The same, from the log: found anew for each span, by looking for the events between which it lies.
fn expected(events: &[Value]) -> BTreeSet<Row> {
    let at = |event: &Value| text(event, "time").parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let fact = |event: &Value, name: &str| event["facts"][name].clone();
    let find = |kind: &str, facts: &[(&str, Value)]| {
        let fits = |it: &&Value| it["kind"] == kind && facts.iter().all(|(name, value)| it["facts"][*name] == *value);
        events.iter().find(fits)
    };
    let mut rows = BTreeSet::new();
    let mut row = |name: &str, around: &str, from: &Value, to: &Value, code: &str| {
        rows.insert((name.to_owned(), around.to_owned(), at(from), at(to), code.to_owned()));
    };
    let (opened, closed) = (find("run.opened", &[]).unwrap(), find("run.closed", &[]).unwrap());
    row("invoke_workflow", "", opened, closed, "");
    for id in ["T-1", "T-2"] {
        let task = format!("task {id}");
        let of_task = |kind: &str| find(kind, &[("task", json!(id))]).unwrap();
        row(&task, "invoke_workflow", of_task("task.claimed"), of_task("task.completed"), "");
        for claimed in events.iter().filter(|it| it["kind"] == "task.claimed" && fact(it, "task") == id) {
            let attempt = format!("attempt {}", fact(claimed, "attempt"));
            let lease = [("lease", claimed["seq"].clone())];
            let of = |kind: &str, what: &str| find(kind, &[lease[0].clone(), ("kind", json!(what))]);
            let (began, ended) = (of("effect.started", "agent").unwrap(), of("effect.finished", "agent").unwrap());
            match find("result.submitted", &lease) {
                Some(result) => {
                    row("invoke_agent coder", &attempt, began, ended, "");
                    let (done, landing) = (of_task("task.completed"), of("effect.started", "landing").unwrap());
                    row("validate builtin", &attempt, result, of_task("gate.validated"), "");
                    row("land", &attempt, landing, done, "");
                    row(&attempt, &task, claimed, done, "");
                }
                None => {
                    let blocked = find("task.blocked", &lease).unwrap();
                    row("invoke_agent coder", &attempt, began, ended, "DEPENDENCY_NOT_MET");
                    row(&attempt, &task, claimed, blocked, text(&blocked["facts"], "code"));
                }
            }
        }
    }
    rows
}

/// Spans by what they say, in an order of their own.
fn sorted(spans: &[Value]) -> BTreeSet<String> {
    spans.iter().map(Value::to_string).collect()
}

#[test]
fn a_collector_gets_what_the_ledger_says_in_either_form_and_the_same_again_later() {
    for protocol in ["http/protobuf", "http/json"] {
        let (yard, collector) = (Yard::new(), Collector::new());
        let environment = [
            (ENDPOINT, collector.url.as_str()),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20key"),
            ("OTEL_SERVICE_NAME", "yard"),
            ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test"),
        ];
        let answer = yard.run_with(&["run", &plan(&yard)], &environment);
        assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{}", answer.out);
        yard.is_tidy();
        let spans = collector.spans();
        assert_eq!(rows(&spans), expected(&yard.events()), "{protocol}");
        assert_eq!(spans.len(), rows(&spans).len(), "some were sent twice");
        for request in collector.requests() {
            assert_eq!((request.path.as_str(), request.header("x-key")), ("/v1/traces", "a key"));
            assert!(!String::from_utf8_lossy(&request.body).contains(CANARY));
        }
        nests(&spans);
        let of = |name: &str| spans.iter().find(|it| it["name"] == name).unwrap();
        let said = &of("invoke_agent coder")["attributes"];
        let run = yard.runs()[0].clone();
        for (name, value) in [
            ("gen_ai.operation.name", "invoke_agent"),
            ("gen_ai.agent.name", "coder"),
            ("gen_ai.request.model", "model-1"),
            ("gen_ai.conversation.id", run.as_str()),
        ] {
            assert_eq!(said[name], value);
        }
        for span in &spans {
            assert_eq!(span["trace"], run.replace('-', ""));
            assert_eq!(span["resource"]["service.name"], "yard");
            assert_eq!(span["resource"]["deployment.environment.name"], "test");
            // A failure says its code in both places.
            let failed = span["status"][0] == 2;
            assert_eq!(failed, span["attributes"]["error.type"].is_string(), "{span}");
            assert_eq!(span["status"][1], span["attributes"]["error.type"].as_str().unwrap_or_default());
        }
        let shown = yard.run_with(&["trace", "--format", "otlp"], &environment).ended(0);
        assert_eq!(sorted(&decode(vec![("application/json".to_owned(), shown.into_bytes())])), sorted(&spans));
        let again = Collector::new();
        let sent = yard.run_with(&["trace", &run, "--send", "--endpoint", &again.url], &environment).ended(0);
        assert!(sent.contains(&format!("{} spans", spans.len())), "{sent}");
        assert_eq!(sorted(&again.spans()), sorted(&spans));
        assert_eq!(again.requests()[0].header("x-key"), "a key");
        let tree = yard.run(&["trace"]).ended(0);
        assert_eq!(tree.lines().count(), spans.len() + 1, "{tree}");
        let tree: Value = serde_json::from_str(&yard.run(&["trace", "--format", "json"]).ended(0)).unwrap();
        assert_eq!(tree["spans"][0]["spans"].as_array().unwrap().len(), 2);
    }
}

/// Asserts that every span lies within the one around it, and that they have ids of their own.
fn nests(spans: &[Value]) {
    let by_id: BTreeMap<&str, &Value> = spans.iter().map(|it| (text(it, "id"), it)).collect();
    assert_eq!(by_id.len(), spans.len());
    for span in spans {
        let Some(around) = by_id.get(text(span, "parent")) else { continue };
        let inside =
            around["begun"].as_i64() <= span["begun"].as_i64() && span["ended"].as_i64() <= around["ended"].as_i64();
        assert!(inside, "{span} in {around}");
    }
}

/// What a collector answers, how often it is asked at least, what is said, and whether it has everything in the end.
type Case = (&'static [Reply], usize, &'static [&'static str], bool);

#[test]
fn whatever_a_collector_does_the_run_ends_as_it_would() {
    use Reply::{Close, Hang, Partly, Status};
    const OK: Reply = Status(200, None);
    let cases: [Case; 9] = [
        (&[Status(429, Some("1")), OK], 2, &[], true),
        (&[Status(503, None), Status(502, None), OK], 3, &[], true),
        (&[Status(504, Some("0")), OK], 2, &[], true),
        (&[Close, OK], 2, &[], true),
        (&[Status(429, Some("3600"))], 1, &["has not taken", "429"], false),
        (&[Status(400, None)], 1, &["did not take", "400", "not sent again"], true),
        (&[Status(301, None)], 1, &["did not take", "301"], true),
        (&[Partly], 1, &["did not take", "too old"], true),
        (&[Hang], 1, &["http://127.0.0.1"], false),
    ];
    std::thread::scope(|scope| {
        for (replies, least, says, delivered) in cases {
            scope.spawn(move || {
                let (yard, collector) = (Yard::new(), Collector::that(replies));
                let plan = yard.plan(json!({ "coder": yard.honest() }), vec![task("T-1", json!({}))], json!({}));
                let answer = yard.run_with(&["run", &plan], &[(ENDPOINT, &collector.url)]);
                assert_eq!(answer.code, 0, "{replies:?}: {answer:?}");
                assert_eq!(yard.landed(), ["T-1"], "{replies:?}");
                yard.is_tidy();
                assert!(collector.requests().len() >= least, "{replies:?}");
                assert_eq!(answer.err.is_empty(), says.is_empty(), "{replies:?}: {}", answer.err);
                for words in says {
                    assert!(answer.err.contains(words), "{replies:?}: {}", answer.err);
                    assert_eq!(answer.err.matches(words).count(), 1, "{replies:?}: {}", answer.err);
                }
                // Whoever sends next goes on from there: with what was not delivered, or with nothing of it.
                let next = Collector::new();
                let plan = yard.plan(json!({ "coder": yard.honest() }), vec![task("T-1", json!({}))], json!({}));
                std::fs::remove_file(yard.root().join("src/T-1")).unwrap();
                yard.commit("again");
                yard.run_with(&["run", &plan], &[(ENDPOINT, &next.url)]).ended(0);
                let traces: BTreeSet<String> = next.spans().iter().map(|it| text(it, "trace").to_owned()).collect();
                assert_eq!(traces.len(), if delivered { 1 } else { 2 }, "{replies:?}");
            });
        }
    });
}

#[test]
fn nothing_is_sent_unless_somebody_asks_for_it() {
    let (yard, collector) = (Yard::new(), Collector::new());
    let run = |environment: &[(&str, &str)]| {
        let plan = yard.plan(json!({ "coder": yard.honest() }), vec![task("T-1", json!({ "retries": 0 }))], json!({}));
        let answer = yard.run_with(&["run", &plan], environment);
        yard.decide(&["run", "cancel", "--reason", "over"]);
        answer
    };
    let settings = |endpoint: &str| {
        let old = yard.read(".countersign/config.toml").unwrap();
        let old = old.split("[tracing]").next().unwrap().to_owned();
        yard.write(".countersign/config.toml", &format!("{old}[tracing]\nendpoint = \"{endpoint}\"\n"));
    };
    run(&[]).ended(0);
    assert!(yard.read(".countersign/tracing.json").is_none());
    run(&[(ENDPOINT, &collector.url), ("OTEL_SDK_DISABLED", "true")]);
    run(&[(ENDPOINT, &collector.url), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]).says("http/protobuf or http/json");
    // A file in the project may name this machine, and no other that the user has not named.
    settings("http://192.0.2.1:4318");
    run(&[]).says("has not named before");
    assert_eq!(yard.run(&["trace", "--send"]).code, 3);
    assert!(collector.requests().is_empty());
    assert!(yard.read(".countersign/tracing.json").is_none());
    settings(&collector.url);
    let keyed = run(&[("OTEL_EXPORTER_OTLP_HEADERS", "x-key=secret")]);
    assert_eq!(keyed.err, "");
    let requests = collector.requests();
    assert!(!requests.is_empty());
    assert!(requests.iter().all(|it| it.header("x-key").is_empty()));
}

#[test]
fn a_server_sends_delegations_and_both_sides_of_a_handoff() {
    const TRACE: &str = "550e8400-e29b-41d4-a716-446655440000";
    let (house, collector) = (server::project(), Collector::new());
    let config = house.read(".countersign/config.toml");
    let config = config.replace("# endpoint = \"http://localhost:4318\"", &format!("endpoint = \"{}\"", collector.url));
    house.write(".countersign/config.toml", config).write("plan.json", json!({ "say": CANARY }).to_string());
    let mut server = server::Server::start(&house, &[]);
    let done = |arguments: &[&str]| {
        let answer = house.run(arguments);
        assert_eq!(answer.code, 0, "{answer:?}");
    };
    let make =
        ["handoff", "make", "--source", "planner", "--target", "builder", "--summary", CANARY, "--out", "h.json"];
    done(&[&make[..], &["--problem-type", "implementation", "--trace", TRACE, "--payload", "plan.json"]].concat());
    done(&["handoff", "send", "h.json", "--as", "planner"]);
    done(&["handoff", "receive", "h.json", "--as", "builder"]);
    let answer = delegate(&house);
    wait_for("three spans", || collector.requests().iter().map(|it| it.body.len()).sum::<usize>() > 900);
    server.signal("TERM");
    assert_eq!(server.ended(), Some(0));
    let spans = collector.spans();
    let named =
        |name: &str| spans.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("{name} in {spans:#?}"));
    let (sent, received) = (named("handoff send builder"), named("handoff receive builder"));
    for side in [sent, received] {
        assert_eq!(side["trace"], TRACE.replace('-', ""));
        assert_eq!(side["attributes"]["countersign.handoff.trace_id"], TRACE);
    }
    assert_eq!(received["links"][0][1], sent["id"]);
    assert_eq!((&sent["kind"], &received["kind"]), (&json!(4), &json!(5)));
    let acted = named("execute_tool CREATE_BRANCH");
    assert_eq!(acted["attributes"]["countersign.delegation.status"], answer["STATUS"]);
    assert_eq!(acted["attributes"]["gen_ai.tool.call.id"], answer["INSTRUCTION_ID"]);
    assert!(collector.requests().iter().all(|it| !String::from_utf8_lossy(&it.body).contains(CANARY)));
}

#[test]
fn handoffs_by_themselves_are_sent_and_their_trace_can_be_sent_again() {
    const TRACE: &str = "550e8400-e29b-41d4-a716-446655440000";
    let (house, collector, other) = (House::new(), Collector::new(), Collector::new());
    let done = |arguments: &[&str], endpoint: bool| {
        let environment = [(ENDPOINT, collector.url.as_str())];
        let answer = house.run_with(arguments, "", if endpoint { &environment[..] } else { &[] });
        assert_eq!(answer.code, 0, "{answer:?}");
        answer
    };
    done(&["init", "--name", "shop"], false);
    house.write("plan.json", json!({ "say": CANARY }).to_string());
    let make =
        ["handoff", "make", "--source", "planner", "--target", "builder", "--summary", CANARY, "--out", "h.json"];
    done(
        &[&make[..], &["--problem-type", "implementation", "--trace", TRACE, "--payload", "plan.json"]].concat(),
        false,
    );
    let names = |collector: &Collector| {
        let mut names: Vec<String> = collector.spans().iter().map(|it| text(it, "name").to_owned()).collect();
        names.sort();
        names
    };
    done(&["handoff", "send", "h.json", "--as", "planner"], true);
    assert_eq!(names(&collector), ["handoff send builder"]);
    house.write("changed.json", house.read("h.json").replace(CANARY, "another"));
    let refused = house.run_with(
        &["handoff", "receive", "changed.json", "--as", "builder"],
        "",
        &[(ENDPOINT, collector.url.as_str())],
    );
    assert_eq!(refused.code, 1, "{refused:?}");
    done(&["handoff", "receive", "h.json", "--as", "builder"], true);
    done(&["handoff", "receive", "h.json", "--as", "builder", "--processed"], true);
    let all = ["handoff error builder", "handoff process builder", "handoff receive builder", "handoff send builder"];
    assert_eq!(names(&collector), all);
    let failed = collector.spans().into_iter().find(|it| it["name"] == all[0]).unwrap();
    assert_eq!(failed["status"][0], 2, "{failed:#}");
    // The same trace, afterwards and elsewhere, with the same ids; shown, too.
    let sent = done(&["trace", TRACE, "--send", "--endpoint", &other.url], false);
    assert!(sent.out.starts_with("4 spans of 550e8400"), "{sent:?}");
    let ids = |collector: &Collector| -> BTreeSet<String> {
        collector.spans().iter().map(|it| text(it, "id").to_owned()).collect()
    };
    assert_eq!((names(&other), ids(&other)), (all.map(str::to_owned).to_vec(), ids(&collector)));
    assert!(done(&["trace", TRACE], false).out.contains("handoff receive builder"));
    assert_eq!(house.run(&["trace", "650e8400-e29b-41d4-a716-446655440000"]).code, 1);
    for collector in [&collector, &other] {
        assert!(collector.requests().iter().all(|it| !String::from_utf8_lossy(&it.body).contains(CANARY)));
    }
}

/// An action that is only said, and its answer.
fn delegate(house: &House) -> Value {
    let given = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(2);
    let given = jiff::Timestamp::from_second(given.as_second()).unwrap().to_string();
    let patch = json!({
        "INSTRUCTION_ID": format!("DI-{}-001", &given[..10]), "TIMESTAMP_UTC": given,
        "AUTHORIZATION": { "QA_EVIDENCE": ".qa/ok.json" },
    });
    let mut instruction = document("delegation_instruction", patch);
    let commit = "9fceb02d0ae598e95dc970b74767f19372d61af8";
    let parameters = json!({ "BRANCH_NAME": "feature/x", "SOURCE_SHA": commit });
    instruction["ACTION"] = json!({ "TYPE": "CREATE_BRANCH", "PARAMETERS": parameters });
    house.write(".governance/compliance-check.md", "ok\n").write(".qa/ok.json", "{}\n");
    house.write("i.json", instruction.to_string());
    let answer = house.run(&["delegate", "i.json", "--executor", "dry-run", "--format", "json"]);
    serde_json::from_str(&answer.out).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}
