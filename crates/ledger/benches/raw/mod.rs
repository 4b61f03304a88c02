//! SQLite as it comes, with the same durability, schema and rows: what the ledger is measured against.

use rusqlite::{Connection, params};
use std::path::Path;
use std::time::Instant;

const SCHEMA: [&str; 2] =
    [include_str!("../../src/sqlite/steps/0001.sql"), include_str!("../../src/sqlite/steps/0002.sql")];

fn open(place: &Path) -> (tempfile::TempDir, Connection) {
    let folder = tempfile::tempdir_in(place).unwrap();
    let connection = Connection::open(folder.path().join("raw.db")).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.pragma_update(None, "synchronous", "FULL").unwrap();
    connection.pragma_update(None, "secure_delete", true).unwrap();
    connection.pragma_update(None, "wal_autocheckpoint", 4096).unwrap();
    connection.pragma_update(None, "cache_size", -4 * 1024).unwrap();
    SCHEMA.iter().for_each(|step| connection.execute_batch(step).unwrap());
    connection.set_prepared_statement_cache_capacity(64);
    (folder, connection)
}

/// As long as the ledger's, and after those before it.
fn id(number: u64) -> String {
    format!("01890a5d-ac96-774b-bcce-{number:012}")
}

/// The rows that the ledger writes for its events, in transactions of some events; events a second.
pub fn same_rows(place: &Path, events: u64, at_once: u64, body_bytes: usize) -> f64 {
    let (_folder, connection) = open(place);
    let (body, tile) = ("b".repeat(body_bytes), vec![7u8; 8192]);
    let started = Instant::now();
    for from in (0..events).step_by(at_once as usize) {
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        for number in from..(from + at_once).min(events) {
            let (seq, counter) = (number as i64 + 1, format!("c{}", number % super::COUNTERS));
            let value = (number / super::COUNTERS) as i64;
            let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
                connection.prepare_cached(sql).unwrap().execute(values).unwrap();
            };
            run(
                "INSERT INTO event VALUES (?1, ?2, NULL, ?3, ?4)",
                params![seq, id(number), [9u8; 32].as_slice(), body],
            );
            run(
                "INSERT OR REPLACE INTO entity VALUES ('counter', ?1, ?2, ?3, 1, 1, 'main', 'internal', ?4)",
                params![counter, seq, value, format!("{{\"value\":{value}}}")],
            );
            if value > 0 {
                run(
                    "DELETE FROM place WHERE (name, at, kind, id) = ('by_value', ?1, 'counter', ?2)",
                    params![value.to_be_bytes().as_slice(), counter],
                );
            }
            run(
                "INSERT OR REPLACE INTO place VALUES ('by_value', ?1, 'counter', ?2)",
                params![(value + 1).to_be_bytes().as_slice(), counter],
            );
            let before = (seq - super::COUNTERS as i64).max(0);
            run("INSERT OR REPLACE INTO touch VALUES (?1, 'counter', ?2, ?3)", params![seq, counter, before]);
            run(
                "INSERT OR REPLACE INTO remembered VALUES ('ana', 'counter.add', ?1, ?2, 'ADDED', ?3, ?3)",
                params![format!("key-{number}"), [9u8; 32].as_slice(), seq],
            );
            if seq % 256 == 0 {
                run("INSERT OR REPLACE INTO tile VALUES (0, ?1, ?2)", params![seq / 256 - 1, tile]);
                run(
                    "INSERT OR REPLACE INTO tile VALUES (1, 0, ?1)",
                    params![&tile[..((seq / 256) as usize * 32).min(8192)]],
                );
            }
        }
        connection.execute_batch("COMMIT").unwrap();
    }
    events as f64 / started.elapsed().as_secs_f64()
}

/// The events alone; events a second.
pub fn bare_events(place: &Path, events: u64, at_once: u64, body_bytes: usize) -> f64 {
    let (_folder, connection) = open(place);
    let body = "b".repeat(body_bytes);
    let started = Instant::now();
    for from in (0..events).step_by(at_once as usize) {
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        for number in from..(from + at_once).min(events) {
            let values = params![number as i64 + 1, id(number), [9u8; 32].as_slice(), body];
            connection
                .prepare_cached("INSERT INTO event VALUES (?1, ?2, NULL, ?3, ?4)")
                .unwrap()
                .execute(values)
                .unwrap();
        }
        connection.execute_batch("COMMIT").unwrap();
    }
    events as f64 / started.elapsed().as_secs_f64()
}
