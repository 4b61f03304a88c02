//! What can be asked of handoffs that go over the ledger.

mod kept;
mod leading;
mod note;
mod reading;
mod receive;
mod send;

pub use kept::KeptFile;
pub use note::{Became, NoteAnswer, NoteHandoff};
pub use receive::{Arrival, ReceiveAnswer, ReceiveHandoff};
pub use send::{SendAnswer, SendHandoff};

use super::row::{TraceRow, trace_key, trace_of};
use crate::deciding::{Desk, Need, Observer, Refusal, Seen};
use crate::ids::RunId;
use crate::project::project_key;
use countersign_contract::diagnostic::Code;

/// The views that show how a trace stands.
const VIEWS: &[&str] = &["handoff.chain", "handoff.show"];

/// What a command about a trace must see.
fn needs(run: Option<&RunId>, trace: &str, seen: &Seen) -> Vec<Need> {
    let mut needs = leading::needs(run, trace, seen);
    needs.extend([Need::Entity(project_key()), Need::Entity(trace_key(trace))]);
    needs
}

fn must_be_begun(desk: &Desk) -> Result<(), Refusal> {
    match desk.entity(&project_key()) {
        Some(_) => Ok(()),
        None => {
            let reason = "the project has not been initialised";
            Err(Refusal::new(Code::DependencyNotMet, reason, "run `countersign init`"))
        }
    }
}

/// The trace as it was before the transaction, with what was seen of it.
fn looked_up(observer: &dyn Observer, trace: &str) -> Result<(Seen, Option<TraceRow>), Refusal> {
    let (mut seen, key) = (Seen::default(), trace_key(trace));
    observer.look(&mut seen, vec![Need::Entity(key.clone())]).map_err(unread)?;
    let row = trace_of(seen.entity(&key));
    Ok((seen, row))
}

/// A text of an event; none, if it was erased.
fn text_of(observer: &dyn Observer, seen: &mut Seen, seq: u64, number: usize) -> Result<Option<String>, Refusal> {
    observer.look(seen, vec![Need::Texts(seq)]).map_err(unread)?;
    Ok(seen.text(seq, number).map(|text| text.inspect(str::to_owned)))
}

fn unread(why: String) -> Refusal {
    Refusal::new(Code::LedgerInconsistent, why, "run `countersign verify`")
}
