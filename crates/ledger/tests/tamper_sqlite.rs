//! Whatever is changed in the file, behind the ledger's back, is found, and the event or the row is named.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod dice;

use countersign_ledger::conformance::{Counters, add, command, once, text};
use countersign_ledger::{
    Clock, Error, Held, LeaseChange, Ledger, PublicKey, SecretKey, Sqlite, Time, Verified, Verifying, verify,
};
use dice::Dice;
use rusqlite::Connection;
use rusqlite::types::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

const PROJECT: &str = "test-project";
/// Neither truth nor derived: how fresh leases are.
const FREE_TABLES: [&str; 1] = ["liveness"];

/// A small ledger with everything in it that a row can be about.
fn complete(folder: &Path) {
    let (clock, hand) = Clock::manual(Time(1_800_000_000_000));
    let store = Sqlite::create(&folder.join("ledger.db"), clock).unwrap();
    let ledger = Ledger::create(Box::new(store), Arc::new(Counters), PROJECT).unwrap();
    let lease = |change: LeaseChange| {
        let mut draft = add("leases", 1);
        draft.lease = Some(change);
        ledger.write(|transaction| Ok(transaction.append(&command("ana"), vec![draft])?.first)).unwrap()
    };
    let grant = |name: &str| {
        let name = name.to_owned();
        lease(LeaseChange::Grant { holder: "ana".to_owned(), name, ttl: 1_000 })
    };
    for round in 0..140 {
        let mut drafts = vec![add(&format!("c{}", round % 7), round % 5), add("all", 1)];
        drafts[1].run = Some(format!("run-{}", round % 3));
        if round % 10 == 0 {
            drafts[0].texts = vec![text(format!("said in {round}").as_bytes()), text(&[0xff, 0])];
        }
        if round % 50 == 1 {
            drafts[0].texts = vec![text(&format!("{round:09}").into_bytes().repeat(8_000))];
        }
        let command = once("ana", &format!("key-{round}"), "request");
        ledger.write(move |transaction| transaction.append(&command, drafts)).unwrap();
    }
    let released = grant("released");
    lease(LeaseChange::Release(Held { name: "released".to_owned(), number: released }));
    let expired = grant("expired");
    hand.fetch_add(2_000, Ordering::SeqCst);
    lease(LeaseChange::Expire(Held { name: "expired".to_owned(), number: expired }));
    grant("held");
    let mut erasure = add("erasures", 1);
    // A short one, and one that was a file.
    erasure.erase = vec![(1, 0), (3, 0)];
    ledger.write(|transaction| transaction.append(&command("ana"), vec![erasure])).unwrap();
    ledger.store().unwrap().scrub().unwrap();
    assert_eq!(verified(folder).unwrap().findings, []);
}

fn verified(folder: &Path) -> countersign_ledger::Result<Verified> {
    let mut store = Sqlite::open(&folder.join("ledger.db"), Clock::System)?;
    verify(&mut store, &Counters, &Verifying::default(), &mut |_, _| {})
}

/// A copy that can be spoilt. The original has no journal.
fn copy(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    std::fs::copy(from.join("ledger.db"), to.path().join("ledger.db")).unwrap();
    for blob in blobs(from) {
        let target = to.path().join(blob.strip_prefix(from).unwrap());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(&blob, &target).unwrap();
    }
    to
}

fn blobs(folder: &Path) -> Vec<PathBuf> {
    let list = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).map(|it| it.map(|entry| entry.unwrap().path()).collect()).unwrap_or_default()
    };
    list(&folder.join("ledger.db-blobs")).iter().flat_map(|folder| list(folder)).collect()
}

/// Spoils a copy, and asks that this is found and that the finding has one of some words in it. Says whether anything was
/// spoilt at all: the schema may have refused.
fn spoilt(original: &Path, what: &str, words: &[&str], spoil: impl FnOnce(&Path) -> bool) -> bool {
    let folder = copy(original);
    if !spoil(folder.path()) {
        return false;
    }
    let told: Vec<String> = match verified(folder.path()) {
        Err(error) => vec![error.to_string()],
        Ok(verified) => {
            let told = |it: countersign_ledger::Finding| match it.seq {
                Some(seq) => format!("event {seq}: {}", it.what),
                None => it.what,
            };
            verified.findings.into_iter().map(told).collect()
        }
    };
    assert!(!told.is_empty(), "{what}: it is not found");
    let named = told.iter().any(|it| words.iter().any(|word| it.contains(word)));
    assert!(named, "{what}: none of {words:?} is named: {told:#?}");
    true
}

fn raw(folder: &Path) -> Connection {
    let connection = Connection::open(folder.join("ledger.db")).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    connection
}

fn sql(original: &Path, words: &[&str], statement: &str) {
    let spoil = |folder: &Path| {
        raw(folder).execute_batch(statement).unwrap();
        true
    };
    spoilt(original, statement, words, spoil);
}

struct Column {
    name: String,
    kind: String,
    key: bool,
}

fn tables(connection: &Connection) -> Vec<(String, Vec<Column>)> {
    let mut names = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").unwrap();
    let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let columns = |table: &str| {
        let mut info = connection.prepare(&format!("PRAGMA table_info({table})")).unwrap();
        let column = |row: &rusqlite::Row<'_>| {
            Ok(Column { name: row.get(1)?, kind: row.get(2)?, key: row.get::<_, i64>(5)? > 0 })
        };
        info.query_map([], column).unwrap().map(Result::unwrap).collect::<Vec<_>>()
    };
    names
        .into_iter()
        .filter(|name| !FREE_TABLES.contains(&name.as_str()))
        .map(|name| {
            let columns = columns(&name);
            (name, columns)
        })
        .collect()
}

/// Some rows of a table, by the values of their keys: the last and any; in a soak, all.
fn some_rows(connection: &Connection, table: &str, columns: &[Column], dice: &mut Dice) -> Vec<Vec<Value>> {
    let keys: Vec<_> = columns.iter().filter(|it| it.key).map(|it| it.name.as_str()).collect();
    let keys = keys.join(", ");
    let mut all = connection.prepare(&format!("SELECT {keys} FROM {table} ORDER BY {keys}")).unwrap();
    let count = all.column_count();
    let row = |row: &rusqlite::Row<'_>| (0..count).map(|column| row.get::<_, Value>(column)).collect();
    let rows: Vec<Vec<Value>> = all.query_map([], row).unwrap().map(Result::unwrap).collect();
    let any = dice.below(rows.len() as u64) as usize;
    let mut picked = if dice::soak().is_some() { (0..rows.len()).collect() } else { vec![any, rows.len() - 1] };
    picked.dedup();
    assert!(!picked.is_empty(), "{table} has no rows");
    picked.into_iter().map(|at| rows[at].clone()).collect()
}

fn by_key(columns: &[Column], from: usize) -> String {
    let keys = columns.iter().filter(|it| it.key).enumerate();
    keys.map(|(at, column)| format!("{} = ?{}", column.name, at + from)).collect::<Vec<_>>().join(" AND ")
}

/// What a finding about a row must name: the table or the event.
fn words(table: &str) -> Vec<String> {
    match table {
        "event" | "text" => vec!["event ".to_owned(), "text".to_owned(), "`event`".to_owned()],
        "meta" => vec!["meta".to_owned(), "project".to_owned(), "shape".to_owned()],
        table => vec![format!("`{table}`")],
    }
}

/// Values that a column could have instead, of its own kind, other than the one it has.
fn others(old: &Value, kind: &str) -> Vec<Value> {
    let mut others = match old {
        Value::Null if kind == "INTEGER" => vec![Value::Integer(7)],
        Value::Null if kind == "BLOB" => vec![Value::Blob(vec![7; 32])],
        Value::Null => vec![Value::Text("x".to_owned())],
        Value::Integer(old) => vec![Value::Integer(old + 1_000_000), Value::Integer(-1), Value::Integer(old + 1)],
        Value::Text(old) => vec![Value::Text(format!("{old}x")), Value::Text(old[..old.len() / 2].to_owned())],
        Value::Blob(old) => {
            let mut flipped = old.clone();
            if let Some(byte) = flipped.last_mut() {
                *byte ^= 1;
            }
            vec![Value::Blob(flipped), Value::Blob(old[..old.len() / 2].to_vec()), Value::Blob(vec![])]
        }
        Value::Real(_) => vec![],
    };
    others.push(Value::Null);
    others.retain(|it| it != old);
    others
}

/// Changes and deletes in some tables.
fn spoil_rows(which: impl Fn(&str) -> bool) {
    let original = tempfile::tempdir().unwrap();
    complete(original.path());
    let connection = raw(original.path());
    let mut dice = Dice::thrown();
    let (mut changed, mut deleted) = (0, 0);
    for (table, columns) in tables(&connection).into_iter().filter(|(table, _)| which(table)) {
        let words = words(&table);
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        for row in some_rows(&connection, &table, &columns, &mut dice) {
            for column in &columns {
                let select = format!("SELECT {} FROM {table} WHERE {}", column.name, by_key(&columns, 1));
                let old: Value =
                    connection.query_row(&select, rusqlite::params_from_iter(&row), |it| it.get(0)).unwrap();
                let mut others = others(&old, &column.kind);
                if dice::soak().is_none() {
                    // The first is the smallest change; of the rest, one.
                    let any = dice.below(others.len() as u64) as usize;
                    let second = 1.min(others.len() - 1);
                    others.swap(second, any.max(second));
                    others.truncate(2);
                }
                for new in others {
                    let update = format!("UPDATE {table} SET {} = ?1 WHERE {}", column.name, by_key(&columns, 2));
                    let spoil = |folder: &Path| {
                        let values = [&new].into_iter().chain(&row);
                        raw(folder).execute(&update, rusqlite::params_from_iter(values)).is_ok_and(|count| count == 1)
                    };
                    let what = format!("{update} with {new:?} for {row:?}");
                    changed += u64::from(spoilt(original.path(), &what, &words, spoil));
                }
            }
            let delete = format!("DELETE FROM {table} WHERE {}", by_key(&columns, 1));
            let spoil = |folder: &Path| {
                raw(folder).execute(&delete, rusqlite::params_from_iter(&row)).is_ok_and(|count| count == 1)
            };
            deleted += u64::from(spoilt(original.path(), &format!("{delete} for {row:?}"), &words, spoil));
        }
    }
    assert!(changed > 10 && deleted > 2);
    dice::count("changes of a value in the file found", changed);
    dice::count("rows taken out of the file found", deleted);
}

#[test]
fn no_value_of_the_truth_can_be_changed_and_no_row_taken_away() {
    spoil_rows(|table| ["event", "text", "meta"].contains(&table));
}

#[test]
fn no_value_that_is_derived_can_be_changed_and_no_row_taken_away() {
    spoil_rows(|table| !["event", "text", "meta"].contains(&table));
}

#[test]
fn no_row_can_be_added() {
    let original = tempfile::tempdir().unwrap();
    complete(original.path());
    let insert = |table: &str, values: &str| {
        let words = words(table);
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        sql(original.path(), &words, &format!("INSERT INTO {table} {values}"));
    };
    for seq in ["max(seq) + 1", "max(seq) + 50", "0", "-1", "-9223372036854775808"] {
        insert("event", &format!("SELECT {seq}, 'new', run, hash, body FROM event ORDER BY seq DESC LIMIT 1"));
    }
    let any = ["1", "2", "(SELECT max(seq) FROM event)", "(SELECT max(seq) + 1 FROM event)", "9000000000", "0", "-1"];
    for seq in any.into_iter().chain(["9223372036854775807"]) {
        insert("text", &format!("VALUES ({seq}, 7, zeroblob(16), x'00', NULL)"));
        insert("text", &format!("VALUES ({seq}, 8, NULL, NULL, NULL)"));
    }
    insert("text", "VALUES (2, -1, NULL, NULL, NULL)");
    insert("meta", "VALUES ('extra', 'row')");
    insert("meta", "VALUES ('closed', 'go away')");
    insert("meta", "VALUES ('closed', 'this ledger has moved to ')");
    insert("entity", "VALUES ('counter', 'new', 1, 1, 1, 1, 'main', 'internal', '{}')");
    insert("entity", "VALUES ('', '', -1, -1, -1, -1, '', '', '')");
    insert("place", "VALUES ('by_value', x'', 'counter', 'c1')");
    insert("place", "VALUES ('', x'', '', '')");
    insert("touch", "VALUES (1, 'counter', 'all', 0)");
    insert("touch", "VALUES (-1, '', '', 0)");
    insert("remembered", "VALUES ('ana', 'counter.add', 'new', zeroblob(32), 'ADDED', 1, 2)");
    insert("remembered", "VALUES ('', '', '', x'', '', -1, -1)");
    insert("lease", "VALUES ('new', 1, 'eve', 0, 1000, NULL)");
    insert("lease", "VALUES ('', -1, '', 0, -1, -1)");
    insert("due", "VALUES (5, 'held')");
    insert("due", "VALUES (5, 'x')");
    insert("due", "SELECT deadline, 'expired' FROM due");
    for place in ["0, 99", "9, 0", "-1, 0", "0, -1", "300, 0"] {
        insert("tile", &format!("VALUES ({place}, zeroblob(32))"));
    }
}

#[test]
fn the_schema_and_the_head_of_the_file_cannot_be_changed() {
    let original = tempfile::tempdir().unwrap();
    complete(original.path());
    let original = original.path();
    for table in ["event", "text", "meta", "entity", "place", "touch", "remembered", "lease", "tile", "liveness", "due"]
    {
        sql(original, &[&format!("`{table}`")], &format!("ALTER TABLE {table} ADD COLUMN extra TEXT"));
        let dropped = format!("DROP TABLE {table}");
        sql(original, &[table], &dropped);
        // It is a finding, and no ledger that cannot be read.
        let folder = copy(original);
        raw(folder.path()).execute_batch(&dropped).unwrap();
        let told = verified(folder.path());
        assert!(matches!(told, Ok(_) | Err(Error::Damaged(_))), "{dropped}: {told:?}");
    }
    let trigger = "CREATE TRIGGER quiet AFTER INSERT ON event BEGIN DELETE FROM text; END";
    sql(original, &["`quiet`"], trigger);
    sql(original, &["`seen`"], "CREATE VIEW seen AS SELECT * FROM event");
    sql(original, &["`more`"], "CREATE TABLE more (a)");
    sql(original, &["`faster`"], "CREATE INDEX faster ON event (hash)");
    for index in ["event_id", "event_run", "text_blob"] {
        sql(original, &[index], &format!("DROP INDEX {index}"));
    }
    sql(original, &["format 3"], "PRAGMA user_version = 3");
    sql(original, &["run `countersign rebuild`"], "PRAGMA user_version = 1");
    for statement in ["PRAGMA user_version = 0", "PRAGMA user_version = -1"] {
        sql(original, &["there never was"], statement);
    }
    sql(original, &["another program"], "PRAGMA application_id = 0");
    sql(original, &["another program"], "PRAGMA application_id = 7");
    sql(original, &["use a newer countersign"], "UPDATE meta SET value = '2' WHERE name = 'shape'");
    sql(original, &["run `countersign rebuild`"], "UPDATE meta SET value = '0' WHERE name = 'shape'");
    sql(original, &["project"], "UPDATE meta SET value = 'other' WHERE name = 'project'");
}

#[test]
fn no_file_of_a_long_text_can_be_changed_taken_away_or_added() {
    let original = tempfile::tempdir().unwrap();
    complete(original.path());
    let files = blobs(original.path());
    assert_eq!(files.len(), 2);
    for file in files {
        let inside = file.strip_prefix(original.path()).unwrap().to_owned();
        let body = std::fs::read(&file).unwrap();
        let write = |body: Vec<u8>| {
            let inside = inside.clone();
            move |folder: &Path| std::fs::write(folder.join(inside), body).is_ok()
        };
        let mut flipped = body.clone();
        flipped[body.len() / 2] ^= 1;
        for (what, body) in [("flipped", flipped), ("cut", body[..body.len() - 1].to_vec()), ("empty", vec![])] {
            assert!(spoilt(original.path(), what, &["event "], write(body)));
        }
        let away = |folder: &Path| std::fs::remove_file(folder.join(&inside)).is_ok();
        assert!(spoilt(original.path(), "taken away", &["event "], away));
        // An erasure would take the link away, and leave the text.
        let elsewhere = |folder: &Path| {
            let (here, there) = (folder.join(&inside), folder.join("elsewhere"));
            std::fs::rename(&here, &there).is_ok() && std::os::unix::fs::symlink(there, here).is_ok()
        };
        assert!(spoilt(original.path(), "a link", &["no file"], elsewhere));
    }
    for name in ["ab/cdef", &format!("ab/{}", "0".repeat(62)), "stray/.tmp123", "loose"] {
        let add = |folder: &Path| {
            let path = folder.join("ledger.db-blobs").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").is_ok()
        };
        assert!(spoilt(original.path(), name, &["no event names"], add));
    }
}

#[test]
fn no_text_can_be_moved_from_where_it_was_put() {
    let original = tempfile::tempdir().unwrap();
    complete(original.path());
    let file = |folder: &Path, hash: &[u8]| {
        let name: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        folder.join("ledger.db-blobs").join(&name[..2]).join(&name[2..])
    };
    let first = |folder: &Path, which: &str, column: &str| -> (i64, i64, Vec<u8>) {
        let select = format!("SELECT seq, n, {column} FROM text WHERE {which} IS NOT NULL ORDER BY seq, n LIMIT 1");
        raw(folder).query_row(&select, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap()
    };
    let put = |folder: &Path, (seq, n): (i64, i64), body: Option<&[u8]>, blob: Option<&[u8]>| {
        let update = "UPDATE text SET body = ?3, blob = ?4 WHERE seq = ?1 AND n = ?2";
        raw(folder).execute(update, rusqlite::params![seq, n, body, blob]).unwrap() == 1
    };
    let keep = |path: PathBuf, body: &[u8]| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, body).unwrap();
    };
    let renamed = |folder: &Path| {
        let (seq, n, hash) = first(folder, "blob", "blob");
        keep(file(folder, &[7; 32]), &std::fs::read(file(folder, &hash)).unwrap());
        std::fs::remove_file(file(folder, &hash)).unwrap();
        put(folder, (seq, n), None, Some(&[7; 32]))
    };
    assert!(spoilt(original.path(), "renamed", &["is in a file that is not named by its hash"], renamed));
    let taken_in = |folder: &Path| {
        let (seq, n, hash) = first(folder, "blob", "blob");
        let body = std::fs::read(file(folder, &hash)).unwrap();
        std::fs::remove_file(file(folder, &hash)).unwrap();
        put(folder, (seq, n), Some(&body), None)
    };
    assert!(spoilt(original.path(), "taken in", &["too long to have been put there"], taken_in));
    let put_out = |folder: &Path| {
        let (seq, n, body) = first(folder, "body", "body");
        let (_, _, salt) = first(folder, "body", "salt");
        let hash = countersign_ledger::Text { salt: salt.try_into().unwrap(), body: body.clone() }.hash();
        keep(file(folder, &hash.0), &body);
        put(folder, (seq, n), None, Some(&hash.0))
    };
    assert!(spoilt(original.path(), "put out", &["too short to have been put there"], put_out));
}

#[test]
fn a_whole_file_from_another_time_is_shown_by_a_kept_checkpoint() {
    let original = tempfile::tempdir().unwrap();
    complete(original.path());
    let old = copy(original.path());
    let ledger = {
        let store = Sqlite::open(&original.path().join("ledger.db"), Clock::System).unwrap();
        Ledger::open(Box::new(store), Arc::new(Counters)).unwrap()
    };
    ledger.write(|transaction| transaction.append(&command("ana"), vec![add("all", 1)])).unwrap();
    let (secret, public) = SecretKey::generate(PROJECT);
    let mut store = ledger.store().unwrap();
    let head = store.head().unwrap();
    let root = countersign_ledger::tree::root_at(&mut *store, head.seq).unwrap();
    let checkpoint =
        countersign_ledger::Checkpoint { project: PROJECT.to_owned(), size: head.seq, root, head: head.hash };
    let note = checkpoint.sign(&SecretKey::parse(&secret).unwrap()).unwrap();
    let kept = countersign_ledger::Checkpoint::open(&note, &[PublicKey::parse(&public).unwrap()]).unwrap();
    // By itself the old file is right in all its parts.
    assert_eq!(verified(old.path()).unwrap().findings, []);
    let mut store = Sqlite::open(&old.path().join("ledger.db"), Clock::System).unwrap();
    let verifying = Verifying { from: 1, checkpoints: vec![kept] };
    let found = verify(&mut store, &Counters, &verifying, &mut |_, _| {}).unwrap();
    assert!(found.findings[0].what.contains("cut or replaced"));
}
