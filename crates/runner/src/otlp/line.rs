//! The line to a collector: one request, one response, within limits.

use super::settings::Settings;
use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// How long a response may be.
const RESPONSE_MAX: u64 = 1024 * 1024;

/// What came back.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
    headers: ureq::http::HeaderMap,
}

impl Response {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Sends one request. A redirect is an answer like any other: nothing is sent to where it leads. An error says why nothing
/// came back; another attempt may go better.
pub(super) fn post(settings: &Settings, form: &str, body: &[u8], patience: Duration) -> Result<Response, String> {
    let mut config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        .timeout_global(Some(patience));
    if settings.url.starts_with("https:") {
        config = config.tls_config(tls()?);
    }
    let agent = ureq::Agent::new_with_config(config.build());
    let mut request = agent.post(&settings.url).header("content-type", form);
    for (name, value) in &settings.headers {
        request = request.header(name, value);
    }
    let read = |mut response: ureq::http::Response<ureq::Body>| {
        let body = response.body_mut().with_config().limit(RESPONSE_MAX).read_to_vec()?;
        let (parts, _) = response.into_parts();
        Ok(Response { status: parts.status.as_u16(), body, headers: parts.headers })
    };
    request.send(body).and_then(read).map_err(|error| match error {
        ureq::Error::Timeout(_) => format!("it did not answer within {} ms", patience.as_millis()),
        error => format!("it cannot be reached: {error}"),
    })
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
