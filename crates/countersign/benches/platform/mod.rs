//! A server that speaks as GitHub does, makes whatever it is asked to make, and takes a fixed time for each answer.

use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
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
        if reader.read_exact(&mut vec![0; length]).is_err() {
            return;
        }
        let began = Instant::now();
        seen.requests.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(latency);
        let (status, body) = if first.starts_with("GET") { (404, json!({ "message": "Not Found" })) } else { made() };
        let body = body.to_string();
        let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        // Before it is sent, so that whoever has the answer finds the time that it took.
        seen.took.fetch_add(began.elapsed().as_nanos() as u64, Ordering::Relaxed);
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn made() -> (u16, serde_json::Value) {
    let sha = "1f0c3a5b7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80";
    (
        201,
        json!({ "ref": "refs/heads/fix", "node_id": "N_7", "id": 7, "object": { "sha": sha, "type": "commit" }, "sha": sha }),
    )
}
