//! Who decides how a run goes on.
//!
//! In a run with gates a worker may not change what it is asked, take work away, answer what a person is asked or end the run:
//! it would be its own orchestrator, and what it did would pass because it had said what counts. Whoever leads the run may, and
//! a person. In a run without gates whoever says that they are its orchestrator is.

use super::row::RunRow;
use crate::deciding::{Desk, Refusal};
use countersign_contract::diagnostic::Code;

/// Refuses who neither carries a run with gates out nor is a person.
pub(crate) fn must_steer(run: &RunRow, desk: &Desk) -> Result<(), Refusal> {
    if !run.is_gated() || leads(run, desk) || desk.moment().person {
        return Ok(());
    }
    let reason = format!(
        "run {} follows a plan, and how it goes on is for the process that carries it out or for a person to say",
        run.run
    );
    Err(Refusal::new(Code::AuthorizationMissing, reason, TO_A_PERSON).of_run(&run.run))
}

/// The same, as long as somebody carries the run out.
pub(crate) fn must_not_interrupt(run: &RunRow, desk: &Desk) -> Result<(), Refusal> {
    if run.led_by.is_some() { must_steer(run, desk) } else { Ok(()) }
}

/// Whether who asks is the process that carries the run out.
pub(crate) fn leads(run: &RunRow, desk: &Desk) -> bool {
    run.led_by.as_deref() == Some(desk.moment().authn.as_str())
}

const TO_A_PERSON: &str = "`countersign inbox` shows what is asked; a person answers at a terminal, or with an owner's token \
                           (--token-file). A worker says what is in its way with `countersign task block`";
