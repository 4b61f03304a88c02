//! The line to a platform: one request, one answer, within limits.

use super::mask::Mask;
use super::opened::Opened;
use super::pages;
use crate::delegate::said;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use ureq::http::{Method, Request, Uri};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, DefaultConnector};

/// How long it may take to reach the platform.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);
/// How long one answer may take.
const ANSWER_PATIENCE: Duration = Duration::from_secs(30);
/// How long an answer may be.
const ANSWER_MAX: u64 = 8 << 20;
/// How much is told of what the platform says.
const SAID_MAX: usize = 1000;
/// The version of the interface that is spoken.
const VERSION: &str = "2022-11-28";

/// A platform that may be asked.
pub(super) struct Line {
    base: String,
    host: String,
    token: String,
    mask: Mask,
    tls: Option<TlsConfig>,
    patience: Duration,
}

/// What came back.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Value,
    /// Whether there is a body that is no JSON.
    pub(super) garbled: bool,
    headers: ureq::http::HeaderMap,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok().map(str::trim)
    }

    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// What the platform says is wrong, as it may be repeated.
    pub(super) fn says(&self) -> String {
        let text = said::told(&self.said(), SAID_MAX);
        if text.is_empty() { format!("the platform answered {} and said no more", self.status) } else { text }
    }

    /// The same in its own words, to be told by them what is wrong.
    pub(super) fn said(&self) -> String {
        let said = self.body["message"].as_str().unwrap_or_default();
        let errors = self.body["errors"].as_array().into_iter().flatten();
        let errors = errors.filter_map(said_of);
        let all: Vec<String> =
            std::iter::once(said.to_owned()).filter(|it| !it.is_empty()).chain(errors).take(5).collect();
        all.join("; ")
    }
}

/// One error of a list: its message, or else what is wrong with which field.
fn said_of(error: &Value) -> Option<String> {
    if let Some(message) = error.as_str().or_else(|| error["message"].as_str()) {
        return Some(message.to_owned());
    }
    let about = error["field"].as_str().or_else(|| error["resource"].as_str());
    let words: Vec<&str> = about.into_iter().chain(error["code"].as_str()).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Why nothing came back.
#[derive(Debug)]
pub(super) enum Broken {
    /// Nothing was sent.
    Unsent(String),
    /// It was sent, and nobody knows what became of it.
    Cut(String),
}

impl Line {
    /// A line to an address, if a token may go there: over TLS, or to this machine.
    pub(super) fn new(url: &str, token: &str, patience: Option<Duration>) -> Result<Self, String> {
        let shown = countersign_contract::show(url);
        let unusable = || format!("`{shown}` is no address of a platform; it is one such as https://api.github.com");
        let uri: Uri = url.parse().map_err(|_| unusable())?;
        let authority = uri.authority().ok_or_else(unusable)?;
        if authority.as_str().contains('@') || uri.query().is_some() {
            return Err("the platform's address has more in it than a host and a path".to_owned());
        }
        let tls = match (uri.scheme_str(), authority.host()) {
            (_, "") => return Err(unusable()),
            (Some("https"), _) => Some(tls()?),
            (Some("http"), "localhost" | "127.0.0.1" | "[::1]") => None,
            (Some("http"), _) => return Err("the token would go over the network in the clear; use https".to_owned()),
            _ => return Err(unusable()),
        };
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("the platform's token is empty or has letters that no token has".to_owned());
        }
        let (base, host) = (url.trim_end_matches('/').to_owned(), authority.host().to_owned());
        let patience = patience.unwrap_or(ANSWER_PATIENCE);
        Ok(Self { base, host, token: token.to_owned(), mask: Mask::of(token), tls, patience })
    }

    /// The whole address of a path.
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// The path of the page behind a reply, if its headers speak of pages. The token goes nowhere else, so that one at another
    /// address is not asked for.
    pub(super) fn next_page(&self, reply: &Reply) -> Result<Option<Option<String>>, String> {
        let Some(header) = reply.header("link") else { return Ok(None) };
        let Some(next) = pages::next_in(header) else { return Ok(Some(None)) };
        match next.strip_prefix(&self.base).filter(|path| path.starts_with('/')) {
            Some(path) => Ok(Some(Some(path.to_owned()))),
            None => Err("the platform names a next page that is at another address than its own".to_owned()),
        }
    }

    /// Where people look at what is there.
    pub(super) fn web(&self) -> String {
        let host = if self.host == "api.github.com" { "github.com" } else { self.host.trim_matches(['[', ']']) };
        format!("https://{}", if self.tls.is_some() { host } else { "localhost" })
    }

    /// Sends one request. A redirect is an answer like any other: the token goes nowhere else. Nothing that comes back has the
    /// token in it, whatever the platform says.
    pub(super) fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Reply, Broken> {
        let mut config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .allow_non_standard_methods(false)
            .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECT_PATIENCE.min(self.patience)))
            .timeout_global(Some(self.patience));
        if let Some(tls) = &self.tls {
            config = config.tls_config(tls.clone());
        }
        // One for each request, so that none goes out on a connection that was closed while nobody looked.
        let opened = Opened::default();
        let connector = DefaultConnector::default().chain(opened.clone());
        let agent = ureq::Agent::with_parts(config.build(), connector, DefaultResolver::default());
        let method = Method::from_bytes(method.as_bytes()).map_err(|error| Broken::Unsent(error.to_string()))?;
        let request = Request::builder()
            .method(method)
            .uri(self.url(path))
            .header("accept", "application/vnd.github+json")
            .header("x-github-api-version", VERSION)
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .body(body.map(Value::to_string).unwrap_or_default())
            .map_err(|error| Broken::Unsent(error.to_string()))?;
        let read = |mut reply: ureq::http::Response<ureq::Body>| {
            let bytes = reply.body_mut().with_config().limit(ANSWER_MAX).read_to_vec()?;
            let (parts, _) = reply.into_parts();
            let read = serde_json::from_slice(&bytes);
            let garbled = read.is_err() && !bytes.trim_ascii().is_empty();
            let mut body: Value = read.unwrap_or_default();
            self.mask.hide(&mut body);
            Ok(Reply { status: parts.status.as_u16(), body, garbled, headers: parts.headers })
        };
        let reply: Reply = agent.run(request).and_then(read).map_err(|error| {
            let why = self.mask.hidden(&format!("the connection to the platform broke: {error}"));
            // What an error is called does not tell when it came: TLS fails in the same words before and after the request.
            if opened.is_open() { Broken::Cut(why) } else { Broken::Unsent(why) }
        })?;
        if reply.status >= 600 {
            return Err(Broken::Cut(format!("the platform answered {}, which is no status of HTTP", reply.status)));
        }
        Ok(reply)
    }
}

/// The authorities that this machine trusts.
fn tls() -> Result<TlsConfig, String> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        return Err("this machine trusts no certificate authority; set SSL_CERT_FILE to a file with some".to_owned());
    }
    let certificates: Vec<_> = found.certs.iter().map(|it| Certificate::from_der(it).to_owned()).collect();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let roots = RootCerts::new_with_certs(&certificates);
    Ok(TlsConfig::builder().root_certs(roots).unversioned_rustls_crypto_provider(provider).build())
}
