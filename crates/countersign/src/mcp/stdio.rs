//! The server over standard input and output: one message a line, for one client.
//!
//! A line that is no message is answered with an error of the protocol, and the next one is read. When standard input ends,
//! or the client that started this is gone, what was asked is still answered, and the server ends.

use super::{Caller, Server, Shared};
use crate::hook::halves;
use countersign_diagnostic::visible_json;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, GetMeta, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt};
use serde_json::Value;
use std::io::{BufRead, Write};
use std::sync::Arc;
use tokio::sync::{Notify, mpsc};

/// How many lines wait to be read.
const WAITING_MAX: usize = 64;
/// How much longer a message may be than the longest document: its other arguments, and what escaping adds.
const AROUND_DOCUMENT: usize = 1 << 20;
/// How often it is looked whether the client is still there.
#[cfg(unix)]
const LOOK_FOR_CLIENT: std::time::Duration = std::time::Duration::from_secs(1);

/// Serves until standard input ends.
pub fn serve(shared: Shared, caller: Caller) -> anyhow::Result<()> {
    let line_max = shared.project.settings.size_max.saturating_add(AROUND_DOCUMENT);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(async move {
        let lines = Lines::open(line_max);
        match Server::new(shared, caller).serve(lines).await {
            Ok(running) => running.waiting().await.map(|_| ()).map_err(anyhow::Error::from),
            // A client that goes before it says anything is no fault.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    });
    // What is still being read from standard input is not waited for.
    runtime.shutdown_background();
    served
}

/// What came in.
enum Incoming {
    Line(Vec<u8>),
    TooLong,
    End,
}

/// Standard input and output as lines.
struct Lines {
    incoming: mpsc::Receiver<Incoming>,
    line_max: usize,
    /// Whether the client has said which revision it speaks. Before that nothing but requests has a meaning.
    begun: bool,
    /// Nobody reads standard output any more.
    deaf: Arc<Notify>,
}

impl Lines {
    fn open(line_max: usize) -> Self {
        let (sender, incoming) = mpsc::channel(WAITING_MAX);
        watch_client(sender.clone());
        std::thread::spawn(move || read_lines(&mut std::io::stdin().lock(), line_max, &sender));
        Self { incoming, line_max, begun: false, deaf: Arc::default() }
    }

    /// The message in a line. One that is none is answered.
    async fn message(&mut self, line: &[u8]) -> Option<ClientJsonRpcMessage> {
        if line.trim_ascii().is_empty() {
            return None;
        }
        let message = match halves::read::<ClientJsonRpcMessage>(line) {
            Ok(message) => message,
            Err(_) => {
                let value = halves::read::<Value>(line);
                let error = match &value {
                    Ok(_) => ErrorData::invalid_request("this is no request of JSON-RPC 2.0", None),
                    Err(error) => ErrorData::parse_error(format!("this is no JSON: {error}"), None),
                };
                let id =
                    value.ok().and_then(|value| serde_json::from_value::<RequestId>(value.get("id")?.clone()).ok());
                self.say(ServerJsonRpcMessage::error(error, id)).await;
                return None;
            }
        };
        self.begun |= begins(&message);
        let means_something = self.begun || matches!(message, ClientJsonRpcMessage::Request(_));
        means_something.then_some(message)
    }

    async fn say(&mut self, message: ServerJsonRpcMessage) {
        // Who does not read is noticed below.
        let _ = self.send(message).await;
    }
}

/// Whether a message says which revision of the protocol is spoken from here on.
fn begins(message: &ClientJsonRpcMessage) -> bool {
    match message {
        ClientJsonRpcMessage::Request(it) => match &it.request {
            ClientRequest::InitializeRequest(_) => true,
            ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
            request => request.get_meta().protocol_version().is_some(),
        },
        _ => false,
    }
}

impl Transport<RoleServer> for Lines {
    type Error = std::io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
        let deaf = Arc::clone(&self.deaf);
        async move {
            let written = match serde_json::to_string(&message) {
                Ok(text) => tokio::task::spawn_blocking(move || write_line(&text)).await.map_err(std::io::Error::other),
                Err(error) => Err(error.into()),
            };
            let written = written.and_then(|written| written);
            if written.is_err() {
                deaf.notify_one();
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let deaf = Arc::clone(&self.deaf);
            let incoming = tokio::select! {
                incoming = self.incoming.recv() => incoming?,
                () = deaf.notified() => return None,
            };
            match incoming {
                Incoming::Line(line) => {
                    if let Some(message) = self.message(&line).await {
                        return Some(message);
                    }
                }
                Incoming::TooLong => {
                    let why = format!("a message may have {} bytes, and this one has more", self.line_max);
                    self.say(ServerJsonRpcMessage::error(ErrorData::invalid_request(why, None), None)).await;
                }
                Incoming::End => {
                    // Whoever asks again is told the same.
                    self.incoming.close();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn write_line(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(visible_json(text).as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Reads lines until there are none. Of one that is too long no more than that is ever in memory.
fn read_lines(from: &mut impl BufRead, line_max: usize, to: &mpsc::Sender<Incoming>) {
    let mut line = Vec::new();
    let mut too_long = false;
    while let Ok(part) = from.fill_buf() {
        if part.is_empty() {
            break;
        }
        let end = part.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(part.len(), |end| end + 1);
        too_long |= line.len() + taken > line_max;
        if too_long {
            line.clear();
        } else {
            line.extend_from_slice(&part[..taken]);
        }
        from.consume(taken);
        if end.is_some() {
            let whole = std::mem::take(&mut line);
            let incoming = if std::mem::take(&mut too_long) { Incoming::TooLong } else { Incoming::Line(whole) };
            if to.blocking_send(incoming).is_err() {
                return;
            }
        }
    }
    // What has no line break at its end may be half of something; a client that closes in good order ends its lines.
    let _ = to.blocking_send(Incoming::End);
}

/// Ends the server when the process that started it is gone, even if somebody else still holds its standard input.
#[cfg(unix)]
fn watch_client(to: mpsc::Sender<Incoming>) {
    let client = rustix::process::getppid();
    std::thread::spawn(move || {
        while !to.is_closed() {
            std::thread::sleep(LOOK_FOR_CLIENT);
            if rustix::process::getppid() != client {
                let _ = to.blocking_send(Incoming::End);
                return;
            }
        }
    });
}

#[cfg(not(unix))]
fn watch_client(_: mpsc::Sender<Incoming>) {}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_to_their_end_and_those_that_are_too_long_are_named() {
        let (sender, mut receiver) = mpsc::channel(16);
        let text = format!("one\n{}\ntwo\r\n\nhalf", "x".repeat(40));
        read_lines(&mut std::io::BufReader::with_capacity(7, text.as_bytes()), 20, &sender);
        drop(sender);
        let mut seen = Vec::new();
        while let Some(incoming) = receiver.blocking_recv() {
            seen.push(match incoming {
                Incoming::Line(line) => String::from_utf8(line).unwrap(),
                Incoming::TooLong => "(too long)".to_owned(),
                Incoming::End => "(end)".to_owned(),
            });
        }
        assert_eq!(seen, ["one\n", "(too long)", "two\r\n", "\n", "(end)"]);
    }
}
