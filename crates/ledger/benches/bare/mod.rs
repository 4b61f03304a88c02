//! pgbench, inserting events and nothing else: what the ledger on PostgreSQL is measured against.

use countersign_ledger::conformance::postgres_server::Server;
use std::io::Write;

/// Makes a table as the ledger's own for events, in a database that has that one. Numbers come from a sequence: the clients
/// need not know where the log ends.
pub fn prepare(server: &Server) {
    server.sql("CREATE TABLE bare (LIKE countersign.event INCLUDING ALL); CREATE SEQUENCE bare_seq");
}

/// How many inserts a second so many clients do, each its own transaction. A row is like that of an event: its body, of so
/// many bytes, comes from the client, and its id is after those before it.
pub fn inserts(server: &Server, clients: u32, body_bytes: usize) -> f64 {
    let mut script = tempfile::NamedTempFile::new().unwrap();
    let hash = "ab".repeat(32);
    let insert = format!(
        "INSERT INTO bare (project, seq, id, hash, body) \
         SELECT 1, seq, lpad(seq::text, 36, '0'), '\\x{hash}'::bytea, :body FROM nextval('bare_seq') AS seq;"
    );
    writeln!(script, "{insert}").unwrap();
    let mut pgbench = server.client("pgbench");
    pgbench.args(["--no-vacuum", "--protocol=prepared", "--jobs=2", "--time=5"]);
    pgbench.arg(format!("--define=body={}", "b".repeat(body_bytes)));
    pgbench.arg(format!("--client={clients}")).arg("--file").arg(script.path()).arg("postgres");
    let output = pgbench.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let rate = said.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
    rate.unwrap_or_else(|| panic!("pgbench gave no rate: {said}{}", String::from_utf8_lossy(&output.stderr)))
}
