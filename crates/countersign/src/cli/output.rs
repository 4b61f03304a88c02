//! Standard output and standard error, written so that a closed pipe is not a crash.

use std::io::Write;

/// Writes to standard output. A reader that has gone away is not an error of ours.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes a line to standard error.
pub fn say(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = writeln!(out, "{text}");
}
