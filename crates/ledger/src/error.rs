//! What can go wrong, told apart by what the caller may conclude from it.

use crate::time::Time;

/// Why something was not done, or is not known to have been done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The ledger works, and says no. Nothing was written.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The writer's place was not free in time. Nothing was written.
    #[error("the ledger was busy for {waited_ms} ms{}; nothing was written, try again", holder.as_ref().map(|it| format!(" (its writer is {it})")).unwrap_or_default())]
    Busy {
        /// How long it was waited for.
        waited_ms: u64,
        /// Who writes, as far as is known.
        holder: Option<String>,
    },
    /// The store could not take it: no space, no permission, a failing disk, a server that is away. Nothing was written.
    #[error("nothing was written: {0}")]
    NotWritten(String),
    /// It was sent, and no answer came back. Only the idempotency key can tell.
    #[error(
        "it is not known whether it was written: {0}; repeat it with the same idempotency key, which does it once, or look for it in `countersign log` if it had none"
    )]
    Unknown(String),
    /// It could not be read, and will not be by waiting.
    #[error("the ledger cannot be read: {0}")]
    Unreadable(String),
    /// It could not be read now: a server is away, a file is held. That may pass by itself.
    #[error("the ledger cannot be read: {0}")]
    Away(String),
    /// What is stored cannot be right.
    #[error("the ledger is damaged: {0}; run `countersign verify`")]
    Damaged(String),
    /// A newer version wrote it. Of a newer shape it can be read; of a newer format it is not known what it says.
    #[error(
        "this ledger is of {what} {found}, and this binary knows {known}; {}",
        if *what == "shape" { "it can be read; use a newer countersign to write to it" } else { "use a newer countersign" }
    )]
    Newer {
        /// Format or shape.
        what: &'static str,
        /// What the ledger has.
        found: u32,
        /// What this binary has.
        known: u32,
    },
    /// Its derived rows are of an older shape.
    #[error(
        "the entities of this ledger are of shape {found}, and this binary writes shape {known}; run `countersign rebuild`"
    )]
    Older {
        /// What the ledger has.
        found: u32,
        /// What this binary has.
        known: u32,
    },
    /// It may not be written to here.
    #[error("{0}")]
    Closed(String),
    /// What was asked for cannot be recorded as it is. Nothing was written.
    #[error("{0}")]
    Malformed(String),
    /// The work itself broke. Nothing of it was written.
    #[error("the command broke off: {0}; nothing was written")]
    Broke(String),
}

impl Error {
    /// That the writer's place was not free in time.
    pub(crate) fn busy(waited: std::time::Duration, holder: Option<String>) -> Self {
        Self::Busy { waited_ms: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX), holder }
    }
}

/// Why the ledger says no.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The idempotency key was used for something else.
    #[error(
        "the idempotency key `{key}` was used for another request, at event {first}; use a new key for a new request"
    )]
    KeyReused {
        /// The key.
        key: String,
        /// The first event of that request.
        first: u64,
    },
    /// Somebody holds the lease.
    #[error("`{name}` is held by {holder} until {until}, under number {number}")]
    LeaseHeld {
        /// What is leased.
        name: String,
        /// By whom.
        holder: String,
        /// Its fencing number.
        number: u64,
        /// When it lapses unless it is renewed.
        until: Time,
    },
    /// The lease under which this was to be written is held no longer.
    #[error("the lease {number} on `{name}` is no longer held: {why}")]
    LeaseLost {
        /// What is leased.
        name: String,
        /// The number that was shown.
        number: u64,
        /// What became of it.
        why: String,
    },
}

/// A result of the ledger.
pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_gives_advice_that_can_be_followed() {
        let newer = |what| Error::Newer { what, found: 9, known: 1 };
        let table = [
            (newer("format"), "this ledger is of format 9, and this binary knows 1; use a newer countersign"),
            (
                newer("shape"),
                "this ledger is of shape 9, and this binary knows 1; it can be read; use a newer countersign to write to it",
            ),
            (
                Error::Unknown("the disk failed".to_owned()),
                "it is not known whether it was written: the disk failed; repeat it with the same idempotency key, which \
                 does it once, or look for it in `countersign log` if it had none",
            ),
        ];
        for (error, said) in table {
            assert_eq!(error.to_string(), said);
        }
    }
}
