//! A server that speaks as GitHub does, makes whatever it is asked to make, and takes a fixed time for each answer.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub struct Platform {
    pub url: String,
    seen: Arc<Seen>,
}

/// What it has done so far.
#[derive(Default)]
struct Seen {
    requests: AtomicU64,
    /// Since somebody asked last, in nanoseconds.
    took: AtomicU64,
    /// The refs that were made, and what they are at.
    refs: Mutex<BTreeMap<String, String>>,
}

impl Platform {
    /// It ends with the process.
    pub fn start(latency: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<Seen> = Arc::default();
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, latency, &seen));
            }
        });
        Self { url, seen }
    }

    /// How long it took for its answers since this was asked last, in milliseconds.
    pub fn took(&self) -> f64 {
        self.seen.took.swap(0, Ordering::Relaxed) as f64 / 1e6
    }

    /// How many requests came.
    pub fn requests(&self) -> u64 {
        self.seen.requests.load(Ordering::Relaxed)
    }
}

/// Answers the requests of one connection, one after the other, until it is closed.
fn serve(mut stream: TcpStream, latency: Duration, seen: &Seen) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let (mut first, mut length) = (String::new(), 0);
        if reader.read_line(&mut first).is_ok_and(|read| read == 0) {
            return;
        }
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).is_err() || line.trim().is_empty() {
                break;
            }
            if let Some(found) = line.to_lowercase().strip_prefix("content-length:") {
                length = found.trim().parse().unwrap_or(0);
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let began = Instant::now();
        seen.requests.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(latency);
        let (status, body) = seen.answer(&first, &body);
        let body = body.to_string();
        let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        // Before it is sent, so that whoever has the answer finds the time that it took.
        seen.took.fetch_add(began.elapsed().as_nanos() as u64, Ordering::Relaxed);
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

impl Seen {
    fn answer(&self, first: &str, body: &Value) -> (u16, Value) {
        let shown = |name: &str, sha: &str| json!({ "ref": name, "object": { "sha": sha, "type": "commit" } });
        let mut refs = self.refs.lock().unwrap();
        let path = first.split(' ').nth(1).unwrap_or_default();
        match (first.starts_with("GET"), path.split_once("/git/ref/")) {
            (false, _) => {
                let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
                refs.insert(text("ref"), text("sha"));
                (201, shown(&text("ref"), &text("sha")))
            }
            (true, Some((_, name))) => match refs.get_key_value(&format!("refs/{name}")) {
                Some((name, sha)) => (200, shown(name, sha)),
                None => (404, json!({ "message": "Not Found" })),
            },
            (true, None) => (200, json!({})),
        }
    }
}
