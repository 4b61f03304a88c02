//! Connections that are of no use any more, and reads that fail half-way.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

fn made(folder: &Path) -> Sqlite {
    Sqlite::create(&folder.join("ledger.db"), Clock::System).unwrap()
}

/// A connection on which every transaction fails once it was begun.
fn useless() -> Option<Connection> {
    Some(Connection::open_in_memory().unwrap())
}

#[test]
fn a_beginning_that_fails_is_the_last_of_its_connection_whichever_way_it_was_asked_for() {
    type Begin = fn(&mut Sqlite) -> Result<Option<Begun>>;
    let ways: [Begin; 3] = [
        |store| store.begin().map(Some),
        |store| store.begin_within(Duration::from_secs(5)).map(Some),
        |store| store.begin_now(),
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut store = made(folder.path());
    let mut other = store.another().unwrap();
    for begin in ways {
        store.connection = useless();
        assert!(matches!(begin(&mut store), Err(Error::NotWritten(_))));
        // The place is free, and the next attempt succeeds.
        assert!(other.begin_now().unwrap().is_some());
        other.rollback();
        assert_eq!(begin(&mut store).unwrap().map(|it| it.head), Some(Head::EMPTY));
        store.rollback();
    }
}

#[test]
fn what_is_read_together_and_fails_leaves_no_transaction_behind_and_ends_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = made(folder.path());
    let connection = store.connection().unwrap();
    let read = |sql: &'static str| {
        move |connection: &Connection| {
            connection.query_row("SELECT count(*) FROM event", [], |row| row.get::<_, i64>(0))?;
            connection.query_row(sql, [], |row| row.get::<_, i64>(0))
        }
    };
    for _ in 0..2 {
        assert!(together(connection, read("SELECT nothing FROM nowhere")).is_err());
        assert!(connection.is_autocommit());
        assert_eq!(together(connection, read("SELECT 7")), Ok(7));
        assert!(connection.is_autocommit());
    }
    // Inside of a transaction, that one goes on as it was.
    connection.execute_batch("BEGIN; INSERT INTO meta VALUES ('a', 'b')").unwrap();
    assert!(together(connection, read("SELECT nothing FROM nowhere")).is_err());
    assert_eq!(together(connection, read("SELECT count(*) FROM meta")), Ok(1));
    assert!(!connection.is_autocommit());
    connection.execute_batch("ROLLBACK").unwrap();
}

#[test]
fn a_row_that_cannot_be_read_fails_those_that_were_asked_for_with_it_and_none_after() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = made(folder.path());
    let settings = ["a", "b"].map(|name| (RowKey::Meta(name.into()), RowValue::Meta("value".to_owned())));
    store.begin().unwrap();
    store.apply(&Batch { put: settings.to_vec(), ..Batch::default() }).unwrap();
    store.commit().unwrap();
    // Not what a strict table would take, and so what only a broken file has.
    let file = Connection::open(folder.path().join("ledger.db")).unwrap();
    file.execute_batch(
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'STRICT, ', '') WHERE name = 'meta';
         PRAGMA writable_schema = RESET; UPDATE meta SET value = x'ff' WHERE name = 'b'",
    )
    .unwrap();
    let [good, bad] = settings.map(|(key, _)| key);
    assert!(store.get(&[good.clone(), bad.clone()]).is_err());
    assert!(store.get(&[bad]).is_err());
    let found = store.get(&[good.clone(), good.clone()]).unwrap();
    assert_eq!(found, vec![Some(RowValue::Meta("value".to_owned())); 2]);
    assert!(store.begin_now().unwrap_or(None).is_none(), "settings that cannot be read keep everybody from writing");
}
