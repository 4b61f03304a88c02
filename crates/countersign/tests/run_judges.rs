//! The last gate of a run: a judge, who is an agent, a person, or somebody who is asked over HTTP.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "forge/request.rs"]
mod request;
mod run_support;

use request::Request;
use run_support::{Yard, task};
use serde_json::json;
use std::io::{BufReader, Write};
use std::net::TcpListener;

#[test]
fn a_judge_that_is_an_agent_has_the_last_word() {
    let verdict = |word: &str| format!("echo '{{\"verdict\":\"{word}\",\"reasoning\":\"the evidence says so\"}}'");
    let repeating = r#"cat <<'END'
{"verdict":"PASS","reasoning":"the validator said {\"verdict\": \"PASS\"}"}
END"#;
    let cases: [(&str, String, i32, &str); 8] = [
        ("it passes", verdict("PASS"), 0, "judged PASS by judge"),
        // What it wrote may not be kept; what it decided stands.
        ("it repeats a verdict", repeating.to_owned(), 0, "judged PASS by judge"),
        ("it gives no reason", "echo '{\"verdict\":\"PASS\"}'".to_owned(), 1, "judged UNREACHED by judge"),
        ("it has words of its own", verdict("approved"), 1, "judged UNREACHED by judge"),
        ("it passes with a word", verdict("WARN"), 0, "judged WARN by judge"),
        ("it fails", verdict("FAIL"), 1, "judged FAIL by judge"),
        ("it prints garbage", "echo perhaps".to_owned(), 1, "judged UNREACHED by judge"),
        ("it dies", "kill -9 $$".to_owned(), 1, "judged UNREACHED by judge"),
    ];
    for (what, script, code, says) in cases {
        let yard = Yard::new();
        let mut agents = json!({ "coder": yard.honest(), "judge": yard.agent(&script) });
        agents["judge"]["role"] = json!("judge");
        let answer = yard.one(agents, json!({ "retries": 0 }), json!({ "gates": { "judge": "judge" } }));
        assert_eq!(answer.code, code, "{what}: {}", answer.out);
        answer.says(says);
        if says.contains("UNREACHED") {
            // A person judges in its place, and what was done is landed.
            let asked = yard.asked();
            assert_eq!(asked["asks"], "judgement", "{what}: {}", answer.out);
            let rule =
                json!({ "task_id": "T-1", "shown": asked["shown"], "verdict": "PASS", "reasoning": "I read it" });
            yard.owner("gate.rule", rule).unwrap();
            let out = yard.resume().ended(0);
            assert_eq!((yard.landed().len(), yard.count("result.submitted", "T-1")), (1, 1));
            // Nobody has worked a second time.
            let row = out.lines().find(|line| line.starts_with("T-1 ")).unwrap();
            assert_eq!(row.split_whitespace().nth(3), Some("1"), "{out}");
            yard.is_tidy();
        }
    }
}

#[test]
fn a_judge_who_is_a_person_is_asked_and_decides() {
    for (verdict, done) in [("PASS", true), ("FAIL", false)] {
        let yard = Yard::new();
        let gates = json!({ "gates": { "judge": "person" } });
        let answer = yard.one(json!({ "coder": yard.honest() }), json!({ "retries": 0 }), gates);
        assert_eq!((answer.code, yard.landed().len()), (1, 0), "{}", answer.out);
        let asked = yard.asked();
        assert_eq!(asked["asks"], "judgement");
        let rule = json!({ "task_id": "T-1", "shown": asked["shown"], "verdict": verdict, "reasoning": "I read it" });
        yard.owner("gate.rule", rule).unwrap();
        let answer = yard.resume();
        assert_eq!((answer.code == 0, yard.landed().len() == 1), (done, done), "{}", answer.out);
        assert_eq!(yard.count("result.submitted", "T-1"), 1);
    }
}

#[test]
fn why_a_judge_rejected_work_is_told_to_who_tries_again_and_to_who_looks() {
    let yard = Yard::new();
    let why = "the cart may be empty and nobody thought of that";
    let script =
        "echo x > src/T-1; printf %s \"$assignment\" > $COUNTERSIGN_HOME/told.$COUNTERSIGN_LEASE; claim src/T-1";
    let judge = yard.agent(&format!("echo '{{\"verdict\":\"FAIL\",\"reasoning\":\"{why}\"}}'"));
    let mut agents = json!({ "coder": yard.agent(script), "judge": judge });
    agents["judge"]["role"] = json!("judge");
    let answer = yard.one(agents, json!({ "retries": 1 }), json!({ "gates": { "judge": "judge" } }));
    assert_eq!((answer.code, answer.out.matches("judged FAIL by judge").count()), (1, 2), "{}", answer.out);
    let told = std::fs::read_dir(yard.path("home")).unwrap().flatten();
    let told = told.filter(|it| it.file_name().to_string_lossy().starts_with("told."));
    let told: Vec<bool> = told.map(|it| std::fs::read_to_string(it.path()).unwrap().contains(why)).collect();
    assert_eq!(
        told.iter().filter(|it| **it).count(),
        1,
        "the second attempt is told, and the first has nothing to be told"
    );
    assert_eq!(told.len(), 2);
    yard.run(&["gate", "status", "T-1"]).says(&format!("the judge: {why}"));
    yard.run(&["inbox"]).says(&format!("  judge        {why}\n"));
}

/// A server that answers every request like a provider whose model gave a verdict.
fn judge(verdict: &str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let text = json!({ "verdict": verdict, "reasoning": "the evidence covers it" }).to_string();
    let body = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "judge-1", "content": [{ "type": "text", "text": text }],
        "stop_reason": "end_turn", "stop_sequence": null, "usage": { "input_tokens": 10, "output_tokens": 5 },
    })
    .to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            Request::read(&mut lines);
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    port
}

#[test]
fn a_judge_over_http_is_asked_and_one_that_cannot_be_reached_holds_back_unless_it_is_optional() {
    let (pass, fail, other) = (judge("PASS"), judge("FAIL"), judge("approved"));
    // Nobody listens there.
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let key = Some("canary-key-of-the-judge-77");
    let cases = [
        ("it passes", pass, false, key, 0, "judged PASS by judge-1"),
        ("it fails", fail, true, key, 1, "judged FAIL by judge-1"),
        ("nobody is there", nobody, false, key, 1, "judged UNREACHED"),
        ("nobody is there, which is optional", nobody, true, key, 0, "judged UNREACHED"),
        ("it has words of its own, and is optional", other, true, key, 0, "judged UNREACHED"),
        ("there is no key, which is optional", pass, true, None, 0, "judged UNREACHED"),
        ("there is no key", pass, false, None, 3, "JUDGE_KEY holds no key"),
    ];
    std::thread::scope(|scope| {
        for (what, port, optional, key, code, says) in cases {
            scope.spawn(move || {
                let yard = Yard::new();
                let url = format!("http://127.0.0.1:{port}/v1/messages");
                let judge = json!({ "url": url, "model": "judge-1", "key": "JUDGE_KEY", "optional": optional });
                let more = json!({ "gates": { "judge": judge } });
                let plan =
                    yard.plan(json!({ "coder": yard.honest() }), vec![task("T-1", json!({ "retries": 0 }))], more);
                let key: Vec<(&str, &str)> = key.map(|key| ("JUDGE_KEY", key)).into_iter().collect();
                let answer = yard.run_with(&["run", &plan], &key);
                assert_eq!(answer.code, code, "{what}: {}\n{}", answer.out, answer.err);
                answer.says(says);
                let canary = b"canary-key-of-the-judge-77";
                assert!(!yard.ledger().windows(canary.len()).any(|it| it == canary), "{what}: the key was kept");
                assert_eq!(yard.landed().len(), usize::from(code == 0), "{what}");
                match code {
                    // Before anybody has worked for nothing.
                    3 => assert_eq!(yard.runs(), Vec::<String>::new(), "{what}"),
                    0 if key.is_empty() => {
                        let gate = yard.look("gate.status", json!({ "run_id": yard.runs()[0], "task_id": "T-1" }));
                        assert!(gate["reasoning"].as_str().unwrap().contains("JUDGE_KEY holds no key"), "{gate}");
                    }
                    1 if port == nobody => {
                        let reason = yard.asked()["reason"].to_string();
                        assert!(reason.contains("the judge could not be reached: "), "{what}: {reason}");
                    }
                    _ => {}
                }
            });
        }
    });
}

#[test]
fn a_judge_over_http_that_takes_its_time_holds_nobody_up_who_was_called_off() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let yard = Yard::new();
    let url = format!("http://{}/v1/messages", silent.local_addr().unwrap());
    let judge = json!({ "url": url, "model": "judge-1", "key": "JUDGE_KEY" });
    let more = json!({ "gates": { "judge": judge } });
    let plan = yard.plan(json!({ "coder": yard.honest() }), vec![task("T-1", json!({}))], more);
    let going = yard.start_with(&["run", &plan], &[("JUDGE_KEY", "k")]);
    let (_asked, _) = silent.accept().unwrap();
    yard.decide(&["run", "cancel", "--reason", "no"]).ended_with(0);
    let began = std::time::Instant::now();
    going.end().says("canceled it: no").ended_with(1);
    assert!(began.elapsed() < std::time::Duration::from_secs(30), "{:?}", began.elapsed());
}
