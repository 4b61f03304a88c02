//! The pair of pipes to the browser. Messages are JSON and end with a zero byte; each asks, answers, or tells of an event.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Instant;

/// How long a message may be. A picture is the longest.
const MESSAGE_MAX: u64 = 64 * 1024 * 1024;
/// How many messages may wait; beyond, the browser waits.
const WAITING_MAX: usize = 1024;

/// Why the browser can be talked to no longer.
#[derive(Debug)]
pub(super) enum Fault {
    /// The time is up.
    Late,
    /// The browser has ended.
    Gone,
    /// Something else.
    Failed(String),
}

/// The pipes, and until when they are used.
pub(super) struct Pipe {
    to: Box<dyn Write + Send>,
    from: Receiver<Value>,
    deadline: Instant,
    last: u64,
}

impl Pipe {
    pub(super) fn new(to: impl Write + Send + 'static, from: impl Read + Send + 'static, deadline: Instant) -> Self {
        let (send, receive) = sync_channel(WAITING_MAX);
        // Read beside, because reading a pipe knows no time limit. It ends with the pipe, or when nobody listens.
        std::thread::spawn(move || {
            let mut from = BufReader::new(from);
            while let Some(message) = read(&mut from) {
                if send.send(message).is_err() {
                    break;
                }
            }
        });
        Self { to: Box::new(to), from: receive, deadline, last: 0 }
    }

    /// Sends a message, and says by which number it will be answered.
    pub(super) fn send(&mut self, session: Option<&str>, method: &str, params: &Value) -> Result<u64, Fault> {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut text = message.to_string().into_bytes();
        text.push(0);
        self.to.write_all(&text).and_then(|()| self.to.flush()).map_err(|_| Fault::Gone)?;
        Ok(self.last)
    }

    /// The next message, or none if there is none until then.
    pub(super) fn next(&mut self, until: Instant) -> Result<Option<Value>, Fault> {
        let now = Instant::now();
        if now >= self.deadline {
            return Err(Fault::Late);
        }
        match self.from.recv_timeout(until.min(self.deadline).saturating_duration_since(now)) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Disconnected) => Err(Fault::Gone),
            Err(RecvTimeoutError::Timeout) if Instant::now() >= self.deadline => Err(Fault::Late),
            Err(RecvTimeoutError::Timeout) => Ok(None),
        }
    }
}

/// One message. None, if the pipe has ended, or carries what is none.
fn read(from: &mut impl BufRead) -> Option<Value> {
    let mut bytes = Vec::new();
    from.by_ref().take(MESSAGE_MAX).read_until(0, &mut bytes).ok()?;
    serde_json::from_slice(bytes.strip_suffix(&[0])?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn pipe(said: &'static [u8]) -> Pipe {
        Pipe::new(std::io::sink(), said, Instant::now() + Duration::from_secs(60))
    }

    #[test]
    fn messages_end_with_a_zero_and_what_is_none_ends_the_pipe() {
        for (said, count) in [
            (&b"{\"id\":1}\0{\"id\":2}\0"[..], 2),
            (b"{\"id\":1}\0{\"id\":", 1),
            (b"{\"id\":1}\0nonsense\0{\"id\":3}\0", 1),
            (b"", 0),
        ] {
            let mut pipe = pipe(said);
            let until = Instant::now() + Duration::from_secs(60);
            for id in 1..=count {
                assert_eq!(pipe.next(until).unwrap().unwrap()["id"], id);
            }
            assert!(matches!(pipe.next(until), Err(Fault::Gone)));
        }
    }

    #[test]
    fn nothing_is_read_after_the_deadline() {
        let mut pipe = Pipe::new(std::io::sink(), &b"{}\0"[..], Instant::now());
        assert!(matches!(pipe.next(Instant::now() + Duration::from_secs(60)), Err(Fault::Late)));
    }
}
