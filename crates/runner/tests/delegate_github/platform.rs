//! A platform that answers as a test says, and the instructions that are carried out on it.

use countersign_contract::diagnostic::Source;
use countersign_contract::{Checker, Outside, Request, Settings, check};
use countersign_domain::delegation::command::Acted;
use countersign_domain::delegation::payload::DelegationInstruction;
use countersign_runner::delegate::{Attempt, Executor, GithubExecutor, Seen};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub const SHA: &str = "1f0c3a5b7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80";
/// Stands for the mark of the instruction that is at hand, in what the platform is asked and what it answers.
pub const MARK: &str = "<!-- the mark -->";

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    pub path: String,
    pub body: Value,
    pub headers: String,
}

pub type Headers = &'static [(&'static str, &'static str)];

/// What the platform does with a request.
pub enum Does {
    Answers(u16, Headers, Value),
    /// It answers with a text that is no JSON, or with nothing.
    Mumbles(u16, &'static str),
    /// It reads the request and closes the connection.
    Cuts,
    /// It answers too late.
    Dawdles,
}

pub type Handler = dyn Fn(&Asked, usize) -> Does + Send + Sync;

pub struct Platform {
    pub url: String,
    /// The mark of the instruction that is at hand.
    mark: Arc<Mutex<String>>,
    asked: Arc<Mutex<Vec<Asked>>>,
    waited: Arc<Mutex<Vec<u64>>>,
}

impl Platform {
    /// A platform whose answers depend on the request and on how many came before it.
    pub fn new(handler: impl Fn(&Asked, usize) -> Does + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (seen, handler): (_, Arc<Handler>) = (Arc::clone(&asked), Arc::new(handler));
        let mark: Arc<Mutex<String>> = Arc::new(Mutex::new(MARK.to_owned()));
        let known = Arc::clone(&mark);
        // It ends with the test.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serve(stream, &seen, &known, handler.as_ref());
            }
        });
        Self { url, mark, asked, waited: Arc::default() }
    }

    pub fn executor(&self) -> GithubExecutor {
        let waited = Arc::clone(&self.waited);
        let wait = move |time: Duration| waited.lock().unwrap().push(time.as_secs());
        let patience = (Duration::from_millis(700), Duration::from_secs(100));
        GithubExecutor::waiting(&self.url, "token-of-a-test", patience, wait).unwrap()
    }

    /// Looks at what was answered for an instruction.
    pub fn verify(&self, instruction: &DelegationInstruction, response: &Value) -> Result<Seen, String> {
        *self.mark.lock().unwrap() = GithubExecutor::mark(instruction);
        self.executor().verify(instruction, response)
    }

    pub fn act(&self, instruction: &DelegationInstruction, again: bool) -> Value {
        *self.mark.lock().unwrap() = GithubExecutor::mark(instruction);
        let acted = self.executor().act(instruction, &attempt(again)).unwrap();
        // It can be answered with.
        let text = acted.to_string();
        let read = check::read::<Acted>(&checker(), Source { name: "acted", text: &text });
        assert!(read.is_ok(), "{read:?}\n{acted:#}");
        acted
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The requests that change something.
    pub fn changes(&self) -> Vec<(String, String)> {
        let asked = self.asked().into_iter().filter(|it| it.method != "GET");
        asked.map(|it| (it.method, it.path)).collect()
    }

    pub fn waited(&self) -> Vec<u64> {
        self.waited.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, seen: &Mutex<Vec<Asked>>, mark: &Mutex<String>, handler: &Handler) {
    let mark = mark.lock().unwrap().clone();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut first, mut headers) = (String::new(), String::new());
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        headers.push_str(&line.to_lowercase());
    }
    let length = headers.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
    let body = String::from_utf8_lossy(&body).replace(&mark, MARK);
    let asked = Asked { method, path, body: serde_json::from_str(&body).unwrap_or_default(), headers };
    let before = {
        let mut seen = seen.lock().unwrap();
        seen.push(asked.clone());
        seen.len() - 1
    };
    let mut stream = stream;
    let mut answer = |status: u16, headers: Headers, body: &str| {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head =
            format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n", body.len());
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    };
    match handler(&asked, before) {
        Does::Answers(204, headers, _) => answer(204, headers, ""),
        Does::Answers(status, headers, body) => answer(status, headers, &body.to_string().replace(MARK, &mark)),
        Does::Mumbles(status, body) => answer(status, &[], body),
        Does::Cuts => {}
        Does::Dawdles => {
            // Held open past the patience of whoever asks, beside the next request.
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_secs(2));
                drop(stream);
            });
        }
    }
}

pub fn attempt(again: bool) -> Attempt<'static> {
    Attempt { again, ..Attempt::default() }
}

pub fn checker() -> Checker<'static> {
    static SETTINGS: std::sync::LazyLock<Settings> = std::sync::LazyLock::new(Settings::default);
    Checker { contracts: countersign_domain::contracts(), foreign: &[], settings: &SETTINGS, raised: &[] }
}

pub fn instruction(action: &str, parameters: Value) -> DelegationInstruction {
    instruction_with(action, parameters, &json!({}))
}

/// The same with other words in it.
pub fn instruction_with(action: &str, parameters: Value, patch: &Value) -> DelegationInstruction {
    let mut document = (countersign_domain::contract("delegation_instruction").unwrap().example)();
    document["ACTION"] = json!({ "TYPE": action, "PARAMETERS": parameters });
    countersign_contract::prove::merge(&mut document, patch);
    let (text, outside) = (document.to_string(), Outside::default());
    let checked = check(&checker(), &Request::alone(Source { name: "i.json", text: &text }, &outside));
    let record = checked.records.first().and_then(|it| it.downcast_ref::<DelegationInstruction>()).cloned();
    record.unwrap_or_else(|| panic!("{action}: {:?}", checked.decision))
}

pub fn issue() -> DelegationInstruction {
    instruction("CREATE_GITHUB_ISSUE", json!({ "TITLE": "t", "BODY": "b" }))
}

/// A platform on which everything works.
pub fn kind(asked: &Asked) -> Does {
    let answers = |status, body| Does::Answers(status, &[], body);
    let thing = json!({
        "id": 7, "node_id": "N_7", "number": 42, "state": "closed", "merged": true,
        "html_url": "https://github.com/acme/shop/pull/42", "labels": [{ "name": "other" }],
        "assignees": [{ "login": "Ana" }], "requested_reviewers": [],
        "created_at": "2025-12-25T10:30:09Z", "updated_at": "2025-12-25T10:30:09Z",
        "head": { "ref": "fix/x", "repo": { "full_name": "Acme/Shop" } }, "sha": SHA,
    });
    match (asked.method.as_str(), asked.path.as_str()) {
        ("GET", path) if path.contains("/milestones") => answers(200, json!([{ "title": "June", "number": 3 }])),
        ("GET", path) if path.contains('?') => answers(200, json!([])),
        ("GET" | "PATCH" | "PUT", _) => answers(200, thing),
        ("DELETE", _) => answers(204, json!(null)),
        (_, path) if path.ends_with("/dispatches") => answers(204, json!(null)),
        (_, path) if path.ends_with("/cancel") => answers(202, json!({})),
        _ => answers(201, thing),
    }
}
