//! PostgreSQL over TLS: with the right certificate it works, and with any other it is refused with a reason.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use countersign_ledger::conformance::postgres_server::Server;
use countersign_ledger::{Error, Postgres, Store};
use std::path::{Path, PathBuf};
use std::process::Command;

/// An authority of our own, and a server's certificate that it signed.
struct Papers {
    folder: tempfile::TempDir,
}

impl Papers {
    fn new(name: &str) -> Self {
        let papers = Self { folder: tempfile::tempdir().unwrap() };
        let extensions = format!("subjectAltName=DNS:{name}\nbasicConstraints=critical,CA:FALSE\n");
        std::fs::write(papers.path("extensions"), extensions).unwrap();
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
        let authority = ["req", "-x509", "-days", "2", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem"];
        let request = ["req", "-subj", "/CN=server", "-keyout", "server.key", "-out", "server.csr"];
        papers.openssl(&[&authority[..], &key].concat());
        papers.openssl(&[&request[..], &key].concat());
        let sign = ["x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
        papers.openssl(&[&sign[..], &["-days", "2", "-extfile", "extensions", "-out", "server.pem"]].concat());
        papers
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn openssl(&self, arguments: &[&str]) {
        let run = Command::new("openssl").args(arguments).current_dir(self.folder.path()).output();
        let run = run.unwrap_or_else(|error| panic!("this test makes certificates with openssl: {error}"));
        assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
    }
}

/// An address that calls the server by a name, wherever that leads.
fn url(name: &str, options: &str) -> String {
    format!("postgres://postgres@{name}/postgres?hostaddr={}&{options}", Server::number())
}

fn trusting(file: &Path) -> String {
    format!("sslrootcert={}", file.display())
}

fn refusal(url: &str) -> String {
    match Postgres::open(url, "tls") {
        Err(Error::Unreadable(why)) => why,
        other => panic!("{url}: {:?}", other.map(drop)),
    }
}

#[test]
fn a_server_is_spoken_with_over_tls_if_it_is_the_one_that_is_meant() {
    let (papers, others) = (Papers::new("ledger.example"), Papers::new("ledger.example"));
    let server = Server::start_with_tls(&papers.path("server.pem"), &papers.path("server.key"));
    let ours = trusting(&papers.path("ca.pem"));
    let right = url("ledger.example", &format!("sslmode=verify-full&{ours}"));
    let mut first = Postgres::create(&right, "tls").unwrap();
    // Without a mode TLS is used where there is any, and then nothing less than the right certificate will do.
    for mode in ["sslmode=require&", "sslmode=verify-full&", "sslmode=verify-ca&", "sslmode=prefer&", ""] {
        let mut store = Postgres::open(&url("ledger.example", &format!("{mode}{ours}")), "tls").unwrap();
        store.begin().unwrap();
        let secret =
            "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE client_addr IS NOT NULL";
        assert_eq!(server.sql(secret), "t", "{mode}");
        store.rollback();
        let strangers = trusting(&others.path("ca.pem"));
        for roots in [strangers.as_str(), "sslrootcert=system", ""] {
            let why = refusal(&url("ledger.example", &format!("{mode}{roots}")));
            assert!(why.contains("not trusted here") && why.contains("sslrootcert=FILE"), "{mode}{roots}: {why}");
        }
        let why = refusal(&url("other.example", &format!("{mode}{ours}")));
        assert!(why.contains("ledger.example") && why.contains("by a name that its certificate has"), "{mode}: {why}");
    }
    let why = refusal(&url("ledger.example", "sslmode=disable"));
    assert!(why.contains("it may with TLS"), "{why}");
    assert_eq!(first.head().unwrap().seq, 0);
    // What is no file of certificates is said to be none.
    let empty = refusal(&url("ledger.example", &trusting(&papers.path("extensions"))));
    assert!(empty.contains("has no certificate in it"), "{empty}");
    // A server that offers no TLS is refused where TLS is asked for. Without a mode it is spoken with in the clear.
    server.set("ssl", "off");
    for mode in ["require", "verify-ca", "verify-full"] {
        let why = refusal(&url("ledger.example", &format!("sslmode={mode}&{ours}")));
        assert!(why.contains("does not support TLS") && why.contains("ssl = on"), "{mode}: {why}");
    }
    for mode in ["sslmode=prefer&", ""] {
        let why = refusal(&url("ledger.example", &format!("{mode}{ours}")));
        assert!(why.contains("no encryption"), "{mode}: {why}");
    }
}
