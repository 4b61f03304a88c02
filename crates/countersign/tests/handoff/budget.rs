//! Within the budget: nothing is lost, or nothing is made.

use crate::house::House;
use crate::{TRACE, document, done, json_of, kinds, long, make, notes, project, receive, send};
use serde_json::{Map, Value, json};

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
    assert_eq!(notes(&arrived), ["created", "validated", "transmitted", "received"]);
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
fn twelve_kilobytes_that_expire_still_do_once_they_are_shortened() {
    let house = project();
    house.write("plan.json", long(12_000).to_string());
    let expires = (jiff::Timestamp::now() + jiff::SignedDuration::from_secs(4)).to_string();
    let made = make(&house, "planner", "builder", "h.json", &["--payload", "plan.json", "--expires-at", &expires]);
    let made = json_of(&done(made));
    assert!(!made["kept_at"].is_null() && !made["taken"].as_array().unwrap().contains(&json!("/handoff/expires_at")));
    let kept =
        document(&house, "h.json")["handoff"]["expires_at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert!(kept <= expires.parse().unwrap());
    let sent = send(&house, "h.json", "planner");
    while jiff::Timestamp::now() <= kept {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    for what in ["h.json", TRACE] {
        let answer = receive(&house, what, "builder");
        assert_eq!(answer.code, 1, "{answer:?}");
        // On a machine that took longer than that to send it, it was stale before it was sent.
        assert!(sent.code != 0 || json_of(&answer)["state"] == "ignored_stale", "{answer:?}");
    }
}
