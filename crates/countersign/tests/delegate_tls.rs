//! A platform that is asked over TLS, and a connection that breaks before the request is sent and after it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;
#[path = "forge/request.rs"]
mod request;

use house::{Answer, House, document};
use request::Request;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};
use serde_json::{Value, json};
use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};

const SETTINGS: &str = "[req]\nprompt = no\ndistinguished_name = name\n[name]\nCN = a test\n\
    [here]\nbasicConstraints = CA:FALSE\nsubjectAltName = IP:127.0.0.1, DNS:localhost\n";

/// When the connection of a request that changes something breaks.
#[derive(Clone, Copy, PartialEq)]
enum Breaks {
    /// In the handshake.
    Before,
    /// Once the request was done: what follows cannot be decrypted.
    After,
}

/// A platform with issues that can be commented on.
struct Platform {
    url: String,
    /// The comments that were made.
    made: Arc<Mutex<Vec<Value>>>,
}

impl Platform {
    fn new(house: &House, breaks: Breaks) -> Self {
        house.write("tls/settings.cnf", SETTINGS);
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout here.key";
        let about = "-config settings.cnf -extensions here -days 2 -out here.pem";
        let arguments = format!("req -x509 {key} {about}");
        let said = Command::new("openssl").args(arguments.split(' ')).current_dir(house.path("tls")).output();
        let said = said.unwrap_or_else(|error| panic!("this test needs the program openssl: {error}"));
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        let certificate = CertificateDer::from_pem_file(house.path("tls/here.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_file(house.path("tls/here.key")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = Arc::new(config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        let made: Arc<Mutex<Vec<Value>>> = Arc::default();
        let kept = Arc::clone(&made);
        // It ends with the test.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serve(stream, &config, &kept, breaks);
            }
        });
        Self { url, made }
    }

    fn delegate(&self, house: &House, file: &str) -> Answer {
        let trusts = house.path("tls/here.pem").display().to_string();
        std::fs::create_dir_all(house.path("tls/nobody")).unwrap();
        let nobody = house.path("tls/nobody").display().to_string();
        let env = [("GITHUB_TOKEN", "token"), ("SSL_CERT_FILE", trusts.as_str()), ("SSL_CERT_DIR", nobody.as_str())];
        let arguments = ["delegate", file, "--executor", "github", "--github-url", &self.url, "--format", "json"];
        house.run_with(&arguments, "", &env)
    }
}

fn serve(mut stream: TcpStream, config: &Arc<ServerConfig>, made: &Mutex<Vec<Value>>, breaks: Breaks) {
    // What no reader of TLS can read.
    let noise = [&[0x17, 3, 3, 0, 32][..], &[7; 32]].concat();
    if breaks == Breaks::Before {
        let _ = stream.write_all(&noise);
        return;
    }
    let mut connection = ServerConnection::new(Arc::clone(config)).unwrap();
    let mut reader = BufReader::new(Stream::new(&mut connection, &mut stream));
    let Request { method, path, body: mut comment } = Request::read(&mut reader);
    if method != "GET" {
        comment["id"] = json!(7);
        made.lock().unwrap().push(comment);
        drop(reader);
        let _ = stream.write_all(&noise);
        return;
    }
    let text = match path.contains("/comments") {
        true => Value::from(made.lock().unwrap().clone()).to_string(),
        false => json!({ "number": 5, "state": "open" }).to_string(),
    };
    drop(reader);
    let head = format!("HTTP/1.1 200 X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{text}", text.len());
    let mut out = Stream::new(&mut connection, &mut stream);
    let _ = out.write_all(head.as_bytes()).and_then(|()| out.flush());
    connection.send_close_notify();
    let _ = connection.write_tls(&mut stream);
}

fn comment(house: &House) -> String {
    let given = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second() - 2).unwrap().to_string();
    let id = format!("DI-{}-001", &given[..10]);
    let mut text = document("delegation_instruction", json!({ "INSTRUCTION_ID": id, "TIMESTAMP_UTC": given }));
    let parameters = json!({ "ISSUE_NUMBER": 5, "COMMENT_BODY": "hm" });
    text["ACTION"] = json!({ "TYPE": "COMMENT_ON_ISSUE", "PARAMETERS": parameters });
    house.write("i.json", text.to_string());
    "i.json".to_owned()
}

fn house() -> House {
    let house = House::new();
    house.write(".governance/compliance-check.md", "ok\n").write(".qa/results-2025-12-25.json", "{}\n");
    assert_eq!(house.run(&["init", "--name", "shop"]).code, 0);
    house
}

#[test]
fn what_was_done_before_tls_broke_is_looked_for_and_never_sent_again() {
    let house = house();
    let platform = Platform::new(&house, Breaks::After);
    let answer = platform.delegate(&house, &comment(&house));
    assert_eq!(platform.made.lock().unwrap().len(), 1, "{answer:?}");
    let response: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!((answer.code, &response["STATUS"]), (0, &json!("SUCCESS")), "{answer:?}");
}

#[test]
fn what_a_handshake_kept_from_being_sent_may_be_tried_again() {
    let house = house();
    let platform = Platform::new(&house, Breaks::Before);
    let answer = platform.delegate(&house, &comment(&house));
    let response: Value = serde_json::from_str(&answer.out).unwrap();
    let failure = &response["FAILURE_DETAILS"];
    assert_eq!((&failure["ERROR_CODE"], &failure["RETRY_ALLOWED"]), (&json!("UNREACHED"), &json!("YES")), "{answer:?}");
}
