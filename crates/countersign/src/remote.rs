//! A project that is asked through a server: the same questions and the same answers, over HTTP.

use anyhow::{Context, bail};
use countersign_diagnostic::{Code, Decision, Details, Diagnostic, Pointer, Severity};
use countersign_domain::deciding::Refusal;
use countersign_engine::{Failure, Reply, Stored};
use countersign_ledger::{Error, Hash};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use ureq::http::Uri;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// How long it may take to reach the server.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
/// How long an answer may take: longer than the ledger's own patience.
const ANSWER_PATIENCE: Duration = Duration::from_secs(90);
/// How long an answer may be.
const ANSWER_MAX: u64 = 64 * 1024 * 1024;

/// A server, and the token that is shown to it.
pub struct Remote {
    agent: ureq::Agent,
    url: String,
    token: String,
    key: Option<String>,
}

impl Remote {
    /// The server at an address. Nothing is sent yet.
    pub fn new(url: &str, token: String) -> anyhow::Result<Self> {
        let tls = if is_encrypted(url)? { Some(tls()?) } else { None };
        let mut config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_connect(Some(CONNECT_PATIENCE))
            .timeout_global(Some(ANSWER_PATIENCE));
        if let Some(tls) = tls {
            config = config.tls_config(tls);
        }
        let agent = ureq::Agent::new_with_config(config.build());
        Ok(Self { agent, url: url.trim_end_matches('/').to_owned(), token, key: None })
    }

    /// What makes a repetition the same call.
    pub fn set_key(&mut self, key: Option<String>) {
        self.key = key;
    }

    /// Asks for a command. An answer that is lost is asked for once more, with the same key.
    pub fn ask(&self, id: &str, request: &Value) -> Result<Reply, Failure> {
        let key = self.key.clone().unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        let (url, body) = (format!("{}/v1/commands/{id}", self.url), request.to_string());
        let post = || {
            let request = self.agent.post(&url).header("authorization", format!("Bearer {}", self.token));
            request.header("content-type", "application/json").header("idempotency-key", &key).send(&body)
        };
        let said = post().and_then(read).or_else(|_| post().and_then(read));
        let (status, body) = said.map_err(|error| {
            let why = self.unreached(&error);
            Failure::Ledger(if never_began(&error) { Error::NotWritten(why) } else { Error::Unknown(why) })
        })?;
        if status == 200 { reply(&body) } else { Err(failure(status, &body)) }
    }

    /// Asks a question.
    pub fn look(&self, id: &str, question: &Value) -> Result<Value, Failure> {
        let mut request = self.agent.get(format!("{}/v1/views/{id}", self.url));
        for (name, value) in question.as_object().into_iter().flatten() {
            request = request.query(name, value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
        let said = request.header("authorization", format!("Bearer {}", self.token)).call().and_then(read);
        let (status, body) = said.map_err(|error| {
            let why = self.unreached(&error);
            Failure::Ledger(if distrusted(&error).is_some() { Error::Closed(why) } else { Error::Unreadable(why) })
        })?;
        if status == 200 { Ok(body) } else { Err(failure(status, &body)) }
    }

    fn unreached(&self, error: &ureq::Error) -> String {
        match distrusted(error) {
            Some(why) => format!(
                "the certificate of the server {} is not trusted ({why}), so nothing was sent; if it is the right server, set \
                 SSL_CERT_FILE to the file with the certificate of its authority",
                self.url
            ),
            None => format!("the server {} did not answer: {error}", self.url),
        }
    }
}

/// Whether the server at an address is talked to with TLS. What is no address, or one that a token may not go to, is refused.
pub fn is_encrypted(url: &str) -> anyhow::Result<bool> {
    let shown = countersign_contract::show(url);
    let uri: Uri = url.parse().with_context(|| format!("`{shown}` is no address of a server"))?;
    match (uri.scheme_str(), uri.host().filter(|host| !host.is_empty())) {
        (Some("https"), Some(_)) => Ok(true),
        (Some("http"), Some("localhost" | "127.0.0.1" | "[::1]")) => Ok(false),
        (Some("http"), Some(host)) => {
            bail!("the token would go to {host} in the clear; use https, or a server on this machine")
        }
        _ => bail!("`{shown}` is no address of a server; it begins with https:// or http://"),
    }
}

/// Whether a call failed before anything was sent: nobody was there, or was not who they should be.
fn never_began(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::ConnectionFailed | ureq::Error::HostNotFound => true,
        ureq::Error::Io(io) if io.kind() == std::io::ErrorKind::ConnectionRefused => true,
        _ => distrusted(error).is_some(),
    }
}

/// Why a server is not who it should be, as its certificate shows.
fn distrusted(error: &ureq::Error) -> Option<&rustls::CertificateError> {
    let tls = match error {
        ureq::Error::Rustls(tls) => Some(tls),
        ureq::Error::Io(io) => io.get_ref().and_then(|it| it.downcast_ref::<rustls::Error>()),
        _ => None,
    };
    match tls? {
        rustls::Error::InvalidCertificate(why) => Some(why),
        _ => None,
    }
}

/// The authorities that this machine trusts, or those that `SSL_CERT_FILE` names.
fn tls() -> anyhow::Result<TlsConfig> {
    if let Some(file) = std::env::var_os("SSL_CERT_FILE") {
        let shown = std::path::Path::new(&file).display();
        std::fs::File::open(&file).with_context(|| format!("SSL_CERT_FILE names {shown}, which cannot be read"))?;
    }
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let why = found.errors.first().map(|error| format!(" ({error})")).unwrap_or_default();
        bail!("no certificate authority is trusted here{why}; set SSL_CERT_FILE to a file with some");
    }
    let certificates: Vec<_> = found.certs.iter().map(|it| Certificate::from_der(it).to_owned()).collect();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let roots = RootCerts::new_with_certs(&certificates);
    Ok(TlsConfig::builder().root_certs(roots).unversioned_rustls_crypto_provider(provider).build())
}

fn read(mut response: ureq::http::Response<ureq::Body>) -> Result<(u16, Value), ureq::Error> {
    let status = response.status().as_u16();
    let text = response.body_mut().with_config().limit(ANSWER_MAX).read_to_string()?;
    Ok((status, serde_json::from_str(&text).unwrap_or_default()))
}

fn unreadable() -> Failure {
    Failure::Ledger(Error::Unreadable("the server's answer is not what it should be".to_owned()))
}

fn reply(body: &Value) -> Result<Reply, Failure> {
    let events = body["events"].as_array().ok_or_else(unreadable)?;
    Ok(Reply {
        answer: body["answer"].clone(),
        events: events.iter().map(stored).collect::<Option<_>>().ok_or_else(unreadable)?,
        repeated: body["repeated"].as_bool().unwrap_or(false),
        findings: findings(body),
    })
}

fn stored(event: &Value) -> Option<Stored> {
    let mut value = event.clone();
    let hash = Hash::from_hex(value.as_object_mut()?.remove("hash")?.as_str()?)?;
    let body = countersign_contract::canonical(&value);
    Stored::read(value["seq"].as_u64()?, hash, body).ok()
}

/// What a problem means here.
fn failure(status: u16, body: &Value) -> Failure {
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let said = text("code");
    let detail = if said.is_empty() { format!("the server answered {status}") } else { text("detail") };
    match (Code::parse(&said), status) {
        (Some(code), 400 | 422) => {
            let details = Details { diagnostics: findings(body), ..Details::default() };
            Failure::Malformed(Box::new(Decision { allow: false, code: Some(code), reason: detail, details }))
        }
        (Some(code), _) => {
            let mut refusal = Refusal::new(code, detail, text("help"));
            refusal.run = body["run"].as_str().map(str::to_owned);
            refusal.findings = findings(body);
            refusal.absent = status == 404;
            Failure::Refused(Box::new(refusal))
        }
        (None, 404) => Failure::Unknown(detail),
        (None, 413 | 415 | 429 | 503) => Failure::Ledger(Error::NotWritten(detail)),
        (None, 401 | 403) => Failure::Ledger(Error::Closed(format!("{detail}; {}", text("help")))),
        (None, _) => Failure::Ledger(Error::Unknown(detail)),
    }
}

fn findings(body: &Value) -> Vec<Diagnostic> {
    let all = body["findings"].as_array().into_iter().flatten();
    all.map(|it| finding(it, &countersign_domain::rules())).collect()
}

fn finding(finding: &Value, rules: &[&'static countersign_contract::RuleInfo]) -> Diagnostic {
    let text = |name: &str| finding[name].as_str().unwrap_or_default();
    let rule = rules.iter().find(|rule| rule.id == text("rule")).map_or("rule-of-a-newer-server", |rule| rule.id);
    Diagnostic {
        rule,
        code: Code::parse(text("code")).unwrap_or(Code::SchemaInvalid),
        severity: match text("severity") {
            "note" => Severity::Note,
            "warning" => Severity::Warning,
            _ => Severity::Error,
        },
        message: text("message").to_owned(),
        help: text("help").to_owned(),
        pointer: Pointer::at(text("pointer")),
        span: None,
        labels: Vec::new(),
        repair: None,
    }
}
