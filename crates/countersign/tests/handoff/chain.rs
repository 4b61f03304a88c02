//! Who handed what to whom, by one process after the other and by many at once.

use crate::house::Answer;
use crate::{TRACE, code, document, done, json_of, kinds, made, make, notes, pass, plan, project, receive, send};
use serde_json::{Value, json};

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
    // Who asks before gets the same answer, and one only.
    assert_eq!(code(&house.run(&["handoff", "check", "else.json", "--format", "json"])), "CORRELATION_MISMATCH");
    for name in ["else.json", "hidden.json"] {
        let said = house.run(&["handoff", "check", name]);
        assert_eq!((said.code, said.out.matches("refused").count()), (1, 1), "{said:?}");
        assert!(!said.out.contains("allowed") && said.out.contains("by what is recorded, "), "{said:?}");
    }
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
    // That a person agreed is recorded from a person alone: an agent may neither say it nor send what says it.
    let agent = [("COUNTERSIGN_ATTEMPT", "run.T-1.1")];
    let said = house.run_with(&["handoff", "make", "--approved", "--format", "json"], "", &agent);
    assert_eq!(code(&said), "AUTHORIZATION_MISSING");
    made(&house, "e", "f", "e-f.json", &["--approved"]);
    assert_eq!(code(&send(&house, "e-f.json", "e")), "AUTHORIZATION_MISSING");
    done(house.run(&["handoff", "send", "e-f.json", "--token-file", &house.owner_token()]));
    done(receive(&house, "e-f.json", "f"));
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
fn a_fork_of_the_chain_does_not_hide_where_it_was() {
    let house = project();
    plan(&house);
    pass(&house, "a", "b", &[]);
    pass(&house, "b", "c", &[]);
    // Who began hands it to c as well, so that the last that c received knows nothing of b.
    pass(&house, "a", "c", &[]);
    let looped = make(&house, "c", "b", "c-b.json", &["--payload", "plan.json"]);
    assert_eq!(code(&looped), "CIRCULAR_HANDOFF");
    assert!(looped.out.contains("b → c → b"), "{looped:?}");
    let hidden = json!({ "handoff": {
        "trace_id": TRACE, "source": { "skill": "c" }, "target": { "skill": "b" }, "meta": { "handoff_chain": ["a", "c"] } } });
    house.document("hidden.json", "universal_handoff", hidden);
    assert_eq!(code(&send(&house, "hidden.json", "c")), "CIRCULAR_HANDOFF");
    assert_eq!(code(&house.run(&["handoff", "check", "hidden.json", "--format", "json"])), "CIRCULAR_HANDOFF");
    pass(&house, "c", "b", &["--reason", "b looks at it again"]);
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
    assert_eq!(notes(&document(&house, "h.json")), ["validated", "transmitted", "received"]);
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
