//! A judge over HTTP, played by a server that behaves as the providers document it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use countersign_contract::check::read;
use countersign_contract::diagnostic::Source;
use countersign_contract::{Checker, Settings};
use countersign_domain::plan::payload::Endpoint;
use countersign_runner::judge::{Case, Judged, Unreachable, Verdict, ask};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const KEY: &str = "canary-key-4711-do-not-print";
const PATIENCE: Duration = Duration::from_secs(60);

/// What the server does with one request.
#[derive(Clone)]
enum Act {
    /// Answers with a status, headers and a body.
    Say(u16, Vec<(&'static str, String)>, String),
    /// Promises a body and closes in the middle of it.
    CutBody,
    /// Closes without a word.
    Close,
    /// Says nothing until the other side leaves.
    Hang,
    /// Sends the body byte by byte, until the other side leaves.
    Drip,
}

/// What the server was sent.
#[derive(Clone, Debug)]
struct Asked {
    path: String,
    headers: Vec<(String, String)>,
    body: Value,
}

impl Asked {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }
}

struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// One that does one thing after the other; the last of them for ever.
    fn new(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&asked);
        std::thread::spawn(move || {
            for (count, stream) in listener.incoming().enumerate() {
                let act = acts[count.min(acts.len() - 1)].clone();
                serve(stream.unwrap(), act, &all);
            }
        });
        Self { port, asked }
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, act: Act, all: &Mutex<Vec<Asked>>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        line.clear();
        lines.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|it| it.0 == "content-length").map_or(0, |it| it.1.parse().unwrap());
    let mut body = vec![0; length];
    lines.read_exact(&mut body).unwrap();
    all.lock().unwrap().push(Asked { path, headers, body: serde_json::from_slice(&body).unwrap() });
    let gone = |stream: &mut TcpStream| while stream.read(&mut [0; 64]).is_ok_and(|count| count > 0) {};
    match act {
        Act::Say(status, headers, body) => {
            let mut head =
                format!("HTTP/1.1 {status} Status\r\ncontent-length: {}\r\nconnection: close\r\n", body.len());
            for (name, value) in headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            // One that has read enough leaves.
            let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
        }
        Act::CutBody => {
            let body =
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{\"id\": \"msg_";
            stream.write_all(body.as_bytes()).unwrap();
        }
        Act::Close => {}
        Act::Hang => gone(&mut stream),
        Act::Drip => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n").unwrap();
            while stream.write_all(b" ").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

fn say(status: u16, body: Value) -> Act {
    Act::Say(status, Vec::new(), body.to_string())
}

fn raw(status: u16, body: &str) -> Act {
    Act::Say(status, Vec::new(), body.to_owned())
}

fn with(status: u16, headers: &[(&'static str, &str)], body: Value) -> Act {
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    Act::Say(status, headers, body.to_string())
}

/// An answer as Anthropic documents it: a message whose content is given.
fn message(content: Value, stop_reason: &str) -> Value {
    json!({
        "id": "msg_01XFDUDYJgAACzvnptvVoYEL", "type": "message", "role": "assistant", "model": "judge-1-20260101",
        "content": content, "stop_reason": stop_reason, "stop_sequence": null,
        "usage": { "input_tokens": 100, "cache_read_input_tokens": 11, "output_tokens": 50 },
    })
}

fn tool_call(verdict: &str, reasoning: &str) -> Value {
    let input = json!({ "verdict": verdict, "reasoning": reasoning });
    message(json!([{ "type": "tool_use", "id": "toolu_01", "name": "give_verdict", "input": input }]), "tool_use")
}

fn completion(content: Value, finish_reason: &str) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "judge-2-mini",
        "choices": [{ "index": 0, "message": content, "finish_reason": finish_reason }],
        "usage": { "prompt_tokens": 200, "completion_tokens": 20, "total_tokens": 220 },
    })
}

fn assistant(text: &str) -> Value {
    json!({ "role": "assistant", "content": text, "refusal": null })
}

fn response(status: &str, content: Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "status": status, "model": "judge-3", "error": null, "incomplete_details": null,
        "output": [
            { "type": "reasoning", "id": "rs_1", "summary": [] },
            { "type": "message", "id": "msg_1", "role": "assistant", "status": status, "content": content },
        ],
        "usage": { "input_tokens": 300, "output_tokens": 30, "total_tokens": 330 },
    })
}

fn anthropic_error(kind: &str, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_1" })
}

fn openai_error(code: &str, message: &str) -> Value {
    json!({ "error": { "message": message, "type": "invalid_request_error", "param": null, "code": code } })
}

const VERDICT: &str = r#"{"reasoning": "AC-1 is shown", "verdict": "PASS"}"#;

fn endpoint(url: &str) -> Endpoint {
    let text = json!({ "url": url, "model": "judge-1", "key": "JUDGE_API_KEY" });
    let settings = Settings::default();
    let checker = Checker { contracts: &[], foreign: &[], settings: &settings, raised: &[] };
    read(&checker, Source { name: "endpoint", text: &text.to_string() }).unwrap()
}

struct Run {
    result: Result<Judged, Unreachable>,
    /// How long was waited each time, in milliseconds. Nothing was slept.
    waits: Vec<u128>,
    asked: Vec<Asked>,
}

impl Run {
    fn why(&self) -> &str {
        match &self.result {
            Err(unreachable) => &unreachable.why,
            Ok(judged) => panic!("a verdict: {judged:?}"),
        }
    }

    fn attempts(&self) -> u32 {
        self.result.as_ref().map_or_else(|it| it.attempts, |it| it.attempts)
    }
}

fn run(path: &str, acts: Vec<Act>) -> Run {
    run_within(path, acts, PATIENCE)
}

fn run_within(path: &str, acts: Vec<Act>, patience: Duration) -> Run {
    let server = Server::new(acts);
    let url = format!("http://127.0.0.1:{}{path}", server.port);
    let waits = RefCell::new(Vec::new());
    let sleep = |time: Duration| {
        waits.borrow_mut().push(time.as_millis());
        ControlFlow::Continue(())
    };
    let criteria = [("AC-1".to_owned(), "the door opens".to_owned())];
    let case = Case {
        task: "T-1",
        title: "Add a door",
        criteria: &criteria,
        claim: "It opens.",
        validation: "{}",
        evidence: "{}",
        test_edits: "",
    };
    let result = ask(&endpoint(&url), KEY, &case, patience, &sleep);
    // Whatever happens, nothing that is handed back or shown has the key in it.
    assert!(!format!("{result:?}").contains(KEY), "{result:?}");
    Run { result, waits: waits.into_inner(), asked: server.asked() }
}

#[test]
fn each_form_is_asked_as_documented_and_answers() {
    let output = json!([{ "type": "output_text", "text": VERDICT, "annotations": [] }]);
    let rows = [
        ("/v1/messages", tool_call("PASS", "AC-1 is shown"), "judge-1-20260101", 111, 50),
        (
            "/v1/messages",
            message(json!([{ "type": "text", "text": VERDICT }]), "end_turn"),
            "judge-1-20260101",
            111,
            50,
        ),
        ("/v1/chat/completions", completion(assistant(VERDICT), "stop"), "judge-2-mini", 200, 20),
        ("/v1/responses", response("completed", output), "judge-3", 300, 30),
    ];
    for (path, answer, model, input_tokens, output_tokens) in rows {
        let run = run(path, vec![say(200, answer)]);
        let judged = run.result.unwrap();
        assert_eq!((judged.verdict, judged.reasoning.as_str()), (Verdict::Pass, "AC-1 is shown"), "{path}");
        assert_eq!(
            (judged.model.as_str(), judged.input_tokens, judged.output_tokens),
            (model, input_tokens, output_tokens)
        );
        assert_eq!((judged.attempts, run.waits.len()), (1, 0));
        let [asked] = run.asked.as_slice() else { panic!("{:?}", run.asked) };
        assert_eq!((asked.path.as_str(), asked.header("content-type")), (path, Some("application/json")));
        assert_eq!(asked.body["model"], "judge-1");
        assert!(asked.body.to_string().contains("the door opens") && !asked.body.to_string().contains(KEY));
    }
}

#[test]
fn the_verdict_is_held_to_a_schema_and_the_key_is_shown_as_each_form_wants_it() {
    let first = |path: &str| run(path, vec![say(401, json!({}))]).asked.remove(0);
    let asked = first("/v1/messages");
    assert_eq!((asked.header("x-api-key"), asked.header("anthropic-version")), (Some(KEY), Some("2023-06-01")));
    assert_eq!(asked.header("authorization"), None);
    assert_eq!(asked.body["tool_choice"]["type"], "tool");
    assert_eq!(asked.body["tool_choice"]["name"], asked.body["tools"][0]["name"]);
    let enumerated = json!(["PASS", "WARN", "FAIL"]);
    assert_eq!(asked.body["tools"][0]["input_schema"]["properties"]["verdict"]["enum"], enumerated);
    assert!(asked.body["max_tokens"].as_u64().unwrap() > 0 && asked.body["system"].is_string());

    let asked = first("/v1/chat/completions");
    let bearer = format!("Bearer {KEY}");
    assert_eq!((asked.header("authorization"), asked.header("x-api-key")), (Some(bearer.as_str()), None));
    let format = &asked.body["response_format"];
    assert_eq!((&format["type"], &format["json_schema"]["strict"]), (&json!("json_schema"), &json!(true)));
    assert_eq!(format["json_schema"]["schema"]["properties"]["verdict"]["enum"], enumerated);
    assert_eq!(
        (&asked.body["messages"][0]["role"], &asked.body["messages"][1]["role"]),
        (&json!("system"), &json!("user"))
    );

    let asked = first("/v1/responses");
    assert_eq!(asked.header("authorization"), Some(bearer.as_str()));
    let format = &asked.body["text"]["format"];
    assert_eq!((&format["type"], &format["strict"]), (&json!("json_schema"), &json!(true)));
    assert_eq!((&asked.body["store"], asked.body["instructions"].is_string()), (&json!(false), true));
}

#[test]
fn what_passes_is_asked_again_after_the_time_that_is_named() {
    let later = anthropic_error("rate_limit_error", "slow down");
    let good = || say(200, tool_call("WARN", "look at it"));
    let rows = [
        ("seconds", with(429, &[("retry-after", "7")], later.clone()), 7000),
        (
            "a date",
            with(
                429,
                &[("date", "Sat, 07 Feb 2026 12:00:00 GMT"), ("retry-after", "Sat, 07 Feb 2026 12:00:20 GMT")],
                later.clone(),
            ),
            20_000,
        ),
        (
            "a limit that is used up",
            with(
                429,
                &[
                    ("date", "Sat, 07 Feb 2026 12:00:00 GMT"),
                    ("anthropic-ratelimit-input-tokens-remaining", "0"),
                    ("anthropic-ratelimit-input-tokens-reset", "2026-02-07T12:00:09Z"),
                ],
                later.clone(),
            ),
            9000,
        ),
        (
            "a limit of the other provider",
            with(429, &[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "6s")], later.clone()),
            6000,
        ),
        ("nothing named", say(429, later), 1000),
        ("overloaded", say(529, anthropic_error("overloaded_error", "Overloaded")), 1000),
        ("overloaded, with a time", with(529, &[("retry-after", "3")], json!({})), 3000),
        ("500", say(500, anthropic_error("api_error", "Internal server error")), 1000),
        ("502 with a page", raw(502, "<html>bad gateway</html>"), 1000),
        ("503", say(503, openai_error("server_is_overloaded", "Slow Down")), 1000),
        ("408", say(408, json!({})), 1000),
        ("broken JSON", raw(200, "{\"id\": \"msg_1\", \"content\": ["), 1000),
        ("a page", raw(200, "<html></html>"), 1000),
        ("a list", raw(200, "[1]"), 1000),
        ("empty", raw(200, ""), 1000),
        ("no content", say(200, message(json!([]), "end_turn")), 1000),
        ("no verdict", say(200, message(json!([{ "type": "text", "text": "Looks good to me!" }]), "end_turn")), 1000),
        (
            "another tool",
            say(200, message(json!([{ "type": "tool_use", "name": "x", "input": {} }]), "tool_use")),
            1000,
        ),
        ("cut body", Act::CutBody, 1000),
        ("closed", Act::Close, 1000),
    ];
    for (name, act, wait) in rows {
        let run = run("/v1/messages", vec![act, good()]);
        let judged = run.result.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((judged.verdict, judged.attempts), (Verdict::Warn, 2), "{name}");
        assert_eq!(run.waits, [wait], "{name}");
        assert!(judged.took >= Duration::from_millis(wait as u64), "{name}");
    }
}

#[test]
fn four_attempts_are_all_and_the_waits_grow() {
    let run = run("/v1/messages", vec![say(500, anthropic_error("api_error", "Internal server error"))]);
    assert_eq!((run.attempts(), run.asked.len()), (4, 4));
    assert_eq!(run.waits, [1000, 2000, 4000]);
    assert!(run.why().contains("(500)") && run.why().contains("Internal server error"), "{}", run.why());
}

#[test]
fn no_wait_is_longer_than_the_patience() {
    let act = with(429, &[("retry-after", "3600")], anthropic_error("rate_limit_error", "slow down"));
    let run = run("/v1/messages", vec![act]);
    assert_eq!((run.attempts(), run.waits.len()), (1, 0));
    assert!(run.why().contains("3600.0 s"), "{}", run.why());
    // Waits add up, also when nobody sleeps.
    let act = with(429, &[("retry-after", "25")], json!({}));
    let run = run_within("/v1/messages", vec![act], PATIENCE);
    assert_eq!(run.waits, [25_000, 25_000]);
    assert_eq!(run.attempts(), 3);
}

#[test]
fn what_lasts_is_asked_once() {
    let echo = format!("invalid x-api-key: {KEY}");
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let spent = json!({ "type": "error", "error": { "type": "rate_limit_error", "message": "monthly limit",
        "details": { "error_code": "enforced_spend_limit_reached" } } });
    let refusal = json!({ "role": "assistant", "content": null, "refusal": "I cannot judge this" });
    let refused_part = json!([{ "type": "refusal", "refusal": "I cannot judge this" }]);
    let mut filtered = response("incomplete", json!([]));
    filtered["incomplete_details"] = json!({ "reason": "content_filter" });
    let rows = [
        ("/v1/messages", say(401, anthropic_error("authentication_error", &echo)), "JUDGE_API_KEY"),
        ("/v1/messages", say(403, anthropic_error("permission_error", "no")), "JUDGE_API_KEY"),
        ("/v1/messages", say(400, anthropic_error("invalid_request_error", "model: unknown")), "model: unknown"),
        ("/v1/messages", say(402, anthropic_error("billing_error", "pay")), "billing"),
        ("/v1/messages", say(404, anthropic_error("not_found_error", "model: judge-1")), "its model"),
        ("/v1/messages", say(413, anthropic_error("request_too_large", "too large")), "too long"),
        ("/v1/messages", say(418, json!({})), "(418)"),
        ("/v1/messages", say(429, spent), "billing"),
        ("/v1/chat/completions", say(429, openai_error("insufficient_quota", "You exceeded your quota")), "billing"),
        ("/v1/messages", with(500, &[("x-should-retry", "false")], json!({})), "(500)"),
        ("/v1/messages", say(200, message(json!([]), "refusal")), "refused"),
        ("/v1/messages", say(200, message(json!([]), "model_context_window_exceeded")), "longer than"),
        ("/v1/chat/completions", say(200, completion(assistant(VERDICT), "content_filter")), "refused"),
        ("/v1/chat/completions", say(200, completion(refusal, "stop")), "I cannot judge this"),
        ("/v1/responses", say(200, response("completed", refused_part)), "I cannot judge this"),
        ("/v1/responses", say(200, filtered), "refused"),
        ("/v1/messages", raw(200, &"x".repeat(1024 * 1024 + 1)), "longer than 1048576 bytes"),
        ("/v1/messages", say(400, anthropic_error("invalid_request_error", &format!("bad {token}"))), "bad [REDACTED"),
    ];
    for (path, act, said) in rows {
        let run = run(path, vec![act, say(200, tool_call("PASS", "r"))]);
        assert!(run.why().contains(said), "{said}: {}", run.why());
        assert_eq!((run.attempts(), run.asked.len(), run.waits.len()), (1, 1, 0), "{said}");
        assert!(!run.why().contains(&token));
    }
}

#[test]
fn a_redirect_is_not_followed_and_the_key_stays() {
    let other = Server::new(vec![say(200, tool_call("PASS", "r"))]);
    let there = format!("http://127.0.0.1:{}/v1/messages", other.port);
    for status in [301, 302, 303, 307, 308] {
        let run = run("/v1/messages", vec![with(status, &[("location", there.as_str())], json!({}))]);
        assert!(run.why().contains("sends elsewhere"), "{}", run.why());
        assert_eq!(run.attempts(), 1);
    }
    assert!(other.asked().is_empty());
}

#[test]
fn a_cut_answer_is_asked_for_once_more_with_more_room() {
    let mut cut = response("incomplete", json!([{ "type": "output_text", "text": "{\"reas" }]));
    cut["incomplete_details"] = json!({ "reason": "max_output_tokens" });
    let rows = [
        // What stands in a cut answer is not a verdict, even if it looks like one.
        ("/v1/messages", message(tool_call("PASS", "r")["content"].clone(), "max_tokens"), "max_tokens"),
        ("/v1/chat/completions", completion(assistant(VERDICT), "length"), "max_completion_tokens"),
        ("/v1/responses", cut, "max_output_tokens"),
    ];
    for (path, answer, room) in rows {
        let run = run(path, vec![say(200, answer)]);
        assert!(run.why().contains("cut"), "{}", run.why());
        let [first, second] = run.asked.as_slice() else { panic!("{}", run.asked.len()) };
        assert!(second.body[room].as_u64() > first.body[room].as_u64(), "{path}");
    }
}

#[test]
fn one_that_cannot_be_held_to_a_schema_is_asked_in_plain_words() {
    let output = json!([{ "type": "output_text", "text": VERDICT }]);
    let rows = [
        (
            "/v1/messages",
            anthropic_error("invalid_request_error", "Thinking may not be enabled when tool_choice forces tool use."),
            message(json!([{ "type": "text", "text": format!("```json\n{VERDICT}\n```") }]), "end_turn"),
        ),
        (
            "/v1/chat/completions",
            openai_error("unsupported", "Invalid parameter: 'response_format' of type 'json_schema' is not supported"),
            completion(assistant(VERDICT), "stop"),
        ),
        ("/v1/responses", openai_error("unsupported", "text.format is not supported"), response("completed", output)),
    ];
    for (path, complaint, answer) in rows {
        let run = run(path, vec![say(400, complaint), say(200, answer)]);
        let judged = run.result.unwrap();
        assert_eq!((judged.verdict, judged.attempts, run.waits.len()), (Verdict::Pass, 2, 0), "{path}");
        let plain = &run.asked[1].body;
        assert!(plain.get("tools").is_none() && plain.get("response_format").is_none() && plain.get("text").is_none());
    }
    // Only once: what is refused in plain words too is refused.
    let run = run("/v1/messages", vec![say(400, anthropic_error("invalid_request_error", "tools: no"))]);
    assert_eq!(run.attempts(), 2);
}

#[test]
fn a_slow_judge_ends_with_the_patience() {
    for act in [Act::Hang, Act::Drip] {
        let run = run_within("/v1/messages", vec![act], Duration::from_millis(400));
        assert!(run.why().contains("did not answer within"), "{}", run.why());
        assert_eq!(run.attempts(), 1);
    }
}

#[test]
fn tokens_of_all_attempts_are_counted() {
    let unclear = message(json!([{ "type": "text", "text": "It depends." }]), "end_turn");
    let run = run("/v1/messages", vec![say(200, unclear), say(200, tool_call("FAIL", "AC-1 is not shown"))]);
    let judged = run.result.unwrap();
    assert_eq!((judged.verdict, judged.input_tokens, judged.output_tokens), (Verdict::Fail, 222, 100));
}

#[test]
fn a_judge_that_repeats_the_key_is_cleaned() {
    let run = run("/v1/messages", vec![say(200, tool_call("FAIL", &format!("the key is {KEY}.")))]);
    assert_eq!(run.result.unwrap().reasoning, "the key is [REDACTED:key].");
}

#[test]
fn nothing_is_sent_where_nothing_may_go() {
    let criteria = [];
    let case =
        Case { task: "T", title: "", criteria: &criteria, claim: "", validation: "", evidence: "", test_edits: "" };
    let never = |_: Duration| -> ControlFlow<()> { panic!("nothing to wait for") };
    let asked = |url: &str, key: &str| ask(&endpoint(url), key, &case, PATIENCE, &never).unwrap_err();
    for url in [
        "http://judge.example.com/v1/messages",
        "https://user@judge.example.com/v1/messages",
        "file:///v1/messages",
        "http://127.0.0.1:9/v1/embeddings",
        "nonsense",
    ] {
        let refused = asked(url, KEY);
        assert_eq!(refused.attempts, 0, "{refused}");
        assert!(!refused.why.contains(KEY), "{refused}");
    }
    for key in ["", "two\nlines", "with space", "schlüssel"] {
        let refused = asked("http://127.0.0.1:9/v1/messages", key);
        assert!(refused.attempts == 0 && refused.why.contains("JUDGE_API_KEY"), "{refused}");
    }
}

#[test]
fn nobody_there_is_unreachable() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let case = Case { task: "T", title: "", criteria: &[], claim: "", validation: "", evidence: "", test_edits: "" };
    let url = format!("http://127.0.0.1:{free}/v1/messages");
    let unreachable = ask(&endpoint(&url), KEY, &case, PATIENCE, &|_| ControlFlow::Continue(())).unwrap_err();
    assert_eq!(unreachable.attempts, 4, "{unreachable}");
}

#[test]
fn one_that_does_not_speak_tls_where_it_should_gets_no_key() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://127.0.0.1:{}/v1/messages", listener.local_addr().unwrap().port());
    let heard = std::thread::spawn(move || {
        let mut all = Vec::new();
        for stream in listener.incoming().take(4) {
            let mut stream = stream.unwrap();
            let mut some = [0; 4096];
            let count = stream.read(&mut some).unwrap();
            all.extend_from_slice(&some[..count]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
        }
        all
    });
    let case = Case { task: "T", title: "", criteria: &[], claim: "", validation: "", evidence: "", test_edits: "" };
    let unreachable = ask(&endpoint(&url), KEY, &case, PATIENCE, &|_| ControlFlow::Continue(())).unwrap_err();
    // However often it was asked, it was asked for its certificate alone.
    for _ in unreachable.attempts..4 {
        let _ = TcpStream::connect(url.trim_start_matches("https://").trim_end_matches("/v1/messages"));
    }
    let heard = String::from_utf8_lossy(&heard.join().unwrap()).into_owned();
    assert!(!heard.is_empty() && !heard.contains(KEY) && !heard.contains("POST"));
}
