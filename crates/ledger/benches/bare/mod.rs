//! pgbench, inserting events and nothing else: what the ledger on PostgreSQL is measured against.

use countersign_ledger::conformance::postgres_server::Server;
use std::io::Write;

/// Makes the table: as large a row as an event, found by its number and its id.
pub fn prepare(server: &Server) {
    server.sql("CREATE TABLE bare (seq bigserial PRIMARY KEY, id text NOT NULL UNIQUE, hash bytea NOT NULL, body text NOT NULL)");
}

/// How many inserts a second so many clients do, each its own transaction.
pub fn inserts(server: &Server, clients: u32) -> f64 {
    let mut script = tempfile::NamedTempFile::new().unwrap();
    let insert = "INSERT INTO bare (id, hash, body) VALUES (gen_random_uuid()::text, sha256('x'), repeat('b', 1021));";
    writeln!(script, "{insert}").unwrap();
    let mut pgbench = server.client("pgbench");
    pgbench.args(["--no-vacuum", "--protocol=prepared", "--jobs=2", "--time=5"]);
    pgbench.arg(format!("--client={clients}")).arg("--file").arg(script.path()).arg("postgres");
    let output = pgbench.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let rate = said.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
    rate.unwrap_or_else(|| panic!("pgbench gave no rate: {said}{}", String::from_utf8_lossy(&output.stderr)))
}
