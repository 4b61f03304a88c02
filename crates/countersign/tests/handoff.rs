//! Handoffs through the real binary: made within their budget, sent, and the same when they arrive.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;
mod walkthrough;

use house::{Answer, House};
use serde_json::{Map, Value, json};

const TRACE: &str = "550e8400-e29b-41d4-a716-446655440000";

fn project() -> House {
    let house = House::new();
    done(house.run(&["init", "--name", "shop"]));
    house
}

fn done(answer: Answer) -> Answer {
    assert_eq!(answer.code, 0, "{answer:?}");
    answer
}

fn json_of(answer: &Answer) -> Value {
    serde_json::from_str(&answer.out).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

/// Makes a handoff of trace `TRACE` in `out`.
fn make(house: &House, source: &str, target: &str, out: &str, more: &[&str]) -> Answer {
    let own = ["handoff", "make", "--source", source, "--target", target, "--summary", "Build the plan", "--out", out];
    let rest = ["--problem-type", "implementation", "--format", "json", "--trace", TRACE];
    house.run(&[&own[..], &rest, more].concat())
}

fn made(house: &House, source: &str, target: &str, out: &str, more: &[&str]) -> Value {
    json_of(&done(make(house, source, target, out, &[&["--payload", "plan.json"], more].concat())))
}

fn plan(house: &House) {
    house.write("plan.json", json!({ "decision": "round half to even" }).to_string());
}

fn send(house: &House, file: &str, by: &str) -> Answer {
    house.run(&["handoff", "send", file, "--as", by, "--format", "json"])
}

fn receive(house: &House, what: &str, by: &str) -> Answer {
    house.run(&["handoff", "receive", what, "--as", by, "--format", "json"])
}

/// What a refusal is filed under.
fn code(answer: &Answer) -> String {
    assert_eq!(answer.code, 1, "{answer:?}");
    json_of(answer)["code"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

fn document(house: &House, name: &str) -> Value {
    serde_json::from_str(&house.read(name)).unwrap()
}

fn notes(document: &Value) -> Vec<&str> {
    let events = document["handoff"]["tracing"]["events"].as_array().unwrap();
    events.iter().map(|event| event["event_type"].as_str().unwrap()).collect()
}

/// From `source` to `target`, made, sent and received.
fn pass(house: &House, source: &str, target: &str, more: &[&str]) {
    let file = format!("{source}-{target}.json");
    made(house, source, target, &file, more);
    done(send(house, &file, source));
    done(receive(house, &file, target));
}

fn kinds(house: &House) -> Vec<String> {
    let log = done(house.run(&["log", "--format", "json"])).out;
    let kinds = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["event"]["kind"].as_str().unwrap().to_owned());
    kinds.filter(|kind| kind.starts_with("handoff.")).collect()
}

/// A payload of about so many bytes: a session, and long texts.
fn long(bytes: usize) -> Value {
    let text = |words: usize| "The total is rounded half to even before it is shown. ".repeat(words / 54 + 1);
    json!({
        "working": { "decision": "round half to even", "notes": text(bytes / 2) },
        "session": { "state": { "log": text(bytes / 4), "step": 7 }, "artifacts": [
            { "name": "Plan", "path": "plan.md", "type": "specification", "description": text(bytes / 4) } ] },
    })
}

#[test]
fn twelve_kilobytes_go_through_make_send_and_receive_and_nothing_is_lost() {
    let house = project();
    let payload = long(12_000);
    house.write("plan.json", payload.to_string());
    assert!(payload.to_string().len() >= 12_000);
    let answer = json_of(&done(house.run(&[
        "handoff",
        "make",
        "--source",
        "planner",
        "--target",
        "builder",
        "--summary",
        "Build the plan",
        "--problem-type",
        "implementation",
        "--payload",
        "plan.json",
        "--format",
        "json",
    ])));
    let path = answer["path"].as_str().unwrap().to_owned();
    // By convention, below the session.
    let name = std::path::Path::new(&path).file_name().unwrap().to_string_lossy().into_owned();
    assert!(
        path.contains("/handoffs/") && name.starts_with("planner-to-builder-2") && name.ends_with("Z.json"),
        "{path}"
    );
    assert!(answer["tokens"].as_u64().unwrap() <= 2000);
    let taken = answer["taken"].as_array().unwrap();
    assert!(taken.contains(&json!("/handoff/payload/session")) && !answer["kept_at"].is_null(), "{answer}");
    let sent = json_of(&done(send(&house, &path, "planner")));
    assert!(sent["tokens"].as_u64().unwrap() <= 2000 && sent["step"] == 1, "{sent}");
    let trace = answer["trace_id"].as_str().unwrap();
    let shown = json_of(&done(house.run(&["handoff", "show", trace, "--format", "json"])));
    assert_eq!(shown["payload_hash"], answer["payload_hash"]);
    assert_eq!(shown["taken"].as_array().unwrap().len(), taken.len());
    let loaded = json_of(&done(receive(&house, &path, "builder")));
    assert_eq!((loaded["state"].as_str(), loaded["repeated"].as_bool()), (Some("loaded"), Some(false)));
    let arrived = std::fs::read_to_string(&path).unwrap();
    let arrived: Value = serde_json::from_str(&arrived).unwrap();
    assert_eq!(notes(&arrived), ["created", "transmitted", "received"]);
    assert_eq!(arrived["handoff"]["meta"]["payload_hash"], answer["payload_hash"]);
    assert_eq!(done(house.run(&["handoff", "check", &path])).code, 0);
    let kept = whole(&house, &answer, arrived["handoff"]["payload"].clone());
    assert_eq!((&kept["working"], &kept["session"]), (&payload["working"], &payload["session"]));
    assert_eq!(kinds(&house), ["handoff.sent", "handoff.received"]);
    assert_eq!(house.run(&["verify"]).code, 0);
}

/// The payload with what was taken out of it put back.
fn whole(house: &House, made: &Value, payload: Value) -> Value {
    let Some(at) = made["kept_at"].as_str() else { return payload };
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(house.path("").join(at)).unwrap()).unwrap();
    let mut whole = json!({ "handoff": { "payload": payload } });
    for (pointer, value) in kept["values"].as_object().unwrap() {
        let (owner, key) = pointer.rsplit_once('/').unwrap();
        if let Some(owner) = whole.pointer_mut(owner).filter(|_| pointer.starts_with("/handoff/payload/")) {
            match owner {
                Value::Array(items) => items[key.parse::<usize>().unwrap()] = value.clone(),
                owner => owner[key.replace("~1", "/").replace("~0", "~")] = value.clone(),
            }
        }
    }
    whole["handoff"]["payload"].take()
}

/// A generator of numbers that are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn text(&mut self, words: u64) -> String {
        const WORDS: [&str; 8] = ["round", "Betrag", "合計", "half. ", "even\n", "\"so\"", "a/b", "0123456789abcdef"];
        (0..words).map(|_| WORDS[self.below(8) as usize]).collect::<Vec<_>>().join(" ")
    }

    fn payload(&mut self) -> Value {
        let mut working = Map::new();
        for number in 0..=self.below(12) {
            let words = self.below(900);
            let value = match self.below(4) {
                0 => json!([self.text(words), number, null]),
                1 => json!({ "a/b~c": self.text(words), "n": number }),
                _ => json!(self.text(words)),
            };
            working.insert(format!("key {number}"), value);
        }
        let mut payload = json!({ "working": working });
        if self.below(2) == 0 {
            let words = self.below(2000);
            payload["session"] = json!({ "state": { "log": self.text(words) } });
        }
        if self.below(2) == 0 {
            let files: Vec<Value> = (0..self.below(60)).map(|n| json!({ "path": format!("docs/{n}.md") })).collect();
            payload["references"] = json!({ "files": files });
        }
        payload
    }
}

#[test]
fn what_is_too_long_comes_out_within_its_budget_with_nothing_lost_or_as_a_report() {
    let house = project();
    let mut numbers = Numbers(4);
    let (mut fitted, mut reported) = (0, 0);
    for round in 0..24 {
        let payload = numbers.payload();
        house.write("plan.json", payload.to_string());
        let (out, limit) = (format!("h-{round}.json"), [2000, 1200, 600][round % 3].to_string());
        let before = house.all().len();
        let session = format!("s-{round}");
        let more = ["--payload", "plan.json", "--max-tokens", &limit, "--session-path", &session];
        let answer = make(&house, "planner", "builder", &out, &more);
        if answer.code == 1 {
            reported += 1;
            let report = json_of(&answer);
            assert_eq!(
                (report["allow"].as_bool(), report["code"].as_str()),
                (Some(false), Some("TOKEN_LIMIT_EXCEEDED"))
            );
            assert_eq!(house.all().len(), before, "nothing is written: {answer:?}");
            continue;
        }
        fitted += 1;
        let answer = json_of(&done(answer));
        let counted = json_of(&done(house.run(&["tokens", &out, "--format", "json"])));
        assert!(counted["tokens"].as_u64().unwrap() <= limit.parse().unwrap(), "{counted} of {limit}");
        let made = document(&house, &out)["handoff"]["payload"].clone();
        let mut whole = whole(&house, &answer, made);
        // The reference to what is kept is all that came in.
        if let Some(files) = whole["references"]["files"].as_array_mut() {
            files.retain(|file| file["path"] != answer["kept_at"]);
            if files.is_empty() && payload["references"].is_null() {
                whole.as_object_mut().unwrap().remove("references");
            }
        }
        assert_eq!(whole, payload, "round {round}");
        assert_eq!(house.run(&["handoff", "check", &out]).code, 0);
    }
    assert!(fitted >= 6 && reported >= 2, "{fitted} fitted, {reported} were reported");
}

#[test]
fn every_failure_of_the_pipeline_is_told_and_nothing_passes_for_success() {
    let house = project();
    plan(&house);
    let handoff = |patch: Value| house::document("universal_handoff", patch).to_string();
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
        house::document("universal_handoff", json!({ "handoff": { "trace_id": null } })).to_string(),
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
fn a_note_for_which_there_is_no_room_is_left_to_the_ledger() {
    let house = project();
    house.document("h.json", "universal_handoff", json!({ "handoff": { "trace_id": TRACE } }));
    let tokens = json_of(&house.run(&["tokens", "h.json", "--format", "json"]))["tokens"].as_u64().unwrap();
    house.write(".countersign/config.toml", format!("[tokens]\nmax = {}\n", tokens + 10));
    let before = house.read("h.json");
    let sent = done(send(&house, "h.json", "skill-editor"));
    assert!(sent.err.contains("no room for the note") && json_of(&sent)["noted"] == false, "{sent:?}");
    let received = done(receive(&house, "h.json", "programming-pm"));
    assert!(received.err.contains("no room for the note"), "{received:?}");
    assert_eq!(house.read("h.json"), before);
    assert_eq!(kinds(&house), ["handoff.sent", "handoff.received"]);
}

#[test]
fn a_chain_is_what_was_sent_and_received_by_one_process_after_the_other() {
    let house = project();
    plan(&house);
    // Who has received nothing hands nothing on.
    made(&house, "a", "b", "a-b.json", &[]);
    done(send(&house, "a-b.json", "a"));
    assert_eq!(make(&house, "b", "c", "early.json", &["--payload", "plan.json"]).code, 1);
    done(receive(&house, "a-b.json", "b"));
    pass(&house, "b", "c", &[]);
    // Back to where it was only with a reason; a document that hides where it was does not pass either.
    let looped = make(&house, "c", "a", "c-a.json", &["--payload", "plan.json"]);
    assert_eq!(code(&looped), "CIRCULAR_HANDOFF");
    assert!(looped.out.contains("a → b → c → a"), "{looped:?}");
    let hidden = json!({ "handoff": {
        "trace_id": TRACE, "source": { "skill": "c" }, "target": { "skill": "a" }, "meta": { "handoff_chain": ["c"] } } });
    house.document("hidden.json", "universal_handoff", hidden);
    assert_eq!(code(&send(&house, "hidden.json", "c")), "CIRCULAR_HANDOFF");
    assert_eq!(code(&house.run(&["handoff", "check", "hidden.json", "--format", "json"])), "CIRCULAR_HANDOFF");
    house.document("else.json", "universal_handoff", json!({ "handoff": {
        "trace_id": TRACE, "source": { "skill": "c" }, "target": { "skill": "d" }, "meta": { "handoff_chain": ["x", "c"] } } }));
    assert_eq!(code(&send(&house, "else.json", "c")), "CORRELATION_MISMATCH");
    house.document(
        "stranger.json",
        "universal_handoff",
        json!({ "handoff": {
        "trace_id": TRACE, "source": { "skill": "x" }, "target": { "skill": "d" } } }),
    );
    assert_eq!(code(&send(&house, "stranger.json", "x")), "CORRELATION_MISMATCH");
    pass(&house, "c", "a", &["--reason", "the first one decides"]);
    pass(&house, "a", "d", &[]);
    pass(&house, "d", "e", &[]);
    // Six of them by now: a, b, c, a, d, e.
    assert_eq!(code(&make(&house, "e", "f", "e-f.json", &["--payload", "plan.json"])), "CIRCULAR_HANDOFF");
    pass(&house, "e", "f", &["--approved"]);
    let chain = json_of(&done(house.run(&["handoff", "chain", TRACE, "--format", "json"])));
    let steps = chain["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 6);
    assert_eq!(steps[5]["chain"], json!(["a", "b", "c", "a", "d", "e"]));
    assert!(steps.iter().all(|step| step["status"] == "received"), "{chain}");
    assert_eq!((steps[2]["after"].as_u64(), steps[0]["after"].as_u64()), (Some(2), None));
    let text = done(house.run(&["handoff", "chain", TRACE])).out;
    assert_eq!(text.lines().count(), 7, "{text}");
    assert_eq!(house.run(&["verify"]).code, 0);
    done(house.run(&["rebuild"]));
    assert_eq!(json_of(&house.run(&["handoff", "chain", TRACE, "--format", "json"])), chain);
}

#[test]
fn whatever_was_changed_between_send_and_receive_is_caught() {
    let house = project();
    plan(&house);
    made(&house, "planner", "builder", "h.json", &["--expires-at", "2999-01-01T00:00:00Z"]);
    done(send(&house, "h.json", "planner"));
    let sent = document(&house, "h.json");
    type Change = fn(&mut Value);
    let seal: Change = |it| (countersign_domain::contract("universal_handoff").unwrap().seal)(it);
    let cases: [(&str, Change, bool, Option<&str>); 7] = [
        ("the payload", |it| it["payload"]["working"]["decision"] = json!("round up"), false, Some("hash_mismatch")),
        ("with its hash", |it| it["payload"]["working"]["decision"] = json!("round up"), true, Some("hash_mismatch")),
        ("the summary", |it| it["context"]["summary"] = json!("Pay everybody"), true, Some("hash_mismatch")),
        ("an approval", |it| it["meta"]["user_approved"] = json!(true), true, Some("hash_mismatch")),
        ("the expiry", |it| it["expires_at"] = json!("2999-01-02T00:00:00Z"), true, Some("hash_mismatch")),
        ("into the past", |it| it["expires_at"] = json!("2026-01-01T00:00:00Z"), true, None),
        ("the target", |it| it["target"]["skill"] = json!("thief"), true, None),
    ];
    for (what, change, sealed, state) in cases {
        let mut changed = sent.clone();
        change(&mut changed["handoff"]);
        if sealed {
            seal(&mut changed);
        }
        house.write("changed.json", format!("{changed:#}\n"));
        let by = if what == "the target" { "thief" } else { "builder" };
        let answer = receive(&house, "changed.json", by);
        assert_eq!(answer.code, 1, "{what}: {answer:?}");
        if let Some(state) = state {
            assert_eq!(json_of(&answer)["state"], state, "{what}: {answer:?}");
            assert_eq!(json_of(&answer)["code"], "INTEGRITY_MISMATCH");
        }
        // To whom it goes next is the source's to say, as long as it was not sent.
        let checked = house.run(&["handoff", "check", "changed.json"]);
        assert_eq!(checked.code, i32::from(what != "the target"), "{what}: {checked:?}");
    }
    // For somebody else.
    for what in ["h.json", TRACE] {
        assert_eq!(code(&receive(&house, what, "thief")), "AUTHORIZATION_MISSING");
    }
    assert_eq!(kinds(&house), ["handoff.sent"]);
    // What changes nothing is no change: another order of members, and white space.
    let mut again = sent.clone();
    let handoff = again["handoff"].as_object_mut().unwrap();
    let moved = handoff.remove("version").unwrap();
    handoff.insert("version".to_owned(), moved);
    house.write("again.json", again.to_string());
    assert_eq!(json_of(&done(receive(&house, "again.json", "builder")))["state"], "loaded");
    // Once is enough, by the file and by the trace; and it is theirs.
    for what in ["h.json", TRACE] {
        assert_eq!(json_of(&done(receive(&house, what, "builder")))["repeated"], true);
    }
    let other = house.run(&["handoff", "receive", "h.json", "--skill", "builder", "--as", "else", "--format", "json"]);
    assert_eq!(code(&other), "INVALID_TRANSITION");
    assert_eq!(kinds(&house), ["handoff.sent", "handoff.received"]);
    assert_eq!(code(&receive(&house, "550e8400-e29b-41d4-a716-446655440001", "builder")), "DEPENDENCY_NOT_MET");
}

#[test]
fn of_many_processes_at_once_one_sends_and_one_receives() {
    let house = project();
    house.document("h.json", "universal_handoff", json!({ "handoff": { "trace_id": TRACE } }));
    let at_once = |verb: &'static str, by: &'static str| {
        std::thread::scope(|scope| {
            let one = || scope.spawn(|| house.run(&["handoff", verb, "h.json", "--as", by, "--format", "json"]));
            let all: Vec<_> = (0..4).map(|_| one()).collect();
            all.into_iter().map(|it| it.join().unwrap()).collect::<Vec<Answer>>()
        })
    };
    let sent: Vec<Value> = at_once("send", "skill-editor").into_iter().map(|it| json_of(&done(it))).collect();
    assert_eq!(sent.iter().filter(|answer| answer["repeated"] == false).count(), 1, "{sent:?}");
    assert_eq!(kinds(&house), ["handoff.sent"]);
    for answer in at_once("receive", "programming-pm") {
        assert_eq!(json_of(&done(answer))["state"], "loaded");
    }
    assert_eq!(kinds(&house), ["handoff.sent", "handoff.received"]);
    assert_eq!(notes(&document(&house, "h.json")), ["transmitted", "received"]);
}

#[test]
fn a_sender_that_was_ended_before_it_had_noted_it_does_so_when_asked_again() {
    let house = project();
    house.document("h.json", "universal_handoff", json!({ "handoff": { "trace_id": TRACE } }));
    let before = house.read("h.json");
    done(send(&house, "h.json", "skill-editor"));
    let after = house.read("h.json");
    house.write("h.json", &before);
    assert_eq!(json_of(&done(send(&house, "h.json", "skill-editor")))["repeated"], true);
    assert_eq!(house.read("h.json"), after);
    assert_eq!(kinds(&house), ["handoff.sent"]);
}

#[test]
fn a_handoff_in_yaml_goes_the_same_way_and_stays_in_yaml() {
    let house = project();
    let value = house::document("universal_handoff", json!({ "handoff": { "trace_id": TRACE } }));
    house.write("h.yaml", countersign_contract::fix::write(&value, "", countersign_contract::Form::Yaml));
    done(send(&house, "h.yaml", "skill-editor"));
    assert!(house.read("h.yaml").starts_with("handoff:") && house.read("h.yaml").contains("transmitted"));
    done(house.run(&["handoff", "check", "h.yaml"]));
    // A copy in the other form is the same handoff, and one that was changed is not.
    house.write("copy.json", value.to_string());
    done(house.run(&["handoff", "check", "copy.json"]));
    let mut changed = value.clone();
    changed["handoff"]["context"]["summary"] = json!("another");
    house.write("changed.json", changed.to_string());
    assert_eq!(code(&house.run(&["handoff", "check", "changed.json", "--format", "json"])), "INTEGRITY_MISMATCH");
    let out = house.run(&["handoff", "receive", TRACE, "--skill", "programming-pm", "--as", "pm", "--out", "in.yaml"]);
    assert!(done(out).out.starts_with("loaded"));
    assert!(house.read("in.yaml").starts_with("handoff:") && house.read("in.yaml").contains("received"));
}

#[test]
fn what_was_sent_can_be_erased_with_its_hash() {
    let house = project();
    plan(&house);
    let hash = made(&house, "planner", "builder", "h.json", &[])["payload_hash"].as_str().unwrap().to_owned();
    done(send(&house, "h.json", "planner"));
    let step = json_of(&done(house.run(&["handoff", "show", TRACE, "--format", "json"])));
    assert_eq!(step["payload_hash"], hash.as_str());
    let (event, token) = (step["step"]["sent"].to_string(), house.owner_token());
    done(house.run(&["erase", &event, "--reason", "asked for", "--token-file", &token]));
    let left = done(house.run(&["export"])).out + &done(house.run(&["log", "--format", "json"])).out;
    assert!(!left.contains(&hash["sha256:".len()..]), "the hash is gone too");
    let shown = json_of(&done(house.run(&["handoff", "show", TRACE, "--format", "json"])));
    assert!(shown["document"].is_null() && shown["step"]["target"] == "builder", "{shown}");
    assert_eq!(code(&receive(&house, TRACE, "builder")), "DEPENDENCY_NOT_MET");
}

#[test]
fn a_secret_is_in_no_document_name_or_output() {
    const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let house = project();
    std::fs::create_dir(house.path("out")).unwrap();
    let payload = json!({ "key": SECRET, "long": format!("{} {SECRET} ", "words and words ".repeat(900)) }).to_string();
    let made = house.run_with(
        &[
            "handoff",
            "make",
            "--source",
            SECRET,
            "--target",
            "b",
            "--summary",
            SECRET,
            "--phase",
            SECRET,
            "--reason",
            SECRET,
            "--problem-type",
            "research",
            "--payload",
            "-",
            "--format",
            "json",
        ],
        &payload,
        &[],
    );
    let answer = json_of(&made);
    assert!(made.code == 0 && !answer["kept_at"].is_null(), "{made:?}");
    let file = answer["path"].as_str().unwrap();
    let sent = house.run(&["handoff", "send", file, "--as", "a"]);
    assert_eq!(sent.code, 0, "{sent:?}");
    let bare = house::document("universal_handoff", json!({ "handoff": { "context": { "summary": SECRET } } }));
    house.write("out/bare.json", bare.to_string());
    let mut said: Vec<Answer> = ["check", "send", "receive"]
        .map(|verb| house.run(&["handoff", verb, "out/bare.json", "--as", "programming-pm"]))
        .into();
    assert!(said.iter().all(|answer| answer.code == 1), "{said:?}");
    std::fs::remove_file(house.path("out/bare.json")).unwrap();
    said.extend([made, sent, house.run(&["log"]), house.run(&["export"])]);
    for answer in said {
        assert!(!answer.out.contains(SECRET) && !answer.err.contains(SECRET), "{answer:?}");
    }
    for (path, bytes) in house.all() {
        let name = path.display().to_string();
        let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!found && !name.contains(SECRET), "{name}");
    }
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

#[cfg(unix)]
#[test]
fn the_page_about_handoffs_is_true() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/handoffs.md");
    let page = std::fs::read_to_string(page).unwrap();
    let played = walkthrough::play(&House::new(), &page, &["planner", "builder", "you"]);
    assert!(played >= 14, "{played}");
}
