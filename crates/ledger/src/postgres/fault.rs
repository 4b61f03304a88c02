//! What can go wrong between us and the server, and what follows from it.

use crate::error::Error;
use rustls::CertificateError;
use std::error::Error as _;
use std::time::Duration;
use tokio_postgres::error::{DbError, Severity, SqlState};

/// Why a request to the server failed.
#[derive(Debug)]
pub(super) enum Fault {
    /// The connection is gone, or gave no answer in time. What was asked for may have been done.
    Lost(String),
    /// There is no connection, and none will be had by asking again: a wrong password, no such database, no trust.
    Barred(String),
    /// The server works, and says no.
    Refused(SqlState, String),
    /// The answer is not what was ever written.
    Odd(String),
    /// What the caller is to be told.
    Said(Error),
}

impl Fault {
    pub(super) fn late(after: Duration) -> Self {
        Self::Lost(format!("the server did not answer within {} s", after.as_secs()))
    }

    /// What happened, in words.
    pub(super) fn why(&self) -> String {
        match self {
            Fault::Lost(why) | Fault::Barred(why) | Fault::Refused(_, why) | Fault::Odd(why) => why.clone(),
            Fault::Said(error) => error.to_string(),
        }
    }

    /// The same for whoever wanted to read.
    pub(super) fn unreadable(self) -> Error {
        match self {
            Fault::Lost(why) => Error::Away(why),
            Fault::Refused(state, why) if passes(&state) => Error::Away(why),
            Fault::Barred(why) | Fault::Refused(_, why) => Error::Unreadable(why),
            Fault::Odd(why) => Error::Damaged(why),
            Fault::Said(error) => error,
        }
    }

    /// The same for whoever wanted to write and has not asked for the commit.
    pub(super) fn not_written(self) -> Error {
        match self {
            Fault::Lost(why) | Fault::Barred(why) | Fault::Refused(_, why) => Error::NotWritten(why),
            Fault::Odd(why) => Error::Damaged(why),
            Fault::Said(error) => error,
        }
    }

    /// The same for whoever asked for the commit. Only where the server says that it rolled back is that known.
    pub(super) fn of_commit(self) -> Error {
        match self {
            Fault::Refused(state, why) if rolled_back(&state) => Error::NotWritten(why),
            Fault::Lost(why) | Fault::Barred(why) | Fault::Refused(_, why) | Fault::Odd(why) => Error::Unknown(why),
            Fault::Said(error) => error,
        }
    }
}

/// The first two letters of a code, which say what it is about.
fn class(state: &SqlState) -> &str {
    &state.code()[..2.min(state.code().len())]
}

/// Whether the server may say something else by and by: classes 40, 53, 55 and 57 are about conflicts, lack of room, locks,
/// and operators who stop and start it.
fn passes(state: &SqlState) -> bool {
    matches!(class(state), "40" | "53" | "55" | "57")
}

/// Whether the server lets nobody in like this: class 28 is about who asks, 3D about which database.
fn bars(said: &DbError) -> bool {
    matches!(class(said.code()), "28" | "3D")
}

/// Classes 23 and 40 are about constraints and rollbacks. One of them says that the outcome is not known.
fn rolled_back(state: &SqlState) -> bool {
    matches!(class(state), "23" | "40") && *state != SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(said) if bars(said) => Fault::Barred(reason(said)),
            Some(said) if ends_session(said) => Fault::Lost(reason(said)),
            Some(said) => Fault::Refused(said.code().clone(), reason(said)),
            // The driver has no other way to tell that a column has another type than was ever written there.
            None if error.to_string().contains("column") => Fault::Odd(with_cause(&error)),
            None if error.source().is_some_and(|cause| !cure(cause).is_empty()) => Fault::Barred(with_cause(&error)),
            None => Fault::Lost(with_cause(&error)),
        }
    }
}

fn ends_session(said: &DbError) -> bool {
    let ends = |it: Severity| matches!(it, Severity::Fatal | Severity::Panic);
    said.parsed_severity().map_or(matches!(said.severity(), "FATAL" | "PANIC"), ends)
        || said.code().code().starts_with("08")
}

/// What the server says, in words that tell what to do. Its details may repeat what was to be stored, and are left out.
fn reason(said: &DbError) -> String {
    let message = said.message();
    let state = said.code();
    if *state == SqlState::DISK_FULL {
        "the server's disk is full; make room and try again".to_owned()
    } else if *state == SqlState::TOO_MANY_CONNECTIONS {
        format!("the server has no connection left ({message}); raise max_connections, or end other clients")
    } else if *state == SqlState::READ_ONLY_SQL_TRANSACTION {
        format!("the server takes no writes ({message}); name the primary in the address, or all hosts")
    } else if *state == SqlState::INSUFFICIENT_PRIVILEGE {
        format!("the server does not allow it ({message}); the user must own the schema `countersign`")
    } else if *state == SqlState::INVALID_AUTHORIZATION_SPECIFICATION && message.ends_with("no encryption") {
        format!("the server lets nobody in like this ({message}); it may with TLS: say sslmode=require")
    } else if *state == SqlState::INVALID_PASSWORD {
        format!("the server does not take the password ({message}); set PGPASSWORD")
    } else if *state == SqlState::UNIQUE_VIOLATION {
        format!("it is there already ({message})")
    } else {
        format!("PostgreSQL says: {message} ({})", state.code())
    }
}

/// An error of the driver with what led to it, which it does not say by itself.
fn with_cause(error: &tokio_postgres::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}{}", cure(cause)),
        None => error.to_string(),
    }
}

/// What to do where TLS failed.
fn cure(cause: &(dyn std::error::Error + 'static)) -> &'static str {
    let inner = cause.downcast_ref::<std::io::Error>().and_then(|it| it.get_ref());
    match inner.and_then(|it| it.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature)) => {
            "; whoever signed the server's certificate is not trusted here, so it may be another server; if it is the right \
             one, name the file with its authority's certificate as sslrootcert=FILE"
        }
        Some(rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => "; the address must call the server by a name that its certificate has",
        Some(rustls::Error::InvalidCertificate(_)) => "; the server needs another certificate",
        Some(_) => "",
        None if cause.to_string() == "server does not support TLS" => "; it must be turned on there (ssl = on)",
        None => "",
    }
}
