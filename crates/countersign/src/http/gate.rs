//! The gate: whom the request is for, where it comes from, who asks, and how often. What is not known does not pass.

use super::Server;
use super::problem::{Problem, code};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use countersign_engine::Call;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Who asks, as their token says.
#[derive(Debug, Clone)]
pub struct Caller {
    call: Call,
    /// The token's id.
    token: String,
}

impl Caller {
    /// The id of their token, by which it is looked up again where an answer goes on for long.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The call that they make, and what makes a repetition of it the same one.
    pub fn call(&self, key: Option<String>) -> Call {
        Call { key, ..self.call.clone() }
    }
}

/// The only path that is answered to anybody.
const OPEN: &str = "/healthz";

/// Lets a request pass, or says why not.
pub async fn pass(State(server): State<Arc<Server>>, mut request: Request, next: Next) -> Response {
    let mut response = match admit(&server, &mut request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let headers = response.headers_mut();
    // What is answered is data for one caller, and never a page.
    for (name, value) in [
        ("cache-control", "private, no-cache"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
        ("referrer-policy", "no-referrer"),
        ("vary", "authorization"),
        ("x-content-type-options", "nosniff"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

fn admit(server: &Server, request: &mut Request) -> Result<(), Problem> {
    let host = server.settings.hosts.check(request)?;
    origin(request.headers(), &host)?;
    if request.uri().path() == OPEN && matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(());
    }
    let caller = caller(server, request.headers())?;
    request.extensions_mut().insert(caller.call(None));
    request.extensions_mut().insert(caller);
    Ok(())
}

fn caller(server: &Server, headers: &HeaderMap) -> Result<Caller, Problem> {
    let shown = only(headers, AUTHORIZATION).and_then(|it| it.split_once(' '));
    let shown = shown.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
    let Some(shown) = shown else { return Err(Problem::unauthenticated("no token was shown")) };
    let found = server.tokens.find(shown).map_err(|error| {
        crate::cli::say(&format!("error: the tokens cannot be read: {error:#}"));
        Problem::internal()
    })?;
    let token = found.filter(|token| !token.roles().is_empty());
    let Some(token) = token else {
        return Err(Problem::unauthenticated("the token is none of this project's, or it has ended or was taken back"));
    };
    if !server.rates.take(&token.id) {
        return Err(Problem::rate_limited());
    }
    let authn = format!("token {} http", token.id);
    let (roles, bound) = (token.roles(), token.bound());
    Ok(Caller { call: Call { actor: token.actor, authn, roles, bound, key: None }, token: token.id })
}

/// A header that is there once, as text.
fn only(headers: &HeaderMap, name: axum::http::HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    if all.next().is_some() { None } else { first.to_str().ok() }
}

/// What the server may be called by. A page elsewhere that resolves its own name to this machine calls it by that name, and
/// so is found out.
#[derive(Debug, Clone)]
pub struct Hosts(Vec<String>);

impl Hosts {
    /// The names of this machine to itself, the address that is listened on, and what was allowed besides.
    pub fn new(address: SocketAddr, allowed: &[String]) -> Self {
        let mut names: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).to_vec();
        if !address.ip().is_unspecified() {
            names.push(match address.ip() {
                std::net::IpAddr::V4(ip) => ip.to_string(),
                std::net::IpAddr::V6(ip) => format!("[{ip}]"),
            });
        }
        names.extend(allowed.iter().map(|name| name.to_ascii_lowercase()));
        Self(names)
    }

    /// The names themselves.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// The host that a request is for, if it is this one.
    fn check(&self, request: &Request) -> Result<Authority, Problem> {
        let refused = |why: &str| {
            let help = "call the server by its address; whoever runs it may allow other names";
            Problem::new(StatusCode::FORBIDDEN, code::HOST_NOT_ALLOWED, why, help)
        };
        let Some(host) = only(request.headers(), HOST).and_then(|it| it.parse::<Authority>().ok()) else {
            return Err(refused("the header Host is missing or unreadable"));
        };
        if !self.has(&host) || request.uri().authority().is_some_and(|named| *named != host) {
            return Err(refused("the server is not called by the name in the header Host"));
        }
        Ok(host)
    }

    fn has(&self, host: &Authority) -> bool {
        let (whole, name) = (host.as_str().to_ascii_lowercase(), host.host().to_ascii_lowercase());
        self.0.iter().any(|known| *known == name || *known == whole)
    }
}

/// A browser says which page asks; only pages of this server may.
fn origin(headers: &HeaderMap, host: &Authority) -> Result<(), Problem> {
    if !headers.contains_key(ORIGIN) {
        return Ok(());
    }
    let same = only(headers, ORIGIN)
        .and_then(|origin| origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")))
        .is_some_and(|origin| origin.eq_ignore_ascii_case(host.as_str()));
    let why = "a page of another origin asks";
    let refused = || Problem::new(StatusCode::FORBIDDEN, code::ORIGIN_NOT_ALLOWED, why, "ask from the server's own");
    if same { Ok(()) } else { Err(refused()) }
}

/// How often each token has asked lately.
pub struct Rates {
    /// So many a second, and twice as many at once.
    rate: f64,
    left: Mutex<HashMap<String, (f64, Instant)>>,
}

impl Rates {
    /// So many a second for each.
    pub fn new(rate: u32) -> Self {
        Self { rate: f64::from(rate), left: Mutex::default() }
    }

    /// Whether one more is all right.
    fn take(&self, token: &str) -> bool {
        let now = Instant::now();
        let mut all = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((left, since)) = all.get_mut(token) else {
            all.insert(token.to_owned(), (self.rate * 2.0 - 1.0, now));
            return true;
        };
        *left = (*left + now.duration_since(*since).as_secs_f64() * self.rate).min(self.rate * 2.0);
        *since = now;
        let may = *left >= 1.0;
        if may {
            *left -= 1.0;
        }
        may
    }
}
