//! Words for what is refused before there is a request: one that cannot be taken apart is answered where that is tried, with a status
//! and nothing else. On its way out it gets the body that every refusal of this server has.

use super::problem::Problem;
use axum::http::StatusCode;
use countersign_diagnostic::Code;
use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How an answer ends that has a head alone.
const EMPTY: &str = "content-length: 0\r\n";

/// A connection on which nothing is refused without a word.
pub struct Words<S> {
    stream: S,
    /// What is written in the place of what was to be.
    instead: Vec<u8>,
}

impl<S> Words<S> {
    /// Over a stream.
    pub fn over(stream: S) -> Self {
        Self { stream, instead: Vec::new() }
    }
}

/// The whole answer, if this is one without a word. Nothing that is stored can pass for it: what is said of that has no line's ends
/// of this kind.
fn worded(bytes: &[u8]) -> Option<Vec<u8>> {
    let head = std::str::from_utf8(bytes).ok()?.strip_suffix("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.1 ")?.get(..3)?;
    let problem = match status {
        "400" => {
            let why = "this is no request of HTTP/1.1 that can be read";
            Problem::new(StatusCode::BAD_REQUEST, Code::SchemaInvalid.as_str(), why, "send it as RFC 9112 has it")
        }
        "431" => Problem::long_head(),
        _ => return None,
    };
    let head = format!("{head}\r\n");
    let (before, after) = head.split_once(EMPTY).filter(|(_, after)| !after.contains("\r\n\r\n"))?;
    let body = problem.body();
    Some(
        format!(
            "{before}{after}cache-control: no-store\r\ncontent-type: {}\r\nx-content-type-options: nosniff\r\ncontent-length: {}\r\n\r\n{body}",
            super::problem::MEDIA_TYPE,
            body.len()
        )
        .into_bytes(),
    )
}

impl<S: AsyncWrite + Unpin> Words<S> {
    /// Writes what comes first.
    fn poll_instead(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        while !self.instead.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, &self.instead))?;
            if written == 0 {
                return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into()));
            }
            self.instead.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Words<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Words<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        ready!(self.poll_instead(context))?;
        if let Some(worded) = worded(bytes) {
            self.instead = worded;
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        all: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let mut filled = all.iter().filter(|it| !it.is_empty());
        if let (Some(only), None) = (filled.next(), filled.next()) {
            return self.poll_write(context, only);
        }
        ready!(self.poll_instead(context))?;
        Pin::new(&mut self.stream).poll_write_vectored(context, all)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_instead(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_instead(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn only_what_has_no_words_gets_some() {
        let silent =
            "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\ndate: x\r\n\r\n";
        let said = String::from_utf8(worded(silent.as_bytes()).unwrap()).unwrap();
        let (head, body) = said.split_once("\r\n\r\n").unwrap();
        assert!(
            head.starts_with("HTTP/1.1 431 ") && head.ends_with(&format!("content-length: {}", body.len())),
            "{said}"
        );
        assert_eq!(head.matches("content-length").count(), 1, "{said}");
        assert!(head.contains("connection: close\r\ndate: x\r\n"), "{said}");
        for other in [
            silent.replace("431", "304"),
            silent.replace("content-length: 0", "content-length: 2"),
            silent.replace("HTTP/1.1", "more HTTP/1.1"),
            format!("{silent}{{}}"),
            format!("{silent}{silent}"),
        ] {
            assert_eq!(worded(other.as_bytes()), None, "{other}");
        }
    }
}
