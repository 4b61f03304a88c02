//! Ports and servers on this machine.

use crate::check;
use countersign_contract::serde_json::{Value, json};
use countersign_runner::evidence::{Evidence, Site, Status, collect};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A server that does with every connection what it is told, and counts them.
struct Server {
    port: u16,
    asked: Arc<AtomicUsize>,
}

impl Server {
    /// `answer` gets the first line of a question. A connection that is reset is the asker's choice.
    fn new(answer: impl Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, answer) = (Arc::new(AtomicUsize::new(0)), Arc::new(answer));
        let count = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                count.fetch_add(1, Ordering::SeqCst);
                let answer = Arc::clone(&answer);
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    let mut first = String::new();
                    let mut line = String::new();
                    let _ = reader.read_line(&mut first);
                    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                        line.clear();
                    }
                    let _ = answer(first.trim_end(), &mut stream);
                });
            }
        });
        Self { port, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

fn says(stream: &mut TcpStream, status: &str, headers: &str, body: &str) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

fn ask(http: Value, timeout: &str) -> Evidence {
    collect(&check(&json!({ "http": http, "timeout": timeout })), &Site::at(Path::new(".")))
}

#[test]
fn an_answer_must_have_the_status_and_the_words() {
    let server = Server::new(|first, stream| match first {
        "GET /health HTTP/1.1" => says(stream, "200 OK", "", "all is well"),
        "POST /jobs HTTP/1.1" => says(stream, "201 Created", "", ""),
        _ => says(stream, "404 Not Found", "", "not here"),
    });
    let cases = [
        (json!({ "url": server.url("/health") }), Status::Pass, 200),
        (json!({ "url": server.url("/health"), "contains": ["all", "well"] }), Status::Pass, 200),
        (json!({ "url": server.url("/health"), "contains": "unwell" }), Status::Fail, 200),
        (json!({ "url": server.url("/health"), "status": 204 }), Status::Fail, 200),
        (json!({ "url": server.url("/absent") }), Status::Fail, 404),
        (json!({ "url": server.url("/absent"), "status": 404, "contains": "not here" }), Status::Pass, 404),
        (json!({ "url": server.url("/jobs"), "method": "post", "status": 201 }), Status::Pass, 201),
    ];
    for (http, status, code) in cases {
        let evidence = ask(http.clone(), "30s");
        let answer = evidence.answer.unwrap();
        assert_eq!((evidence.status, answer.status_code), (status, Some(code)), "{http}: {}", evidence.says);
    }
}

#[test]
fn only_allowed_hosts_are_asked() {
    let server = Server::new(|_, stream| says(stream, "200 OK", "", ""));
    for url in
        ["http://example.invalid/", "http://10.255.255.1/", "http://169.254.169.254/latest", "http://2130706433/"]
    {
        let evidence = ask(json!({ "url": url }), "5s");
        assert_eq!(evidence.status, Status::Blocked, "{url}: {}", evidence.says);
        assert!(evidence.says.contains("not among the hosts that are allowed"), "{}", evidence.says);
    }
    let allowed = ["example.invalid".to_owned()];
    let wanted = check(&json!({ "http": { "url": "http://example.invalid/" }, "timeout": "10s" }));
    let evidence = collect(&wanted, &Site { allowed_hosts: &allowed, ..Site::at(Path::new(".")) });
    assert_eq!(evidence.status, Status::Blocked, "what cannot be found shows nothing: {}", evidence.says);
    assert_eq!(server.asked.load(Ordering::SeqCst), 0);
    let by_name = format!("http://localhost:{}/", server.port);
    assert_eq!(ask(json!({ "url": by_name }), "30s").status, Status::Pass);
}

#[test]
fn redirects_are_followed_on_the_same_host_alone() {
    let other = Server::new(|_, stream| says(stream, "200 OK", "", "elsewhere"));
    let elsewhere = format!("http://localhost:{}/", other.port);
    let server = Server::new(move |first, stream| {
        let to = |place: &str| format!("Location: {place}\r\n");
        match first.split(' ').nth(1).unwrap_or_default() {
            "/moved" => says(stream, "302 Found", &to("/here"), ""),
            "/here" => says(stream, "200 OK", "", "arrived"),
            "/circle" => says(stream, "302 Found", &to("/circle"), ""),
            "/out" => says(stream, "302 Found", &to(&elsewhere), ""),
            "/secure" => says(stream, "302 Found", &to("https://127.0.0.1/"), ""),
            _ => says(stream, "302 Found", &to("http://10.0.0.1/"), ""),
        }
    });
    let cases = [
        (json!({ "url": server.url("/moved"), "contains": "arrived" }), Status::Pass),
        (json!({ "url": server.url("/moved"), "status": 302 }), Status::Pass),
        (json!({ "url": server.url("/circle") }), Status::Fail),
        (json!({ "url": server.url("/out") }), Status::Fail),
        (json!({ "url": server.url("/secure") }), Status::Fail),
        (json!({ "url": server.url("/inside") }), Status::Fail),
    ];
    for (http, status) in cases {
        let evidence = ask(http.clone(), "30s");
        assert_eq!(evidence.status, status, "{http}: {}", evidence.says);
    }
    assert_eq!(other.asked.load(Ordering::SeqCst), 0);
}

#[test]
fn a_server_that_takes_too_long_fails() {
    let silent = Server::new(|_, _| {
        std::thread::sleep(Duration::from_secs(60));
        Ok(())
    });
    let dripping = Server::new(|_, stream| {
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")?;
        loop {
            stream.write_all(b"x")?;
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    for server in [silent, dripping] {
        let evidence = ask(json!({ "url": server.url("/") }), "1s");
        assert_eq!((evidence.status, evidence.timed_out), (Status::Fail, true), "{}", evidence.says);
    }
}

#[test]
fn an_answer_without_an_end_is_read_in_part() {
    let server = Server::new(|_, stream| {
        write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nthe beginning ")?;
        let piece = vec![b'x'; 1 << 16];
        loop {
            stream.write_all(&piece)?;
        }
    });
    let cases = [("the beginning", Status::Pass), ("the end", Status::Blocked)];
    for (words, status) in cases {
        let evidence = ask(json!({ "url": server.url("/"), "contains": words }), "30s");
        assert_eq!(evidence.status, status, "{words}: {}", evidence.says);
        assert!(evidence.answer.unwrap().snippet.len() < 600);
    }
}

#[test]
fn what_is_no_answer_fails() {
    let garbage = Server::new(|_, stream| stream.write_all(b"\x00\xffnonsense\r\n\r\n"));
    let broken = Server::new(|_, stream| stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"));
    let closed = Server::new(|_, _| Ok(()));
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let urls = [garbage.url("/"), broken.url("/"), closed.url("/"), format!("http://127.0.0.1:{nobody}/")];
    for url in urls {
        let evidence = ask(json!({ "url": url }), "10s");
        assert_eq!(evidence.status, Status::Fail, "{url}: {}", evidence.says);
    }
}

#[test]
fn secrets_in_an_answer_are_not_kept() {
    let secret = format!("ghp_{}", "a1".repeat(18));
    let body = format!("hello {secret}");
    let server = Server::new(move |_, stream| says(stream, "200 OK", "", &body));
    let evidence = ask(json!({ "url": server.url("/"), "contains": "hello" }), "30s");
    assert_eq!(evidence.status, Status::Pass);
    assert!(!format!("{evidence:?}").contains(&secret));
}

#[test]
fn a_port_must_be_listened_on() {
    let listening = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    let site = Site::at(Path::new("."));
    let ask = |port: u16| collect(&check(&json!({ "port": port })), &site);
    assert_eq!(ask(port(&listening)).status, Status::Pass);
    if let Ok(six) = TcpListener::bind("[::1]:0") {
        assert_eq!(ask(port(&six)).status, Status::Pass);
    }
    let nobody = port(&TcpListener::bind("127.0.0.1:0").unwrap());
    let evidence = ask(nobody);
    assert_eq!(evidence.status, Status::Fail, "{}", evidence.says);
}

#[test]
fn a_port_that_is_opened_within_the_time_is_waited_for() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let opened = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        TcpListener::bind(("127.0.0.1", port)).unwrap()
    });
    let evidence = collect(&check(&json!({ "port": port, "timeout": "60s" })), &Site::at(Path::new(".")));
    assert_eq!(evidence.status, Status::Pass, "{}", evidence.says);
    drop(opened.join());
}
