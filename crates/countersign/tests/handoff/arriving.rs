//! What arrives is what was sent, in whatever form it is written.

use crate::house::House;
use crate::{TRACE, code, document, done, json_of, kinds, long, made, make, plan, project, receive, send};
use serde_json::{Value, json};

/// What was sent and received, without what was noted about it.
fn arrived(house: &House) -> Vec<String> {
    kinds(house).into_iter().filter(|kind| kind != "handoff.noted").collect()
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
    assert_eq!(arrived(&house), ["handoff.sent"]);
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
    assert_eq!(arrived(&house), ["handoff.sent", "handoff.received"]);
    assert_eq!(code(&receive(&house, "550e8400-e29b-41d4-a716-446655440001", "builder")), "DEPENDENCY_NOT_MET");
}

#[test]
fn a_handoff_in_yaml_goes_the_same_way_and_stays_in_yaml() {
    let house = project();
    let value = crate::house::document("universal_handoff", json!({ "handoff": { "trace_id": TRACE } }));
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
fn whoever_checks_is_told_of_a_changed_file_as_whoever_receives_is() {
    let house = project();
    house.write("long.json", long(20_000).to_string());
    let answer = json_of(&done(make(&house, "planner", "builder", "h.json", &["--payload", "long.json"])));
    let at = house.path("").join(answer["kept_at"].as_str().unwrap());
    let whole = std::fs::read_to_string(&at).unwrap();
    done(send(&house, "h.json", "planner"));
    let check = || house.run(&["handoff", "check", "h.json", "--format", "json"]);
    done(check());
    std::fs::write(&at, whole.replace("half to even", "half upwards")).unwrap();
    let changed = check();
    assert_eq!((changed.code, code(&changed).as_str()), (1, "INTEGRITY_MISMATCH"), "{changed:?}");
    assert!(json_of(&changed)["recorded"]["barred"]["reason"].as_str().unwrap().contains("taken out"), "{changed:?}");
    std::fs::write(&at, &whole).unwrap();
    done(check());
}

#[test]
fn what_was_taken_out_is_what_it_was_when_it_was_sent_or_nothing_is_loaded() {
    let house = project();
    house.write("long.json", long(20_000).to_string());
    let answer = json_of(&done(make(&house, "planner", "builder", "h.json", &["--payload", "long.json"])));
    let at = house.path("").join(answer["kept_at"].as_str().unwrap());
    let sent = json_of(&done(send(&house, "h.json", "planner")));
    // Sending adds notes to the trace, so what was made is a little shorter.
    let tokens = |answer: &serde_json::Value| answer["tokens"].as_u64().unwrap();
    assert!((1..150).contains(&(tokens(&sent).saturating_sub(tokens(&answer)))), "{sent} {answer}");
    let whole = std::fs::read_to_string(&at).unwrap();
    let chain = json_of(&done(house.run(&["handoff", "chain", TRACE, "--format", "json"])));
    let sum = &chain["steps"][0]["sums"][0];
    assert_eq!(sum["sha256"], countersign_contract::sha256_hex(whole.as_bytes()));
    assert_eq!((&sum["path"], &sum["bytes"]), (&answer["kept_at"], &json!(whole.len())));
    for what in ["h.json", TRACE] {
        std::fs::write(&at, whole.replace("half to even", "half upwards")).unwrap();
        let changed = receive(&house, what, "builder");
        assert_eq!(
            (code(&changed).as_str(), &json_of(&changed)["state"]),
            ("INTEGRITY_MISMATCH", &json!("hash_mismatch"))
        );
        assert_eq!(arrived(&house), ["handoff.sent"]);
    }
    for what in ["h.json", TRACE] {
        std::fs::remove_file(&at).unwrap();
        let gone = receive(&house, what, "builder");
        assert_eq!((code(&gone).as_str(), &json_of(&gone)["state"]), ("DEPENDENCY_NOT_MET", &json!("incomplete")));
        assert!(gone.out.contains("session-context.json is gone"), "{gone:?}");
        assert_eq!(arrived(&house), ["handoff.sent"]);
        std::fs::write(&at, &whole).unwrap();
    }
    done(receive(&house, TRACE, "builder"));
    // Whoever comes again acts on the files as they are now.
    assert_eq!(json_of(&done(receive(&house, "h.json", "builder")))["repeated"], true);
    std::fs::remove_file(&at).unwrap();
    assert_eq!(json_of(&receive(&house, "h.json", "builder"))["state"], "incomplete");
    for what in ["h.json", TRACE] {
        std::fs::write(&at, whole.replace("half to even", "half upwards")).unwrap();
        let changed = receive(&house, what, "builder");
        assert_eq!(
            (code(&changed).as_str(), &json_of(&changed)["state"]),
            ("INTEGRITY_MISMATCH", &json!("hash_mismatch"))
        );
        std::fs::write(&at, &whole).unwrap();
        assert_eq!(json_of(&done(receive(&house, what, "builder")))["repeated"], true);
    }
    assert_eq!(arrived(&house), ["handoff.sent", "handoff.received"]);
}
