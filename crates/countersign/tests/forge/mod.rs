//! A platform that does what it is asked, as GitHub documents it, and keeps it: what was made can be read again. It can hold a
//! request before or after it has done it, so that whoever sent it can be killed meanwhile.

#![allow(dead_code, reason = "each test file uses its part of the platform")]

mod request;

use request::Request;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

pub const SHA: &str = "1f0c3a5b7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80";
const ROOT: &str = "/repos/acme/shop";

#[derive(Default)]
struct State {
    changes: Vec<String>,
    reads: Vec<String>,
    /// Issues and pull requests share their numbers.
    numbered: BTreeMap<u64, Value>,
    /// Lists by their path: comments, reviews, dependencies.
    lists: BTreeMap<String, Vec<Value>>,
    refs: BTreeMap<String, Value>,
    tags: BTreeMap<String, Value>,
    protection: BTreeMap<String, Value>,
    runs: BTreeMap<u64, Value>,
    last: u64,
    /// What is answered instead, by the beginning of the request.
    instead: Vec<(String, u16, Value)>,
    /// The end of the request that is held, whether it is done before that, and how many like it are let through first.
    hold: Option<(String, bool, usize)>,
    /// How many requests were held so far.
    held: usize,
}

pub struct Forge {
    pub url: String,
    state: Arc<(Mutex<State>, Condvar)>,
}

impl Forge {
    pub fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut state = State { last: 100, ..State::default() };
        for number in [5, 42, 43, 44] {
            state.numbered.insert(number, thing(number, json!({ "title": "t", "body": "b" })));
        }
        for name in ["main", "fix/x"] {
            let full = format!("refs/heads/{name}");
            state.refs.insert(full.clone(), json!({ "ref": full, "object": { "type": "commit", "sha": SHA } }));
        }
        state.runs.insert(9, json!({ "id": 9, "status": "in_progress", "conclusion": null }));
        let state = Arc::new((Mutex::new(state), Condvar::new()));
        let shared = Arc::clone(&state);
        // It ends with the test.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &state));
            }
        });
        Self { url, state }
    }

    pub fn changes(&self) -> Vec<String> {
        self.state.0.lock().unwrap().changes.clone()
    }

    pub fn reads(&self) -> Vec<String> {
        self.state.0.lock().unwrap().reads.clone()
    }

    /// From now on, requests that begin so are answered with this.
    pub fn answer(&self, begins: &str, status: u16, body: Value) {
        self.state.0.lock().unwrap().instead.push((begins.to_owned(), status, body));
    }

    pub fn answer_as_usual(&self) {
        self.state.0.lock().unwrap().instead.clear();
    }

    /// Somebody else makes a branch.
    pub fn make_branch(&self, name: &str, sha: &str) {
        let full = format!("refs/heads/{name}");
        let made = json!({ "ref": full, "object": { "type": "commit", "sha": sha } });
        self.state.0.lock().unwrap().refs.insert(full, made);
    }

    pub fn has_branch(&self, name: &str) -> bool {
        self.state.0.lock().unwrap().refs.contains_key(&format!("refs/heads/{name}"))
    }

    /// Holds a request that ends so, before it is done or after; some like it are let through first.
    pub fn hold(&self, ends: &str, done: bool, after: usize) {
        self.state.0.lock().unwrap().hold = Some((ends.to_owned(), done, after));
    }

    /// Waits until a request is held, and lets everything else through from then on.
    pub fn until_held(&self) {
        let (state, changed) = &*self.state;
        let mut state = state.lock().unwrap();
        let patience = std::time::Duration::from_secs(60);
        while state.held == 0 {
            let (now, late) = changed.wait_timeout(state, patience).unwrap();
            assert!(!late.timed_out(), "nothing was held: {:?}", now.changes);
            state = now;
        }
        state.held = 0;
    }
}

fn thing(number: u64, with: Value) -> Value {
    let mut thing = json!({
        "id": number * 10, "node_id": format!("N_{number}"), "number": number, "state": "open", "merged": false,
        "assignees": [], "labels": [], "requested_reviewers": [], "created_at": now(), "updated_at": now(),
        "html_url": format!("https://github.com/acme/shop/issues/{number}"),
        "head": { "ref": "fix/x", "sha": SHA, "repo": { "full_name": "acme/shop" } }, "mergeable_state": "clean",
    });
    for (name, value) in with.as_object().unwrap() {
        thing[name] = value.clone();
    }
    thing
}

fn now() -> String {
    jiff::Timestamp::from_second(jiff::Timestamp::now().as_second()).unwrap().to_string()
}

fn serve(mut stream: TcpStream, shared: &(Mutex<State>, Condvar)) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let Request { method, path, body } = Request::read(&mut reader);
    let line = format!("{method} {path}");
    let (state, changed) = shared;
    let (status, answer) = {
        let mut state = state.lock().unwrap();
        let held = match &mut state.hold {
            Some((ends, _, after)) if line.ends_with(ends.as_str()) && *after > 0 => {
                *after -= 1;
                None
            }
            Some((ends, done, _)) if line.ends_with(ends.as_str()) => Some(*done),
            _ => None,
        };
        if held.is_some() {
            state.hold = None;
            state.held += 1;
        }
        let answered = if held == Some(false) { None } else { Some(state.answer(&method, &path, &line, &body)) };
        if held.is_some() {
            changed.notify_all();
            drop(state);
            // Whoever sent it is killed, which ends the connection.
            let _ = reader.read(&mut [0]);
            return;
        }
        answered.unwrap()
    };
    let text = if answer.is_null() { String::new() } else { answer.to_string() };
    let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{text}", text.len());
    let _ = stream.write_all(head.as_bytes());
}

impl State {
    fn answer(&mut self, method: &str, path: &str, line: &str, body: &Value) -> (u16, Value) {
        if method == "GET" { &mut self.reads } else { &mut self.changes }.push(line.to_owned());
        let instead = self.instead.iter().find(|(begins, ..)| line.starts_with(begins.as_str()));
        if let Some((_, status, body)) = instead {
            return (*status, body.clone());
        }
        let absent = || (404, json!({ "message": "Not Found" }));
        if path == "/user" {
            return (200, json!({ "login": "ana" }));
        }
        let plain = path.split('?').next().unwrap().replace("%2F", "/");
        let Some(rest) = plain.strip_prefix(ROOT) else { return absent() };
        let parts: Vec<&str> = rest.split('/').skip(1).collect();
        let number = parts.get(1).and_then(|it| it.parse::<u64>().ok());
        match (method, parts.as_slice()) {
            ("GET", []) => (
                200,
                json!({
                    "full_name": "acme/shop", "default_branch": "main", "archived": false, "has_issues": true,
                    "permissions": { "admin": true, "push": true, "triage": true, "pull": true },
                }),
            ),
            ("POST", ["issues" | "pulls"]) => {
                self.last += 1;
                let made = thing(self.last, body.clone());
                self.numbered.insert(self.last, made.clone());
                (201, made)
            }
            ("GET", ["issues" | "pulls"]) => (200, self.numbered.values().rev().cloned().collect()),
            ("GET", ["issues" | "pulls", _]) => {
                self.numbered.get(&number.unwrap()).map_or_else(absent, |it| (200, it.clone()))
            }
            ("PATCH", ["issues" | "pulls", _]) => {
                let Some(thing) = self.numbered.get_mut(&number.unwrap()) else { return absent() };
                body.as_object().unwrap().iter().for_each(|(name, value)| thing[name] = value.clone());
                (200, thing.clone())
            }
            ("PUT", ["pulls", _, "merge"]) => {
                let Some(thing) = self.numbered.get_mut(&number.unwrap()) else { return absent() };
                (thing["merged"], thing["state"]) = (json!(true), json!("closed"));
                (200, json!({ "merged": true, "sha": SHA }))
            }
            ("POST", ["issues", _, what @ ("labels" | "assignees")])
            | ("POST", ["pulls", _, what @ "requested_reviewers"]) => {
                let Some(thing) = self.numbered.get_mut(&number.unwrap()) else { return absent() };
                let (field, name) = match *what {
                    "labels" => ("labels", "name"),
                    "assignees" => ("assignees", "login"),
                    _ => ("reviewers", "login"),
                };
                let more = body[field].as_array().unwrap().iter().map(|it| json!({ name: it }));
                let list = thing[*what].as_array_mut().unwrap();
                list.extend(more);
                (201, thing.clone())
            }
            ("DELETE", ["issues", _, "labels", label]) => {
                let Some(thing) = self.numbered.get_mut(&number.unwrap()) else { return absent() };
                let list = thing["labels"].as_array_mut().unwrap();
                let before = list.len();
                list.retain(|it| it["name"] != *label);
                if list.len() == before { absent() } else { (204, Value::Null) }
            }
            ("POST", ["issues" | "pulls", _, "comments" | "reviews"])
            | ("POST", ["issues", _, "dependencies", "blocked_by"]) => {
                self.last += 1;
                let mut made = thing(self.last, body.clone());
                if let Some(other) = body["issue_id"].as_u64() {
                    made["number"] = json!(other / 10);
                }
                self.lists.entry(rest.to_owned()).or_default().push(made.clone());
                (201, made)
            }
            ("GET", ["issues" | "pulls", _, "comments" | "reviews"])
            | ("GET", ["issues", _, "dependencies", "blocked_by"]) => {
                (200, self.lists.get(rest).cloned().unwrap_or_default().into())
            }
            ("POST", ["git", "refs"]) => {
                let full = body["ref"].as_str().unwrap().to_owned();
                if self.refs.contains_key(&full) {
                    return (422, json!({ "message": "Reference already exists" }));
                }
                let sha = body["sha"].as_str().unwrap();
                let kind = if self.tags.contains_key(sha) { "tag" } else { "commit" };
                let made = json!({ "ref": full, "object": { "type": kind, "sha": sha } });
                self.refs.insert(full, made.clone());
                (201, made)
            }
            ("GET", ["git", "ref", ..]) => {
                let full = format!("refs/{}", &rest["/git/ref/".len()..]);
                self.refs.get(&full).map_or_else(absent, |it| (200, it.clone()))
            }
            ("DELETE", ["git", "refs", ..]) => match self.refs.remove(&rest["/git/".len()..]) {
                Some(_) => (204, Value::Null),
                None => (422, json!({ "message": "Reference does not exist" })),
            },
            ("POST", ["git", "tags"]) => {
                let sha = format!("{:040x}", self.tags.len() + 1);
                let made = json!({ "sha": sha, "tag": body["tag"], "message": body["message"], "object": { "sha": body["object"] } });
                self.tags.insert(sha, made.clone());
                (201, made)
            }
            ("GET", ["git", "tags", sha]) => self.tags.get(*sha).map_or_else(absent, |it| (200, it.clone())),
            ("GET", ["git", "commits", SHA]) => (200, json!({ "sha": SHA })),
            ("GET", ["commits", _]) => (200, json!({ "sha": SHA })),
            ("GET", ["branches", .., "protection"]) => {
                let name = rest["/branches/".len()..].trim_end_matches("/protection");
                self.protection.get(name).map_or_else(absent, |it| (200, it.clone()))
            }
            ("PUT", ["branches", .., "protection"]) => {
                let name = rest["/branches/".len()..].trim_end_matches("/protection").to_owned();
                let mut kept = json!({ "enforce_admins": { "enabled": body["enforce_admins"] == true } });
                for part in ["required_status_checks", "required_pull_request_reviews", "restrictions"] {
                    if !body[part].is_null() {
                        kept[part] = body[part].clone();
                    }
                }
                self.protection.insert(name, kept.clone());
                (200, kept)
            }
            ("GET", ["branches", ..]) => {
                let name = &rest["/branches/".len()..];
                match self.refs.contains_key(&format!("refs/heads/{name}")) {
                    true => (200, json!({ "name": name, "protected": self.protection.contains_key(name) })),
                    false => absent(),
                }
            }
            ("GET", ["actions", "workflows", id]) => (200, json!({ "id": 7, "name": id, "state": "active" })),
            ("POST", ["actions", "workflows", _, "dispatches"]) => {
                self.last += 1;
                let run = json!({
                    "id": self.last, "event": "workflow_dispatch", "head_branch": body["ref"], "head_sha": SHA,
                    "created_at": now(), "actor": { "login": "ana" }, "triggering_actor": { "login": "ana" },
                    "status": "queued", "conclusion": null,
                });
                self.runs.insert(self.last, run);
                (204, Value::Null)
            }
            ("GET", ["actions", "workflows", _, "runs"]) => {
                let runs: Vec<&Value> = self.runs.values().filter(|it| it["event"] == "workflow_dispatch").collect();
                (200, json!({ "total_count": runs.len(), "workflow_runs": runs }))
            }
            ("GET", ["actions", "runs", id]) => {
                self.runs.get(&id.parse().unwrap()).map_or_else(absent, |it| (200, it.clone()))
            }
            ("POST", ["actions", "runs", id, what @ ("cancel" | "rerun")]) => {
                let Some(run) = self.runs.get_mut(&id.parse().unwrap()) else { return absent() };
                match *what {
                    "cancel" => (run["status"], run["conclusion"]) = (json!("completed"), json!("cancelled")),
                    _ => run["run_started_at"] = json!(now()),
                }
                (202, json!({}))
            }
            _ => absent(),
        }
    }
}
