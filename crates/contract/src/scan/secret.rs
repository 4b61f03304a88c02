//! Secrets in a text, and the text without them.

use std::ops::{ControlFlow, Range};

use memchr::memmem;

use super::anchor::{self, sweep};
use super::bytes::{backslashes, before, begins, has, quote, run, short_run, tally, white};
use super::mask::cover;
use super::{assignment, value};

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// What it is, in words that can stand in a message and between brackets.
    pub kind: &'static str,
    /// What is to be hidden: the value, not the word before it.
    pub range: Range<usize>,
}

/// Whom a fragment calls when it may be part of a secret.
#[derive(Clone, Copy)]
pub enum Lead {
    /// A token that is known by how it begins.
    Token(&'static Token),
    /// A PEM block.
    Block,
    Bearer,
    Jwt,
    /// The `@` of an address that may have a password in it.
    Url,
    /// An address that is a secret as a whole.
    Hook,
    /// A name such as `password` whose value may follow.
    Name,
}

/// A token that is known by how it begins: one of `heads`, then at least `least` bytes of `class`.
pub struct Token {
    kind: &'static str,
    heads: &'static [&'static str],
    /// Where the anchor's fragment stands in the head.
    offset: usize,
    class: fn(u8) -> bool,
    least: usize,
    /// Its place in what [`pass`] keeps.
    slot: usize,
}

fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}
fn plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}
fn scored(byte: u8) -> bool {
    plain(byte) || byte == b'_'
}
fn dashed(byte: u8) -> bool {
    plain(byte) || byte == b'_' || byte == b'-'
}
fn dotted(byte: u8) -> bool {
    dashed(byte) || byte == b'.'
}

const fn token(
    kind: &'static str,
    heads: &'static [&'static str],
    offset: usize,
    class: fn(u8) -> bool,
    least: usize,
    slot: usize,
) -> Token {
    Token { kind, heads, offset, class, least, slot }
}

pub static AWS: Token = token("aws-key-id", &["AKIA"], 1, upper, 16, 6);
pub static AWS_SESSION: Token = token("aws-key-id", &["ASIA"], 1, upper, 16, 7);
pub static SK: Token = token("sk-key", &["sk-"], 0, dashed, 20, 8);
pub static GITHUB: Token = token("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], 0, plain, 36, 9);
pub static GITHUB_FINE: Token = token("github-token", &["github_pat_"], 3, scored, 22, 10);
pub static GITLAB: Token = token("gitlab-token", &["glpat-"], 0, dotted, 20, 11);
pub static SLACK: Token =
    token("slack-token", &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxe."], 0, dotted, 10, 12);
pub static SLACK_APP: Token = token("slack-token", &["xapp-"], 0, dashed, 10, 13);
pub static GOOGLE: Token = token("google-key", &["AIza"], 0, dashed, 35, 14);
pub static GOOGLE_OAUTH: Token = token("google-token", &["ya29."], 0, dashed, 20, 15);
pub static STRIPE: Token = token("stripe-key", &["sk_live_", "rk_live_"], 2, plain, 16, 16);
pub static NPM: Token = token("npm-token", &["npm_"], 1, plain, 36, 17);

/// A match.
pub struct Found {
    pub kind: &'static str,
    pub range: Range<usize>,
}

/// How often a text is looked through again. What is covered can lay open what stood beside it.
const ROUNDS: usize = 4;

/// All secrets of `text`, in order, none overlapping another. A text in which they are covered has none.
pub fn secrets(text: &str) -> Vec<Secret> {
    let mut found = merge(pass(text));
    for round in 0.. {
        if found.is_empty() {
            break;
        }
        let masked = cover(text, found.iter().map(|it| it.range.clone()).collect());
        let mut more = pass(&masked);
        let Some(first) = more.iter().map(|it| it.range.start).min() else { break };
        // A text that goes on and on was made to; then nothing from there on is worth keeping.
        if round == ROUNDS {
            more.push(Secret { kind: "text", range: first..text.len() });
        }
        found.append(&mut more);
        found = merge(found);
        if round == ROUNDS {
            break;
        }
    }
    found
}

const SLOTS: usize = 18;

/// What one sweep finds, in the order of the sweep.
fn pass(text: &str) -> Vec<Secret> {
    let bytes = text.as_bytes();
    let mut found: Vec<Secret> = Vec::new();
    // What each kind of matcher matched last: without it `sk-sk-sk-…` would be read once for each `sk-`. The
    // sweep goes over a block once for each finder, so that a match further on says nothing of this place.
    let mut last = [const { 0..0 }; SLOTS];
    sweep(bytes, |at, lead| {
        if let anchor::Lead::Secret(lead) = lead
            && let Some(last) = last.get_mut(slot(lead))
            && !last.contains(&at)
            && let Some(it) = find(bytes, at, lead)
        {
            *last = it.range.clone();
            found.push(Secret { kind: it.kind, range: it.range });
        }
        ControlFlow::Continue(())
    });
    found
}

/// Where the last match of a lead is kept. Tokens have one each: where a long one of one kind holds short ones of
/// another, they would make each other forget.
fn slot(lead: Lead) -> usize {
    match lead {
        Lead::Block => 0,
        Lead::Bearer => 1,
        Lead::Jwt => 2,
        Lead::Url => 3,
        Lead::Hook => 4,
        Lead::Name => 5,
        Lead::Token(token) => token.slot,
    }
}

/// Puts matches in order and joins those that overlap. Of two names the more telling one stays: a named value
/// that is also a GitHub token is a GitHub token.
fn merge(mut found: Vec<Secret>) -> Vec<Secret> {
    found.sort_by_key(|it| (it.range.start, it.range.end));
    let mut merged: Vec<Secret> = Vec::with_capacity(found.len());
    for next in found {
        match merged.last_mut() {
            Some(last) if next.range.start < last.range.end => {
                last.range.end = last.range.end.max(next.range.end);
                if matches!(last.kind, assignment::KIND | BEARER) {
                    last.kind = next.kind;
                }
            }
            _ => merged.push(next),
        }
    }
    merged
}

/// `text` with `[REDACTED:kind]` in the place of each secret, or nothing when it has none. What comes back
/// has none.
pub fn redact(text: &str) -> Option<String> {
    let mut clean = replace(text, &secrets(text))?;
    // Taking one secret out can lay another open, by ending a word where none ended before. That a text
    // should go on doing so means that someone made it to, and then nothing of it is worth keeping.
    for _ in 0..3 {
        match replace(&clean, &secrets(&clean)) {
            Some(cleaner) => clean = cleaner,
            None => return Some(clean),
        }
    }
    if secrets(&clean).is_empty() { Some(clean) } else { Some("[REDACTED:text]".to_owned()) }
}

fn replace(text: &str, secrets: &[Secret]) -> Option<String> {
    if secrets.is_empty() {
        return None;
    }
    let mut clean = String::with_capacity(text.len());
    let mut from = 0;
    for secret in secrets {
        clean.push_str(text.get(from..secret.range.start).unwrap_or_default());
        clean.push_str("[REDACTED:");
        clean.push_str(secret.kind);
        clean.push(']');
        from = secret.range.end;
    }
    clean.push_str(text.get(from..).unwrap_or_default());
    Some(clean)
}

/// Whether the anchor at `at` is worth a search, in a text or in a document that spells it.
pub fn stands(bytes: &[u8], at: usize, lead: Lead) -> bool {
    match lead {
        // A value may be spelt with escapes, so that only the frame around it can be judged.
        Lead::Name => assignment::frame(bytes, at).is_some(),
        _ => find(bytes, at, lead).is_some(),
    }
}

fn find(bytes: &[u8], at: usize, lead: Lead) -> Option<Found> {
    match lead {
        Lead::Token(token) => token.find(bytes, at),
        Lead::Block => block(bytes, at),
        Lead::Bearer => bearer(bytes, at),
        Lead::Jwt => jwt(bytes, at),
        Lead::Url => url(bytes, at),
        Lead::Hook => hook(bytes, at),
        Lead::Name => assignment::find(bytes, at),
    }
}

impl Token {
    fn find(&self, bytes: &[u8], at: usize) -> Option<Found> {
        let start = at.checked_sub(self.offset)?;
        let rest = bytes.get(start..)?;
        let head = self.heads.iter().find(|head| rest.starts_with(head.as_bytes()))?;
        if !begins(bytes, start, plain) {
            return None;
        }
        let body = start + head.len();
        // `task-sk-based-naming` goes on in words; `my-sk-` may still have a key glued to it.
        if *head == "sk-" && !begins(bytes, start, dashed) {
            let near = bytes.get(body..short_run(bytes, body, NEAR, self.class))?;
            near.split(|it| !plain(*it)).find(|piece| made(piece))?;
        }
        let end = run(bytes, body, self.class);
        let kind = if has(bytes, start, b"sk-ant-") { "anthropic-key" } else { self.kind };
        (end - body >= self.least).then_some(Found { kind, range: start..end })
    }
}

/// How far a key that is glued to a word is looked at: `sk-` may follow upon `sk-`.
const NEAR: usize = 48;

/// Whether a piece of a name is too long for a word and has a digit: machines make such.
fn made(piece: &[u8]) -> bool {
    piece.len() >= 16 && piece.iter().any(u8::is_ascii_digit)
}

const DASHES: &[u8] = b"-----";

/// `-----BEGIN … PRIVATE KEY…-----` and what follows: up to the end of the END line, or as far as it looks
/// like a key.
fn block(bytes: &[u8], at: usize) -> Option<Found> {
    let start = at.checked_sub(3).filter(|start| has(bytes, *start, DASHES))?;
    let label = at + "--BEGIN".len();
    let close = short_run(bytes, label, 64, |byte| plain(byte) || byte == b' ');
    let name = bytes.get(label..close)?.to_ascii_uppercase();
    memmem::find(&name, b"PRIVATE KEY").filter(|_| has(bytes, close, DASHES))?;
    let body = close + DASHES.len();
    // The next dashes are the END line or another block; either way nobody looks beyond them for this one.
    let next = memmem::find(bytes.get(body..)?, DASHES).map(|it| body + it);
    tally(next.unwrap_or(bytes.len()) - body);
    let end = match next.filter(|next| has(bytes, *next, b"-----END")) {
        Some(next) => {
            let label = short_run(bytes, next + 8, 64, |byte| plain(byte) || byte == b' ');
            if has(bytes, label, DASHES) { label + DASHES.len() } else { label }
        }
        None => key_lines(bytes, body),
    };
    Some(Found { kind: PRIVATE_KEY, range: start..end })
}

/// What a key is called that has a block of its own.
pub(crate) const PRIVATE_KEY: &str = "private-key";

/// The end of the lines from `from` on that look like a key whose END line was lost. They may be commented out.
fn key_lines(bytes: &[u8], from: usize) -> usize {
    let mut end = from;
    loop {
        let line = white(bytes, end);
        let line = if bytes.get(line) == Some(&b'#') { white(bytes, line + 1) } else { line };
        let close = run(bytes, line, |byte| plain(byte) || matches!(byte, b'+' | b'/' | b'='));
        if close - line < 32 {
            return end;
        }
        end = close;
    }
}

const BEARER: &str = "bearer-token";

fn bearer(bytes: &[u8], at: usize) -> Option<Found> {
    let word = at.checked_sub(1).filter(|word| has(bytes, *word, b"bearer") && begins(bytes, *word, plain))?;
    let gap = word + "bearer".len();
    let mut start = white(bytes, gap);
    if matches!(bytes.get(start), Some(b':' | b'=')) {
        start = white(bytes, start + 1);
    }
    if start == gap {
        return None;
    }
    let mark = backslashes(bytes, start);
    start = if bytes.get(mark).is_some_and(|it| quote(*it)) { mark + 1 } else { start };
    let mut end = start;
    loop {
        end = run(bytes, end, |byte| plain(byte) || matches!(byte, b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'-'));
        // `\/` is how some encoders write a slash.
        end = if has(bytes, end, b"\\/") { end + 2 } else { break };
    }
    // A full stop at the end is the sentence's.
    let end = if before(bytes, end) == Some(b'.') { end - 1 } else { end };
    let found = bytes.get(start..end)?;
    let ordinary = found.len() <= value::LONG
        && found.iter().all(|it| !it.is_ascii_digit() && !it.is_ascii_uppercase())
        && found.iter().any(|it| matches!(it, b'/' | b'.'));
    let token = found.len() >= 16 && !ordinary && !value::mask(found);
    token.then_some(Found { kind: BEARER, range: start..end })
}

/// Three runs with dots between, of which the first two are JSON objects (`eyJ` is `{"` in Base64).
fn jwt(bytes: &[u8], at: usize) -> Option<Found> {
    // Once for each run: `eyJeyJeyJ…` would otherwise be read once for each `eyJ`.
    if !begins(bytes, at, dashed) {
        return None;
    }
    let mut end = at;
    for part in 0..3 {
        let start = end;
        let object = part == 2 || bytes.get(start..)?.starts_with(b"eyJ");
        end = run(bytes, start, dashed);
        if !object || end - start < 8 {
            return None;
        }
        if part < 2 {
            end = (bytes.get(end) == Some(&b'.')).then_some(end + 1)?;
        }
    }
    Some(Found { kind: "jwt", range: at..end })
}

/// How long the part of an address before `@` may be. An `@` must not be a reason to read far.
const FAR: usize = 256;

/// `scheme://user:password@host`, from its `@`: the password.
fn url(bytes: &[u8], at: usize) -> Option<Found> {
    let window = bytes.get(at.saturating_sub(FAR)..at)?;
    let length = window.iter().rev().position(|it| !userinfo(*it))?;
    tally(length);
    let start = at - length;
    let scheme = bytes.get(..start)?;
    let scheme = scheme.strip_suffix(b"://").or_else(|| scheme.strip_suffix(b":\\/\\/"))?;
    scheme.last().filter(|it| plain(**it))?;
    let colon = start + memchr::memchr(b':', bytes.get(start..at)?)?;
    let password = bytes.get(colon + 1..at)?;
    let given = !password.is_empty() && !value::reference(password) && !value::mask(password);
    given.then_some(Found { kind: "url-password", range: colon + 1..at })
}

/// What the part of an address before `@` is made of.
fn userinfo(byte: u8) -> bool {
    !byte.is_ascii_whitespace()
        && !quote(byte)
        && !matches!(byte, b'/' | b'?' | b'#' | b'<' | b'>' | b'\\' | b',' | b'(' | b')')
}

/// The path of a Slack hook, which is all that its owner has to know.
fn hook(bytes: &[u8], at: usize) -> Option<Found> {
    let start = at.checked_sub(6).filter(|start| has(bytes, *start, b"hooks.slack.com"))?;
    let path = start + "hooks.slack.com".len();
    let path = if has(bytes, path, b"\\") { path + 1 } else { path };
    if !has(bytes, path, b"/services") {
        return None;
    }
    let start = path + "/services".len();
    let end = run(bytes, start, |byte| plain(byte) || matches!(byte, b'/' | b'\\' | b'_' | b'-'));
    // A trailing backslash begins an escape, which is not part of the address.
    let end = if before(bytes, end) == Some(b'\\') { end - 1 } else { end };
    let secret = bytes.get(start..end)?;
    let long = secret.iter().filter(|it| plain(**it)).count() >= 8;
    long.then_some(Found { kind: "slack-hook", range: start..end })
}
