//! What SQLite's errors mean to whoever asked.

use super::reading;
use crate::error::Error;
use rusqlite::ErrorCode;
use std::path::Path;

/// What could not be opened.
pub(super) fn unopened(path: &Path, error: &rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen) => Error::Unreadable(reason_at(path, error)),
        _ => unreadable(error),
    }
}

/// What could not be read.
pub(super) fn unreadable(error: &rusqlite::Error) -> Error {
    if let Some(what) = lacking(error) {
        return Error::Damaged(format!("its schema was changed: {what}"));
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Error::Damaged(reason(error)),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Away(reason(error)),
        _ => match error {
            rusqlite::Error::SqliteFailure(..) => Error::Unreadable(reason(error)),
            // A column of another type or size than was ever written there.
            _ => Error::Damaged(reason(error)),
        },
    }
}

/// What is asked for is in every file of ours. Where SQLite does not know a table or a column of it, somebody took that away.
fn lacking(error: &rusqlite::Error) -> Option<&str> {
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => Some(msg),
        rusqlite::Error::SqliteFailure(_, Some(msg)) => Some(msg.as_str()).filter(|msg| msg.starts_with("no such ")),
        _ => None,
    }
}

/// What could not be written, and surely was not.
pub(super) fn not_written(error: &rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Error::Damaged(reason(error)),
        _ => Error::NotWritten(reason(error)),
    }
}

/// What SQLite says, in words that help.
pub(super) fn reason(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "the disk is full; make room and try again".to_owned(),
        Some(ErrorCode::ReadOnly) => "the file or its folder may only be read; see its permissions".to_owned(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another program holds the file; end it and try again".to_owned()
        }
        Some(ErrorCode::NotADatabase) => "the file is no SQLite database, or its beginning was overwritten".to_owned(),
        Some(ErrorCode::SystemIoFailure) => format!("the disk failed ({error})"),
        Some(ErrorCode::CannotOpen) => {
            format!("the file cannot be opened ({error}); see its permissions, and whether the disk is sound")
        }
        _ => error.to_string(),
    }
}

/// What SQLite says of a file that it was to open. It does not say why it could not, and whoever opened the file beside it to
/// find out would take its locks away; but whether one may can be asked, and whether there is room for one more open file.
pub(super) fn reason_at(path: &Path, error: &rusqlite::Error) -> String {
    if error.sqlite_error_code() != Some(ErrorCode::CannotOpen) {
        return reason(error);
    }
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let kept_out = reading::may_read(path).and_then(|()| std::fs::File::open(folder).map(drop));
    match kept_out {
        Err(why) if why.kind() == std::io::ErrorKind::PermissionDenied => {
            format!("the file cannot be opened ({why}); see its permissions")
        }
        Err(why) => format!("the file cannot be opened ({why})"),
        Ok(()) => format!("the disk failed, or has no room: the file may be opened, and cannot be ({error})"),
    }
}
