//! The command line, asking a server.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;
mod server;

use serde_json::{Value, json};
use server::{Server, owner, project};

#[test]
fn the_command_line_asks_a_server_that_is_named_and_says_the_same() {
    let house = project();
    let server = Server::start(&house, &[]);
    let (url, shown) = (format!("http://{}", server.address), owner(&house));
    // Somebody elsewhere, who has no ledger and no keys of the project.
    let elsewhere = house::House::new();
    elsewhere.document("a.json", "assignment", json!({})).write("bad.json", r#"{"packet_type":"assignment"}"#);
    let env = [("COUNTERSIGN_TOKEN", shown.as_str())];
    let run = |arguments: &[&str], env: &[(&str, &str)]| elsewhere.run_with(arguments, "", env);
    let remote = |arguments: &[&str]| run(&[arguments, &["--server", &url]].concat(), &env);
    let kept = remote(&["record", "a.json", "--key", "k", "--format", "json"]);
    assert_eq!(kept.code, 0, "{kept:?}");
    assert_eq!(remote(&["record", "a.json", "--key", "k", "--format", "json"]).out, kept.out, "it is done once");
    let event: Value = serde_json::from_str(&kept.out).unwrap();
    let here = house.run(&["log", "--since", "2", "--format", "json"]);
    let stored: Value = serde_json::from_str(&here.out).unwrap();
    assert_eq!(stored["event"], event, "what is shown is what was stored");
    let refused = remote(&["record", "bad.json"]);
    assert!(refused.code == 1 && refused.err.contains("MISSING_REQUIRED_INPUT"), "{refused:?}");
    for verb in [&["verify"][..], &["log"], &["export"]] {
        let answer = remote(verb);
        assert!(answer.code == 3 && answer.err.contains("needs the ledger itself"), "{verb:?}: {answer:?}");
    }
    let without = run(&["record", "a.json", "--server", &url], &[]);
    assert!(without.code == 3 && without.err.contains("wants a token"), "{without:?}");
    let wrong = run(&["record", "a.json", "--server", &url], &[("COUNTERSIGN_TOKEN", "cst_x")]);
    assert!(wrong.code == 3 && wrong.err.contains("the token is none of this project's"), "{wrong:?}");
    let clear = run(&["record", "a.json", "--server", "http://agents.example"], &env);
    assert!(clear.code == 3 && clear.err.contains("in the clear"), "{clear:?}");
    for address in ["agents.example", "ftp://agents.example", "https://", "https://a b"] {
        let answer = run(&["record", "a.json", "--server", address], &env);
        assert!(answer.code == 3 && answer.err.contains("is no address of a server"), "{address}: {answer:?}");
    }
    elsewhere.write(".countersign/config.toml", "[server]\nurl = \"http://agents.example\"\n");
    let named = run(&["record", "a.json"], &env);
    assert!(
        named.code == 3 && named.err.contains("has not named before"),
        "what was refused is not trusted: {named:?}"
    );
    // The settings may name a server that this user has named before, and no other.
    elsewhere.write(".countersign/config.toml", format!("[server]\nurl = \"{url}\"\n"));
    assert_eq!(run(&["record", "a.json"], &env).code, 0);
    elsewhere.write(".countersign/config.toml", "[server]\nurl = \"http://127.0.0.1:1\"\n");
    let other = run(&["record", "a.json"], &env);
    assert!(other.code == 3 && other.err.contains("has not named before"), "{other:?}");
    drop(server);
    let gone = remote(&["record", "a.json"]);
    assert!(gone.code == 3 && gone.err.contains("did not answer"), "{gone:?}");
}
