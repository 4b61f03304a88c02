//! A project that is served, and a client that shows every byte.

pub mod work;

use super::house::House;
use countersign_ledger::Hash;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long anything may take before a test is given up. Nothing waits for it to pass.
const PATIENCE: Duration = Duration::from_secs(60);

/// The server of a project, in a process of its own. It is killed when the test ends.
pub struct Server {
    child: Child,
    pub address: String,
}

impl Server {
    pub fn start(house: &House, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command
            .args(
                &["serve", "--listen", "127.0.0.1:0", "--rate", "1000000"]
                    [..if arguments.contains(&"--rate") { 3 } else { 5 }],
            )
            .args(arguments);
        for name in ["COUNTERSIGN_PROJECT", "COUNTERSIGN_LEDGER", "COUNTERSIGN_ACTOR", "COUNTERSIGN_TOKEN"] {
            command.env_remove(name);
        }
        command.current_dir(house.path("")).env("COUNTERSIGN_HOME", house.path(".home"));
        Self::over(command)
    }

    /// The same with a command that is made already.
    pub fn over(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().split("://").nth(1).unwrap_or_else(|| panic!("it does not listen: {line}"));
        Self { address: address.to_owned(), child }
    }

    pub fn client(&self, token: &str) -> Client {
        Client::to(&self.address, token)
    }

    /// The number of its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }

    /// Waits for the end, and says how it ended.
    pub fn ended(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A project with a server to be, and tokens.
pub fn project() -> House {
    let house = House::new();
    let answer = house.run(&["init", "--name", "billing"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    house
}

fn tokens_file(house: &House) -> std::path::PathBuf {
    let files = std::fs::read_dir(house.path(".home/tokens")).unwrap().map(|it| it.unwrap().path());
    files.filter(|it| it.extension().is_some_and(|it| it == "json")).collect::<Vec<_>>().remove(0)
}

/// A token, written as `countersign` keeps them.
pub fn token(house: &House, actor: &str, role: &str, bound: Option<(&str, &str)>) -> String {
    let path = tokens_file(house);
    let mut all: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let shown = format!("cst_{:012}_{actor}", all.len());
    let mut token = json!({
        "id": format!("{:012}", all.len()), "actor": actor, "role": role, "made": "2026-01-01T00:00:00Z",
        "hash": Hash::of(shown.as_bytes()).hex(),
    });
    if let Some((run, task)) = bound {
        token["run"] = json!(run);
        token["task"] = json!(task);
    }
    all.push(token);
    write_tokens(house, &all);
    shown
}

pub fn write_tokens(house: &House, all: &[Value]) {
    let path = tokens_file(house);
    let new = path.with_extension("new");
    std::fs::write(&new, serde_json::to_string(all).unwrap()).unwrap();
    std::fs::rename(new, path).unwrap();
}

pub fn owner(house: &House) -> String {
    let path = tokens_file(house).with_extension("owner");
    std::fs::read_to_string(path).unwrap().trim().to_owned()
}

/// What was answered.
#[derive(Debug, Clone)]
pub struct Said {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Said {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The answer of a command that was done.
    pub fn answer(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()["answer"].clone()
    }
}

pub struct Client {
    address: String,
    token: String,
    line: Option<BufReader<TcpStream>>,
}

impl Client {
    pub fn to(address: &str, token: &str) -> Self {
        Self { address: address.to_owned(), token: token.to_owned(), line: None }
    }

    pub fn ask(&mut self, command: &str, request: &Value) -> Said {
        self.send("POST", &format!("/v1/commands/{command}"), &[], Some(&request.to_string())).unwrap()
    }

    pub fn ask_once(&mut self, command: &str, key: &str, request: &Value) -> std::io::Result<Said> {
        let path = format!("/v1/commands/{command}");
        self.send("POST", &path, &[("idempotency-key", key)], Some(&request.to_string()))
    }

    pub fn get(&mut self, path: &str) -> Said {
        self.send("GET", path, &[], None).unwrap()
    }

    /// One request on a connection that is kept. A header that is given takes the place of the usual one.
    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
    ) -> std::io::Result<Said> {
        let said = self.try_send(method, path, headers, body);
        if said.as_ref().map_or(true, |said| said.header("connection") == "close") {
            self.line = None;
        }
        said
    }

    fn try_send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
    ) -> std::io::Result<Said> {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        let usual = [
            ("host", self.address.clone()),
            ("authorization", format!("Bearer {}", self.token)),
            ("content-type", if body.is_some() { "application/json".to_owned() } else { String::new() }),
        ];
        let given = headers.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let usual = usual.into_iter().filter(|(name, _)| headers.iter().all(|(given, _)| given != name));
        for (name, value) in usual.chain(given).filter(|(_, value)| !value.is_empty()) {
            head += &format!("{name}: {value}\r\n");
        }
        if let Some(body) = body {
            head += &format!("content-length: {}\r\n", body.len());
        }
        let line = self.line()?;
        let request = format!("{head}\r\n{}", body.unwrap_or_default());
        line.get_mut().write_all(request.as_bytes())?;
        read(line, method)
    }

    fn line(&mut self) -> std::io::Result<&mut BufReader<TcpStream>> {
        if self.line.is_none() {
            let stream = TcpStream::connect(&self.address)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            self.line = Some(BufReader::new(stream));
        }
        Ok(self.line.as_mut().unwrap())
    }

    /// Begins to listen for events.
    pub fn listen(&self, path: &str, headers: &[(&str, &str)]) -> Events {
        let mut client = Client { address: self.address.clone(), token: self.token.clone(), line: None };
        let mut head =
            format!("GET {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n", self.address, self.token);
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        let line = client.line().unwrap();
        line.get_mut().write_all(format!("{head}\r\n").as_bytes()).unwrap();
        let (status, headers) = head_of(line).unwrap();
        assert_eq!(status, 200, "{headers:?}");
        let kind = headers.iter().find(|(name, _)| name == "content-type").map(|(_, value)| value.clone());
        assert_eq!(kind.as_deref(), Some("text/event-stream"));
        Events { line: client.line.take().unwrap(), text: String::new() }
    }
}

/// Server-sent events as they come.
pub struct Events {
    line: BufReader<TcpStream>,
    text: String,
}

impl Iterator for Events {
    type Item = (u64, String, Value);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let lines = event.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                    lines.collect::<Vec<_>>().join("\n")
                };
                let (id, kind, data) = (field("id"), field("event"), field("data"));
                self.text = rest.to_owned();
                if !id.is_empty() {
                    return Some((id.parse().unwrap(), kind, serde_json::from_str(&data).unwrap()));
                }
                continue;
            }
            let chunk = chunk(&mut self.line).ok()?;
            if chunk.is_empty() {
                return None;
            }
            self.text += &String::from_utf8(chunk).unwrap();
        }
    }
}

fn head_of(line: &mut BufReader<TcpStream>) -> std::io::Result<(u16, Vec<(String, String)>)> {
    let mut text = String::new();
    let mut next = |text: &mut String| {
        text.clear();
        match line.read_line(text)? {
            0 => Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof)),
            _ => Ok(()),
        }
    };
    next(&mut text)?;
    let status = text.split(' ').nth(1).unwrap().parse().unwrap();
    let mut headers = Vec::new();
    loop {
        next(&mut text)?;
        let Some((name, value)) = text.trim_end().split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    Ok((status, headers))
}

fn chunk(line: &mut BufReader<TcpStream>) -> std::io::Result<Vec<u8>> {
    let mut length = String::new();
    if line.read_line(&mut length)? == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    let length = usize::from_str_radix(length.trim(), 16).map_err(std::io::Error::other)?;
    let mut bytes = vec![0; length + 2];
    line.read_exact(&mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// Reads one whole answer.
pub fn read(line: &mut BufReader<TcpStream>, method: &str) -> std::io::Result<Said> {
    let (status, headers) = head_of(line)?;
    let said = |body: Vec<u8>| Said { status, headers: headers.clone(), body: String::from_utf8(body).unwrap() };
    if method == "HEAD" || status == 304 {
        return Ok(said(Vec::new()));
    }
    let find = |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
    let mut body = Vec::new();
    if find("transfer-encoding").is_some() {
        loop {
            let chunk = chunk(line)?;
            if chunk.is_empty() {
                return Ok(said(body));
            }
            body.extend(chunk);
        }
    }
    body.resize(find("content-length").map_or(0, |it| it.parse().unwrap()), 0);
    line.read_exact(&mut body)?;
    Ok(said(body))
}
