//! The line to an endpoint: one request, one response, within limits.

use std::sync::Arc;
use std::time::Duration;
use ureq::http::Uri;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// How long it may take to reach the endpoint.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);
/// How long a response may be.
const RESPONSE_MAX: u64 = 1024 * 1024;

/// An address that may be asked.
pub(super) struct Line {
    url: String,
    tls: Option<TlsConfig>,
}

/// What came back.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
    headers: ureq::http::HeaderMap,
}

impl Response {
    pub(super) fn header(&self, name: &str) -> Option<String> {
        self.headers.get(name)?.to_str().ok().map(str::to_owned)
    }
}

/// Why nothing came back.
pub(super) enum Broken {
    /// The time is up.
    Late,
    /// Another attempt may go better.
    Passing(String),
    /// It will not.
    Lasting(String),
}

/// An address, if a key may go there: over TLS, or to this machine. A name and a password in it are refused, because they
/// would be shown with it.
pub(super) fn address(url: &str) -> Result<Uri, String> {
    let shown = countersign_contract::show(url);
    let unusable = || format!("`{shown}` is no address of a judge; it begins with https://, and has a host and a path");
    let uri: Uri = url.parse().map_err(|_| unusable())?;
    let authority = uri.authority().ok_or_else(unusable)?;
    if authority.as_str().contains('@') {
        return Err("the judge's address has a name or a password in it; put the key into its variable".to_owned());
    }
    match (uri.scheme_str(), authority.host()) {
        (_, "") => Err(unusable()),
        (Some("https"), _) | (Some("http"), "localhost" | "127.0.0.1" | "[::1]") => Ok(uri),
        (Some("http"), host) => {
            let host = countersign_contract::show(host);
            Err(format!("the judge's key would go to {host} in the clear; use https, or a judge on this machine"))
        }
        _ => Err(unusable()),
    }
}

impl Line {
    /// A line to an address. Nothing is sent yet.
    pub(super) fn new(uri: &Uri) -> Result<Self, String> {
        let tls = if uri.scheme_str() == Some("https") { Some(tls()?) } else { None };
        Ok(Self { url: uri.to_string(), tls })
    }

    /// Sends one request. A redirect is an answer like any other: nothing is sent to where it leads.
    pub(super) fn post(&self, headers: &[(&str, String)], body: &str, patience: Duration) -> Result<Response, Broken> {
        let mut config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECT_PATIENCE.min(patience)))
            .timeout_global(Some(patience));
        if let Some(tls) = &self.tls {
            config = config.tls_config(tls.clone());
        }
        // One for each request, so that none goes out on a connection that was closed while nobody looked.
        let agent = ureq::Agent::new_with_config(config.build());
        let mut request = agent.post(&self.url).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let read = |mut response: ureq::http::Response<ureq::Body>| {
            let body = response.body_mut().with_config().limit(RESPONSE_MAX).read_to_vec()?;
            let (parts, _) = response.into_parts();
            Ok(Response { status: parts.status.as_u16(), body, headers: parts.headers })
        };
        request.send(body).and_then(read).map_err(|error| broken(&error))
    }
}

fn broken(error: &ureq::Error) -> Broken {
    use ureq::Timeout;
    match error {
        ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
            Broken::Passing("the judge could not be reached in time; see whether its address is right".to_owned())
        }
        ureq::Error::Timeout(_) => Broken::Late,
        ureq::Error::HostNotFound => Broken::Passing("the judge's host is not known; see its address".to_owned()),
        ureq::Error::BodyExceedsLimit(_) => {
            Broken::Lasting(format!("the judge's response is longer than {RESPONSE_MAX} bytes"))
        }
        ureq::Error::Io(error) if is_tls(error) => untrusted(error),
        ureq::Error::Rustls(error) => untrusted(error),
        ureq::Error::Io(_) | ureq::Error::ConnectionFailed | ureq::Error::Protocol(_) | ureq::Error::BodyStalled => {
            Broken::Passing(format!("the connection to the judge broke: {error}"))
        }
        error => Broken::Lasting(format!("the judge cannot be asked: {error}")),
    }
}

fn is_tls(error: &std::io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>())
}

fn untrusted(error: &dyn std::fmt::Display) -> Broken {
    Broken::Lasting(format!("the judge did not prove who it is: {error}; nothing was sent"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_goes_over_tls_or_to_this_machine() {
        for url in [
            "https://api.example.com/v1/messages",
            "http://localhost:8080/v1/messages",
            "http://127.0.0.1/v1/responses",
            "http://[::1]:1234/v1/chat/completions",
        ] {
            assert!(address(url).is_ok(), "{url}");
        }
        for url in [
            "",
            "api.example.com",
            "/v1/messages",
            "https:///v1/messages",
            "ftp://example.com/v1/messages",
            "http://api.example.com/v1/messages",
            "http://127.0.0.1.example.com/v1/messages",
            "http://localhost.example.com/v1/messages",
            "http://10.0.0.1/v1/messages",
            "https://name:password@example.com/v1/messages",
            "http://localhost@example.com/v1/messages",
            "https://exa mple.com/v1/messages",
        ] {
            assert!(address(url).is_err(), "{url}");
        }
        let refused = address("https://name:hunter2@example.com/v1/messages").unwrap_err();
        assert!(!refused.contains("hunter2"));
    }
}
