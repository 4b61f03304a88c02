//! A collector on this machine that answers as a test tells it, and a reader of what it got that others wrote.

use super::clients;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

/// The package that OpenTelemetry reads its own messages with.
const PROTO: &str = "opentelemetry-proto==1.45.2";

/// How a request is answered.
#[derive(Debug, Clone, Copy)]
pub enum Reply {
    /// With this status and this `Retry-After`.
    Status(u16, Option<&'static str>),
    /// That two spans were rejected.
    Partly,
    /// Not at all, and the connection stays open.
    Hang,
    /// By closing the connection.
    Close,
}

/// A request that came.
#[derive(Debug, Clone)]
pub struct Request {
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(it, _)| it == name).map_or("", |(_, value)| value)
    }
}

/// A collector. Its thread ends with the test.
pub struct Collector {
    pub url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Collector {
    /// One that takes everything.
    pub fn new() -> Self {
        Self::that(&[Reply::Status(200, None)])
    }

    /// One that answers so, one request after the other; the last answer is for all that follow.
    pub fn that(replies: &'static [Reply]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<Request>>>::default();
        let kept = Arc::clone(&requests);
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let Some(request) = read(&stream) else { continue };
                let count = {
                    let mut kept = kept.lock().unwrap();
                    kept.push(request);
                    kept.len()
                };
                let reply = replies.get(count - 1).or(replies.last()).unwrap();
                answer(&mut stream, *reply);
                if matches!(reply, Reply::Hang) {
                    open.push(stream);
                }
            }
        });
        Self { url, requests }
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// The spans that came, as OpenTelemetry's own package reads them.
    pub fn spans(&self) -> Vec<Value> {
        let requests = self.requests();
        decode(requests.iter().map(|it| (it.header("content-type").to_owned(), it.body.clone())).collect())
    }
}

/// Spans of requests, each with its content type.
pub fn decode(requests: Vec<(String, Vec<u8>)>) -> Vec<Value> {
    let mut reader = Command::new(clients::python_with(PROTO));
    reader.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/collector/decode.py"));
    let mut reader = reader.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = reader.stdin.take().unwrap();
    let lines: String =
        requests.iter().map(|(form, body)| format!("{}\n", json!({ "form": form, "body": base64(body) }))).collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let output = reader.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "what was sent cannot be read");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let number = chunk.iter().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let digit = DIGITS[number >> (18 - 6 * at) & 63];
            text.push(if at <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { path, headers, body })
}

fn answer(stream: &mut TcpStream, reply: Reply) {
    // `partial_success`: two rejected spans, because they are too old.
    const PARTLY: &[u8] = b"\x0a\x0b\x08\x02\x12\x07too old";
    let (status, more, body) = match reply {
        Reply::Hang | Reply::Close => return,
        Reply::Partly => (200, String::new(), PARTLY),
        Reply::Status(status, after) => {
            (status, after.map(|after| format!("retry-after: {after}\r\n")).unwrap_or_default(), &b""[..])
        }
    };
    let head = format!("HTTP/1.1 {status} x\r\n{more}connection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    // Whoever has gone away hears nothing.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}
