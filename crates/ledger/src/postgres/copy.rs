//! The copy that is made before a database is brought up to date: all its ledgers as they were, in a schema beside.
//!
//! It is made by the same steps and so is the same down to the names: to go back, drop `countersign` and give its name to
//! the copy.

use super::fault::Fault;
use super::link::{Ask, Session};
use super::open;
use crate::error::Error;
use tokio_postgres::error::SqlState;

/// The schema in which the copy of a format is.
pub(super) fn name(format: u32) -> String {
    format!("countersign_format_{format}")
}

/// Tables and sequences of a schema, without what the steps themselves keep.
const PARTS: &str = "SELECT relname::text, relkind = 'S' FROM pg_class
    WHERE relnamespace = to_regnamespace($1::text)::oid AND relkind IN ('r', 'S') AND relname <> 'format' ORDER BY 1";

/// Copies everything that `steps` made and that was put there since. It belongs to the transaction that then changes the
/// original, so that there is both or neither.
pub(super) async fn make(session: &Session, steps: &[&str]) -> Result<(), Fault> {
    let name = name(steps.len() as u32);
    // Who writes is waited for, and who comes waits until all is done.
    session.plain("LOCK TABLE countersign.head IN ACCESS EXCLUSIVE MODE").await?;
    session.plain(&format!("CREATE SCHEMA {name}")).await.map_err(|fault| unmade(fault, &name))?;
    open::lay(session, &name, steps, 0).await?;
    for row in session.ask_one(Ask::new(PARTS, vec![Box::new(name.clone())])).await? {
        let (part, counts): (String, bool) = (row.try_get(0)?, row.try_get(1)?);
        let copy = if counts {
            format!("SELECT setval('{name}.{part}', last_value, is_called) FROM countersign.{part}")
        } else {
            format!("INSERT INTO {name}.{part} OVERRIDING SYSTEM VALUE SELECT * FROM countersign.{part}")
        };
        session.plain(&copy).await?;
    }
    Ok(())
}

/// Why there can be no copy, and what to do.
fn unmade(fault: Fault, name: &str) -> Fault {
    let why = match &fault {
        Fault::Refused(state, _) if *state == SqlState::DUPLICATE_SCHEMA => {
            "it is there already, from an earlier upgrade; drop it or give it another name"
        }
        Fault::Refused(state, _) if *state == SqlState::INSUFFICIENT_PRIVILEGE => {
            "this user may not make one; GRANT CREATE ON DATABASE … TO … for as long as the upgrade takes"
        }
        _ => return fault,
    };
    let what = format!("before the database is brought up to date it is copied to the schema {name}");
    Fault::Said(Error::NotWritten(format!("{what}, and {why}")))
}
