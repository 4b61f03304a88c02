//! The server with TLS, and the command line that asks it: with an authority of one's own, and without.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;
mod server;

use house::{Answer, House};
use serde_json::Value;
use server::{Server, owner, project};
use std::process::Command;

const SETTINGS: &str = "[req]\nprompt = no\ndistinguished_name = name\n[name]\nCN = a test\n\
    [authority]\nbasicConstraints = critical, CA:TRUE\nkeyUsage = critical, keyCertSign\n\
    [here]\nbasicConstraints = CA:FALSE\nsubjectAltName = IP:127.0.0.1, DNS:localhost\n\
    [elsewhere]\nbasicConstraints = CA:FALSE\nsubjectAltName = DNS:agents.example\n";

fn openssl(house: &House, arguments: &str) {
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let said = Command::new("openssl").args(&arguments).current_dir(house.path("tls")).output();
    let said = said.unwrap_or_else(|error| panic!("this test needs the program openssl: {error}"));
    assert!(said.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&said.stderr));
}

/// An authority of its own, called so.
fn authority(house: &House, name: &str) {
    house.write("tls/settings.cnf", SETTINGS);
    openssl(house, &format!("ecparam -name prime256v1 -genkey -noout -out {name}.key"));
    let about = "-config settings.cnf -extensions authority -days 2";
    openssl(house, &format!("req -x509 -new -key {name}.key -out {name}.pem {about}"));
}

/// A certificate of an authority, for the names in a section of the settings, and what the server is started with.
fn certificate(house: &House, authority: &str, section: &str) -> [String; 4] {
    openssl(house, &format!("ecparam -name prime256v1 -genkey -noout -out {section}.key"));
    openssl(house, &format!("req -new -key {section}.key -out {section}.csr -config settings.cnf"));
    let signed = format!("-CA {authority}.pem -CAkey {authority}.key -CAcreateserial -days 2");
    let about = format!("-extfile settings.cnf -extensions {section} -out {section}.pem");
    openssl(house, &format!("x509 -req -in {section}.csr {signed} {about}"));
    close(house, &format!("tls/{section}.key"), 0o600);
    let path = |ending: &str| house.path(&format!("tls/{section}.{ending}")).display().to_string();
    ["--tls-cert".to_owned(), path("pem"), "--tls-key".to_owned(), path("key")]
}

#[cfg(unix)]
fn close(house: &House, name: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(house.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
fn close(_: &House, _: &str, _: u32) {}

/// Somebody elsewhere, who trusts an authority.
fn asks(house: &House, url: &str, trusts: &str, arguments: &[&str]) -> Answer {
    let (elsewhere, token, trusts) = (House::new(), owner(house), house.path(trusts).display().to_string());
    // Whom the machine trusts besides is not the test's.
    std::fs::create_dir_all(house.path("tls/nobody")).unwrap();
    let nobody = house.path("tls/nobody").display().to_string();
    let env =
        [("COUNTERSIGN_TOKEN", token.as_str()), ("SSL_CERT_FILE", trusts.as_str()), ("SSL_CERT_DIR", nobody.as_str())];
    elsewhere.run_with(&[arguments, &["--server", url]].concat(), "", &env)
}

fn strs(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

const OPEN: &[&str] = &["run", "open", "--objective", "Round money", "--format", "json"];
const LIST: &[&str] = &["run", "list", "--format", "json"];

#[test]
fn a_server_with_a_certificate_is_asked_by_who_trusts_its_authority() {
    let house = project();
    authority(&house, "ours");
    authority(&house, "theirs");
    let server = Server::start(&house, &strs(&certificate(&house, "ours", "here")));
    let port = server.address.rsplit(':').next().unwrap();
    let url = format!("https://127.0.0.1:{port}");
    let opened = asks(&house, &url, "tls/ours.pem", OPEN);
    assert_eq!(opened.code, 0, "{opened:?}");
    let opened: Value = serde_json::from_str(&opened.out).unwrap();
    for url in [url.clone(), format!("https://localhost:{port}")] {
        let listed = asks(&house, &url, "tls/ours.pem", LIST);
        let listed: Value = serde_json::from_str(&listed.out).unwrap_or_else(|_| panic!("{listed:?}"));
        assert_eq!(listed["runs"][0]["run_id"], opened["run_id"], "{url}");
    }
    // Who trusts somebody else is told so, and has sent nothing.
    for verb in [OPEN, LIST] {
        let refused = asks(&house, &url, "tls/theirs.pem", verb);
        assert_eq!((refused.code, refused.out.as_str()), (3, ""), "{refused:?}");
        let wanted = format!("the certificate of the server {url} is not trusted");
        assert!(refused.err.contains(&wanted) && refused.err.contains("SSL_CERT_FILE"), "{refused:?}");
        assert!(!refused.err.contains("did not answer") && !refused.err.contains("ledger"), "{refused:?}");
    }
    for (trusts, said) in
        [("tls/not there", "which cannot be read"), ("tls/ours.key", "no certificate authority is trusted here")]
    {
        let refused = asks(&house, &url, trusts, LIST);
        assert!(
            refused.code == 3 && refused.err.contains(said) && refused.err.contains("SSL_CERT_FILE"),
            "{refused:?}"
        );
    }
    // In the clear it answers nobody.
    let clear = asks(&house, &format!("http://127.0.0.1:{port}"), "tls/ours.pem", LIST);
    assert!(clear.code == 3 && clear.err.contains("did not answer"), "{clear:?}");
    let runs = house.run(LIST);
    let runs: Value = serde_json::from_str(&runs.out).unwrap();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "nothing but what was answered was done");
}

#[test]
fn a_certificate_for_another_name_is_not_trusted() {
    let house = project();
    authority(&house, "ours");
    let server = Server::start(&house, &strs(&certificate(&house, "ours", "elsewhere")));
    let refused = asks(&house, &format!("https://{}", server.address), "tls/ours.pem", LIST);
    assert!(refused.code == 3 && refused.err.contains("is not trusted"), "{refused:?}");
}

#[test]
fn a_server_does_not_begin_with_a_certificate_that_cannot_be_used() {
    let house = project();
    authority(&house, "ours");
    let [_, good, _, key] = certificate(&house, "ours", "here");
    let [_, _, _, other] = certificate(&house, "ours", "elsewhere");
    house.write("tls/empty.pem", "");
    close(&house, "tls/empty.pem", 0o600);
    let empty = house.path("tls/empty.pem").display().to_string();
    let absent = house.path("tls/absent.pem").display().to_string();
    let start = |certificate: &str, key: &str| {
        let tls = ["serve", "--listen", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key];
        let answer = house.run(&tls);
        assert_eq!((answer.code, answer.out.as_str()), (3, ""), "{answer:?}");
        answer.err
    };
    assert!(start(&absent, &key).contains("cannot be read"));
    assert!(start(&empty, &key).contains("there is no certificate"));
    assert!(start(&good, &empty).contains("cannot be read"));
    assert!(start(&good, &other).contains("do not belong together"));
    if cfg!(unix) {
        close(&house, "tls/here.key", 0o644);
        assert!(start(&good, &key).contains("may be read by others"));
    }
}
