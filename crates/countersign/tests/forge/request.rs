//! A request of HTTP as it came, for programs that answer as a test says.

#![allow(dead_code, reason = "each test file uses its part of it")]

use serde_json::Value;
use std::io::BufRead;

/// What was asked for.
pub struct Request {
    pub method: String,
    pub path: String,
    /// Null, if there is none that is JSON.
    pub body: Value,
}

impl Request {
    /// Reads one request to its end.
    pub fn read(from: &mut impl BufRead) -> Self {
        let (mut first, mut length) = (String::new(), 0);
        from.read_line(&mut first).unwrap();
        loop {
            let mut line = String::new();
            from.read_line(&mut line).unwrap();
            if let Some(found) = line.to_lowercase().strip_prefix("content-length:") {
                length = found.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body).unwrap();
        let mut words = first.split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        Self { method, path, body: serde_json::from_slice(&body).unwrap_or_default() }
    }
}
