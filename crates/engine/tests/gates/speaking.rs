//! Who speaks at the gates of a task: the process that carries its run out, and while there is none, a person.

use crate::stage::{
    OTHER, Reached, Stage, asking, of_process, owner, plan, reviewer, say, shows, task, with, with_judge, word,
};
use countersign_engine::Call;
use serde_json::{Value, json};

const OK: &str = "ok";
const NO: &str = "AUTHORIZATION_MISSING";

/// The agent of T-1, somebody who says that they orchestrate, who leads or did so, somebody who reviews, and an owner.
fn callers() -> [Call; 5] {
    [of_process("coder", 2), of_process("ana", 4), of_process("lead", 1), reviewer("rita"), owner("olga")]
}

const VALIDATED: Reached = ("validated", |stage| drop(stage.validate("critic", &["PASS", "PASS"])));
const JUDGED: Reached = ("judged", |stage| {
    stage.validate("critic", &["PASS", "PASS"]);
    stage.judge("arbiter", "PASS").unwrap();
});

/// A command, how far the task has come, what is asked, and who may while nobody carries the run out.
type Row = (&'static str, Reached, fn(&Stage) -> Value, [&'static str; 5]);

/// Everything that is said at the gates of a task, but what only people say anyway.
fn table() -> Vec<Row> {
    let people = [NO, NO, NO, OK, OK];
    let owners = [NO, NO, NO, NO, OK];
    let nobody = [NO; 5];
    vec![
        ("gate.validate", ("claimed", |_| {}), |it| it.validation("T-1", "critic", &["PASS", "PASS"]), people),
        ("gate.validate", ("claimed", |_| {}), |it| it.validation("T-1", "builtin", &["SKIP", "SKIP"]), nobody),
        (
            "gate.judge",
            VALIDATED,
            |it| with(it.at("T-1"), json!({ "judge": "arbiter", "verdict": "PASS", "reasoning": "I read it" })),
            people,
        ),
        (
            "gate.recheck",
            JUDGED,
            |it| with(it.at("T-1"), json!({ "merged": OTHER, "evidence": [shows("AC-1", "test", "PASS")] })),
            nobody,
        ),
        (
            "gate.hold",
            JUDGED,
            |it| json!({ "run_id": it.run, "task_id": "T-1", "lease": it.lease("T-1"), "obstacle": "landing", "reason": "x" }),
            owners,
        ),
        ("gate.land", JUDGED, |it| it.at("T-1"), owners),
    ]
}

#[test]
fn whoever_neither_leads_nor_answers_for_it_has_no_voice_at_a_gate() {
    for led in [true, false] {
        for (id, (reached, prepare), request, alone) in table() {
            let expected = if led { [NO, NO, OK, NO, NO] } else { alone };
            for (call, expected) in callers().iter().zip(expected) {
                let stage = Stage::claimed(with_judge(json!("arbiter")));
                prepare(&stage);
                stage.pass_on(led);
                let (before, request) = (stage.desk.head(), request(&stage));
                let said = say(&stage.desk, call, id, &request);
                let outcome = said.clone().map_or_else(|(code, _)| code, |_| OK.to_owned());
                assert_eq!(outcome, expected, "{id}, {reached}, led {led}, by {}: {said:?}", call.actor);
                if expected == NO {
                    assert_eq!(stage.desk.kinds_since(before), ["command.refused"], "{id} by {}", call.actor);
                }
            }
        }
    }
}

#[test]
fn a_peer_alone_is_heard_beside_who_leads_by_a_token_of_its_name_and_once_it_is_said_what_is_looked_at() {
    let (token, terminal) = ("token t-1 http", "terminal uid=1000 pid=7");
    let (peer, started) =
        (json!({ "peer": true, "role": "validator" }), json!({ "command": ["critic"], "role": "validator" }));
    let cases = [
        (&peer, terminal, "critic", true, NO),
        (&peer, token, "rita", true, NO),
        (&peer, token, "critic", false, "DEPENDENCY_NOT_MET"),
        (&peer, token, "critic", true, OK),
        (&started, token, "critic", false, NO),
        (&started, token, "critic", true, NO),
    ];
    for (critic, authn, actor, is_bound, expected) in cases {
        let mut plan = with_judge(json!("arbiter"));
        plan["agents"]["critic"] = critic.clone();
        let stage = Stage::claimed(plan);
        if is_bound {
            stage.validate("builtin", &["SKIP", "SKIP"]);
        }
        stage.pass_on(true);
        let call = Call { authn: authn.to_owned(), ..reviewer(actor) };
        let said = say(&stage.desk, &call, "gate.validate", &stage.validation("T-1", "critic", &["PASS", "PASS"]));
        let outcome = said.clone().map_or_else(|(code, _)| code, |_| OK.to_owned());
        assert_eq!(outcome, expected, "{critic}: {actor} by {authn}, bound {is_bound}: {said:?}");
    }
}

#[test]
fn nobody_makes_the_gates_of_others_stale() {
    for led in [true, false] {
        let stage = Stage::claimed(with_judge(json!("arbiter")));
        JUDGED.1(&stage);
        stage.pass_on(led);
        let request = with(stage.at("T-1"), json!({ "bound": OTHER }));
        let before = stage.desk.head();
        assert_eq!(say(&stage.desk, &of_process("mia", 3), "gate.land", &request).unwrap_err().0, NO);
        assert_eq!(
            (stage.desk.kinds_since(before), &stage.gate("T-1")["passed"]),
            (vec!["command.refused".to_owned()], &json!(true))
        );
    }
}

#[test]
fn what_a_person_writes_down_as_evidence_is_their_word() {
    let stage = Stage::claimed(plan(&[task("T-1", &[asking(1, "test"), word(2)])], json!({ "validate": "critic" })));
    stage.pass_on(false);
    let evidence = json!({ "evidence": [shows("AC-1", "test", "PASS")] });
    let request = with(stage.validation("T-1", "critic", &["PASS", "PASS"]), evidence);
    say(&stage.desk, &owner("olga"), "gate.validate", &request).unwrap();
    assert_eq!(stage.last("gate.validated")["results"], json!({ "AC-1": "SKIP", "AC-2": "PASS" }));
    let kept = stage.last("evidence.collected");
    assert_eq!((&kept["kind"], &kept["said_kind"]), (&json!("statement"), &json!("test")));
}
