//! Where traces go, and how: what OpenTelemetry's variables say, or the project's settings.
//!
//! | variable | says |
//! |---|---|
//! | `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` | the address, as it is |
//! | `OTEL_EXPORTER_OTLP_ENDPOINT` | the address that `v1/traces` is beneath |
//! | `OTEL_EXPORTER_OTLP_HEADERS` | headers, `name=value` with commas between; keys are kept here |
//! | `OTEL_EXPORTER_OTLP_PROTOCOL` | `http/protobuf` or `http/json` |
//! | `OTEL_EXPORTER_OTLP_TIMEOUT` | how long one request may take, in milliseconds |
//! | `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES` | who sends |
//! | `OTEL_SDK_DISABLED`, `OTEL_TRACES_EXPORTER` | `true` and `none` switch it off |
//!
//! Those for everything have a sister for traces alone (`…_TRACES_HEADERS`), which comes first.

use std::time::Duration;
use ureq::http::{HeaderName, HeaderValue, Uri};

/// How long one request may take, if nobody says.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The most that can be said.
const TIMEOUT_MAX: Duration = Duration::from_secs(600);

/// How a request is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Protocol Buffers.
    Protobuf,
    /// JSON.
    Json,
}

/// Where traces go, and how.
#[derive(Clone)]
pub struct Settings {
    /// The address.
    pub url: String,
    /// How requests are written.
    pub protocol: Protocol,
    /// How long one may take.
    pub timeout: Duration,
    /// Who sends.
    pub resource: Vec<(String, String)>,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
}

/// An address that was named elsewhere than in the environment.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// What `v1/traces` is beneath.
    pub endpoint: &'a str,
    /// How requests are written, if that is said.
    pub protocol: Option<&'a str>,
    /// Whether a person named it, who means the headers of the environment to go there.
    pub by_person: bool,
}

/// A variable of the environment.
pub type Variable<'v> = &'v dyn Fn(&str) -> Option<String>;

impl Settings {
    /// What the environment says, or else what was named. None, if nobody asks for traces.
    pub fn read(variable: Variable<'_>, named: Option<Named<'_>>) -> Result<Option<Self>, String> {
        let said = |name: &str| variable(name).map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
        let of_traces = |name: &str| {
            said(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}")).or_else(|| said(&format!("OTEL_EXPORTER_OTLP_{name}")))
        };
        let off = said("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"))
            || said("OTEL_TRACES_EXPORTER").is_some_and(|it| it == "none");
        if off {
            return Ok(None);
        }
        let by_person = named.filter(|named| named.by_person);
        let exact = said("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        let base = said("OTEL_EXPORTER_OTLP_ENDPOINT");
        // What a person types comes before what stands in the environment, and that before a file.
        let (url, with_headers) = match (by_person, exact, base, named) {
            (Some(named), ..) => (url_of(named.endpoint), true),
            (None, Some(exact), ..) => (exact, true),
            (None, None, Some(base), _) => (url_of(&base), true),
            (None, None, None, Some(named)) => (url_of(named.endpoint), false),
            (None, None, None, None) => return Ok(None),
        };
        let uri = address(&url)?;
        let headers = match of_traces("HEADERS").filter(|_| with_headers) {
            Some(text) => headers(&text)?,
            None => Vec::new(),
        };
        if !headers.is_empty() && uri.scheme_str() == Some("http") && !is_loopback(&uri) {
            return Err(
                "the headers of OTEL_EXPORTER_OTLP_HEADERS would cross the network in the clear; use https, or a \
                        collector on this machine"
                    .to_owned(),
            );
        }
        let protocol = of_traces("PROTOCOL").or_else(|| named.and_then(|named| named.protocol).map(str::to_owned));
        let timeout = of_traces("TIMEOUT").map(|text| milliseconds(&text)).transpose()?;
        Ok(Some(Self {
            url: uri.to_string(),
            protocol: protocol_of(protocol.as_deref())?,
            timeout: timeout.unwrap_or(TIMEOUT),
            resource: resource(variable),
            headers,
        }))
    }

    /// Says one thing more about who sends, unless it was said.
    pub fn with_resource(mut self, name: &str, value: &str) -> Self {
        if !self.resource.iter().any(|(it, _)| it == name) {
            self.resource.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// A request with spans, and how it is written.
    pub(super) fn request(&self, spans: &[super::Span]) -> (&'static str, Vec<u8>) {
        match self.protocol {
            Protocol::Protobuf => ("application/x-protobuf", super::protobuf(&self.resource, spans)),
            Protocol::Json => ("application/json", super::json(&self.resource, spans).to_string().into_bytes()),
        }
    }
}

/// The address for traces beneath one for everything.
fn url_of(endpoint: &str) -> String {
    format!("{}/v1/traces", endpoint.trim_end_matches('/'))
}

/// Whether an address is on this machine.
pub fn is_local(endpoint: &str) -> bool {
    endpoint.parse::<Uri>().is_ok_and(|uri| is_loopback(&uri))
}

fn is_loopback(uri: &Uri) -> bool {
    matches!(uri.host(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

/// An address that can be sent to. A name and a password in it are refused, because they would be shown with it.
fn address(url: &str) -> Result<Uri, String> {
    let unusable = || {
        let shown = countersign_contract::show(url);
        format!(
            "`{shown}` is no address of a collector; write it as http://localhost:4318 or https://collector.example"
        )
    };
    let uri: Uri = url.parse().map_err(|_| unusable())?;
    let authority = uri.authority().ok_or_else(unusable)?;
    if authority.as_str().contains('@') {
        return Err(
            "the collector's address has a name or a password in it; put the key into OTEL_EXPORTER_OTLP_HEADERS"
                .to_owned(),
        );
    }
    match uri.scheme_str() {
        Some("http" | "https") if !authority.host().is_empty() => Ok(uri),
        _ => Err(unusable()),
    }
}

fn protocol_of(named: Option<&str>) -> Result<Protocol, String> {
    match named {
        None | Some("http/protobuf") => Ok(Protocol::Protobuf),
        Some("http/json") => Ok(Protocol::Json),
        Some(other) => {
            let other = countersign_contract::show(other);
            Err(format!(
                "traces are sent as http/protobuf or http/json, not as `{other}`; see OTEL_EXPORTER_OTLP_PROTOCOL"
            ))
        }
    }
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    let number = text.parse::<u64>().ok().filter(|number| *number > 0).map(Duration::from_millis);
    let number = number.filter(|number| *number <= TIMEOUT_MAX);
    number.ok_or_else(|| {
        let shown = countersign_contract::show(text);
        format!("`{shown}` is no time for OTEL_EXPORTER_OTLP_TIMEOUT; it is in milliseconds, up to ten minutes")
    })
}

/// Headers as they are written in a variable. What is in them is not repeated.
fn headers(text: &str) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
    let wrong = || "OTEL_EXPORTER_OTLP_HEADERS is not written as name=value,name=value".to_owned();
    let pair = |(name, value): (String, String)| {
        let name = HeaderName::try_from(name).ok()?;
        let mut value = HeaderValue::try_from(value).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    };
    pairs(text).into_iter().map(|it| it.and_then(pair).ok_or_else(wrong)).collect()
}

/// Who sends: the name of the service comes first from its own variable, then from among the attributes. An attribute that is
/// not written right is passed over, as the specification has it.
pub fn resource(variable: Variable<'_>) -> Vec<(String, String)> {
    let said = |name: &str| variable(name).map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
    let attributes = said("OTEL_RESOURCE_ATTRIBUTES").map(|text| pairs(&text)).unwrap_or_default();
    let mut all: Vec<(String, String)> = attributes.into_iter().flatten().collect();
    if let Some(service) = said("OTEL_SERVICE_NAME") {
        all.retain(|(name, _)| name != "service.name");
        all.insert(0, ("service.name".to_owned(), service));
    }
    for (name, value) in [("service.name", "countersign"), ("service.version", env!("CARGO_PKG_VERSION"))] {
        if !all.iter().any(|(it, _)| it == name) {
            all.push((name.to_owned(), value.to_owned()));
        }
    }
    all
}

/// The pairs of a list; none for one that is not written right.
fn pairs(text: &str) -> Vec<Option<(String, String)>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let pair = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let name = decoded(name.trim())?;
        (!name.is_empty()).then_some((name, decoded(value.trim())?))
    };
    parts.map(pair).collect()
}

/// A text in which `%41` stands for `A`.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        if *first != b'%' {
            bytes.push(*first);
            rest = tail;
            continue;
        }
        let digit = |at: usize| char::from(*tail.get(at)?).to_digit(16);
        bytes.push(u8::try_from(digit(0)? * 16 + digit(1)?).ok()?);
        rest = tail.get(2..)?;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
