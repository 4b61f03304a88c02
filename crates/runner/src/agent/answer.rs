//! The result document in what an agent left.

use super::ended::{Ended, How};
use super::{invocation::Manner, lines};
use crate::fence;
use countersign_domain::plan::payload::{Agent, Preset};

/// The result document: what a program wrote to standard output, or what a known agent gave as its answer, out of its code
/// fence if it is in one. Whether it is a good one is for its contract to say. None from an agent that did not end by itself
/// and well. Secrets of its environment are in neither.
pub fn answer_of(agent: &Agent, ended: &Ended) -> Result<String, String> {
    let hidden = |text| lines::without(text, &ended.secrets);
    said(agent, ended).map(|text| fence::without(&text).to_owned()).map(hidden).map_err(hidden)
}

fn said(agent: &Agent, ended: &Ended) -> Result<String, String> {
    let name = match agent.preset {
        Some(Preset::Claude) => "`claude`".to_owned(),
        Some(Preset::Codex) => "`codex`".to_owned(),
        None => agent.command.as_ref().and_then(|words| words.first()).map_or_else(
            || "the agent".to_owned(),
            |word| format!("`{}`", word.as_str().chars().take(80).collect::<String>().escape_debug()),
        ),
    };
    let seconds = ended.took.as_secs();
    match ended.how {
        How::TimedOut => return Err(format!("{name} was not done in time and was ended after {seconds} s")),
        How::Stopped => return Err(format!("{name} was stopped after {seconds} s")),
        How::Signaled(signal) => return Err(format!("{name} was ended by signal {signal}{}", tail(ended))),
        How::Exited(_) => {}
    }
    let answer = match (&ended.manner, &ended.events) {
        (Manner::Claude | Manner::Codex { .. }, Some(events)) => events.answer(ended.last.as_deref()),
        _ if ended.how == How::Exited(0) => program(ended, &name),
        _ => Err(format!("{name} ended with an error")),
    };
    match (answer, ended.how) {
        // What it says of its error is worth more than the number.
        (Err(said), How::Exited(code)) if code != 0 => Err(format!("{said} (exit code {code}){}", tail(ended))),
        (Ok(_), How::Exited(code)) if code != 0 => {
            Err(format!("{name} gave an answer and ended with exit code {code}, so it does not count{}", tail(ended)))
        }
        (answer, _) => answer,
    }
}

fn program(ended: &Ended, name: &str) -> Result<String, String> {
    if ended.overflow {
        let bytes = ended.out_bytes;
        return Err(format!("{name} wrote {bytes} bytes to standard output, which is more than an answer may have"));
    }
    match std::str::from_utf8(&ended.out) {
        Err(error) => Err(format!("{name} wrote what is not UTF-8, at byte {}", error.valid_up_to())),
        Ok(text) if text.trim().is_empty() => {
            Err(format!("{name} ended well and wrote no result to standard output{}", tail(ended)))
        }
        Ok(text) => Ok(text.to_owned()),
    }
}

/// The last line of standard error, where there is one.
fn tail(ended: &Ended) -> String {
    let last = ended.err_tail.lines().rev().find(|line| !line.trim().is_empty());
    last.map(|line| format!("; last on standard error: {}", line.chars().take(300).collect::<String>()))
        .unwrap_or_default()
}
