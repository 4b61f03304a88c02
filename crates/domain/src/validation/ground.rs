//! What of the working tree was there when something was validated, and whether it is still there.
//!
//! The promise of a task is compared where the task lands. Any other promise stands on the project's own tree: a commit, and
//! what differed from it. Where that is something else by now, what was found is stale, and the gates with it. Where there is
//! no working tree, nothing can be compared, and nothing is.

use super::event::GATES_STALE;
use super::row::{PromiseRow, promise_of};
use super::subject::{Subject, refusal};
use crate::deciding::{Desk, Happening, Observer, Refusal, Seen, Tree};
use countersign_contract::diagnostic::Code;
use countersign_contract::{canonical, sha256_hex, show};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How many files are named.
const NAMED_MAX: usize = 5;

/// A working tree as it was when something was validated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ground {
    /// The commit that it is compared with.
    pub commit: String,
    /// The hash of what differed from that commit.
    pub differs: String,
}

/// What was seen before something is said at a gate.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
struct Looked {
    /// What was validated before.
    of: Option<Ground>,
    /// Why that is not there any more.
    stale: Option<String>,
    /// What is there now.
    now: Option<Ground>,
}

/// Looks at the tree that a promise stands on. The name of a commit that is known here stands for that commit; anything else
/// is about what lies here.
pub(crate) fn observe(observer: &dyn Observer, subject: &Subject<'_>, bound: Option<&str>) -> Result<Value, Refusal> {
    let Some(row) = row_of(observer, subject) else { return Ok(Value::Null) };
    let named = bound.filter(|bound| observer.tree(Some(bound)).is_some());
    if let Some(bound) = bound.filter(|bound| named.is_none() && is_hex(bound) && observer.tree(None).is_some()) {
        let reason = format!("commit {} is not known here", show(bound));
        let help = "name the commit that was validated; without one it is about what lies here";
        return Err(Refusal::new(Code::IntegrityMismatch, reason, help));
    }
    let now = match named {
        Some(commit) => Some(Ground { commit: commit.to_owned(), differs: hash(&BTreeMap::new()) }),
        None => observer.tree(None).and_then(|tree| {
            let differs = hash(&tree.changed);
            tree.commit.map(|commit| Ground { commit, differs })
        }),
    };
    let stale = stale(&row, look(observer, &row).as_ref());
    Ok(serde_json::to_value(Looked { of: row.ground, stale, now }).unwrap_or_default())
}

/// The tree to compare a promise with. None, where there was none when it was validated; without a commit, if the one that it
/// was validated on cannot be seen here.
pub(crate) fn tree(observer: &dyn Observer, subject: &Subject<'_>) -> Option<Tree> {
    look(observer, &row_of(observer, subject)?)
}

fn look(observer: &dyn Observer, row: &PromiseRow) -> Option<Tree> {
    let ground = row.ground.as_ref()?;
    // What cannot be seen any more is not there any more: nobody keeps a verdict by hiding the tree that it was about.
    Some(observer.tree(Some(&ground.commit)).unwrap_or_default())
}

/// The promise that is meant, if it belongs to no task.
fn row_of(observer: &dyn Observer, subject: &Subject<'_>) -> Option<PromiseRow> {
    let promise = subject.promise?;
    let mut seen = Seen::default();
    let needs = subject.needs(&seen);
    observer.look(&mut seen, needs).ok()?;
    promise_of(seen.so_far(&super::row::promise_key(promise.as_str())))
}

/// Why what was validated is not what is there.
pub(crate) fn stale(row: &PromiseRow, tree: Option<&Tree>) -> Option<String> {
    let (ground, tree) = (row.ground.as_ref()?, tree?);
    if tree.commit.is_none() {
        return Some(format!(
            "it was validated on commit {}, which cannot be seen here any more",
            show(&ground.commit)
        ));
    }
    if hash(&tree.changed) == ground.differs {
        return None;
    }
    let named: Vec<String> = tree.changed.keys().take(NAMED_MAX).map(|path| show(path)).collect();
    let more = tree.changed.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let commit = show(ground.commit.get(..12).unwrap_or(&ground.commit));
    Some(match named.is_empty() {
        true => format!("it was validated with changes on top of commit {commit}, and they are gone"),
        false => format!(
            "what was validated has changed since: by now {}{more} differ from commit {commit}",
            named.join(", ")
        ),
    })
}

/// Whether a text can be meant for nothing but the name of a commit.
fn is_hex(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn hash(changed: &BTreeMap<String, Option<String>>) -> String {
    sha256_hex(canonical(&json!(changed)).as_bytes())
}

/// What is there now, for a verdict that is given about it.
pub(crate) fn now(observed: &Value) -> Option<Ground> {
    looked(observed).now
}

/// A verdict about what is there now: where what was found before was about something else, that counts no more. The promise
/// as it is by then.
pub(crate) fn renewed(desk: &mut Desk, row: PromiseRow, observed: &Value) -> Result<PromiseRow, Refusal> {
    let looked = must_be_about(&row, observed)?;
    if looked.stale.is_none() {
        return Ok(row);
    }
    desk.record(gone_stale(&row, &looked));
    Ok(promise_of(desk.entity(&row.key())).unwrap_or(row))
}

/// Refuses whatever is said about something that is not there any more. From here on nobody has looked at it.
pub(crate) fn must_hold(row: &PromiseRow, observed: &Value) -> Result<(), Refusal> {
    let looked = must_be_about(row, observed)?;
    let Some(reason) = looked.stale.clone() else { return Ok(()) };
    let mut refusal = refusal(row, Code::IntegrityMismatch, reason, "have what is there now validated first");
    refusal.kept = Box::new([gone_stale(row, &looked)]);
    Err(refusal)
}

/// What was looked at must be what is decided about.
fn must_be_about(row: &PromiseRow, observed: &Value) -> Result<Looked, Refusal> {
    let looked = looked(observed);
    if row.of_task.is_some() || looked.of == row.ground {
        return Ok(looked);
    }
    let reason = format!("{} was validated by somebody else just now", row.id);
    Err(refusal(row, Code::ConcurrencyConflict, reason, "look how it stands, and say it again if it is still so"))
}

fn looked(observed: &Value) -> Looked {
    Looked::deserialize(observed).unwrap_or_default()
}

fn gone_stale(row: &PromiseRow, looked: &Looked) -> Happening {
    let found = looked.now.as_ref().map_or("something else", |now| now.commit.as_str());
    Happening::new(GATES_STALE, json!({ "bound": row.bound, "found": found, "promise": row.promise }))
}
