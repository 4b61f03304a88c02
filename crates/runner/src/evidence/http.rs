//! An address that must answer.
//!
//! Only hosts that may be asked are asked, and at no other address than the one that was looked at: names are resolved
//! here, and an address that is not allowed is never connected to. A redirect is followed on the same host only.
//! Nothing of this machine's settings takes part: no proxy, no cookies, no credentials.

use super::hosts::Hosts;
use super::{AnswerSeen, Evidence, Status, plain};
use countersign_contract::{Text, show};
use countersign_domain::plan::evidence::EvidenceKind;
use countersign_domain::plan::payload::{HttpCheck, OneOrMany};
use memchr::memmem;
use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};
use ureq::http::{Method, Request, Response, Uri};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Body};

/// How much of an answer is read.
const ANSWER_MAX: u64 = 1 << 20;
/// How many letters of an answer are shown.
const SNIPPET: usize = 500;
/// How many redirects are followed.
const REDIRECTS_MAX: usize = 5;

/// Asks an address, and looks at its answer.
pub(super) fn collect(wanted: &HttpCheck, allowed: &[String], patience: Duration) -> Evidence {
    let method = wanted.method.as_ref().map_or("GET", Text::as_str).to_ascii_uppercase();
    let url = plain::redacted(wanted.url.as_str().to_owned());
    let mut seen = AnswerSeen { url, method: method.clone(), status_code: None, snippet: String::new() };
    let ask = Ask { hosts: Hosts::new(allowed), until: Instant::now() + patience, patience };
    let outcome = ask.look(wanted, &method, &mut seen);
    let evidence = Evidence::new(EvidenceKind::Http, outcome.status, outcome.says);
    Evidence { answer: Some(seen), timed_out: outcome.timed_out, ..evidence }
}

struct Outcome {
    status: Status,
    says: String,
    timed_out: bool,
}

fn outcome(status: Status, says: impl Into<String>) -> Outcome {
    Outcome { status, says: says.into(), timed_out: false }
}

struct Ask {
    hosts: Hosts,
    until: Instant,
    patience: Duration,
}

impl Ask {
    fn look(&self, wanted: &HttpCheck, method: &str, seen: &mut AnswerSeen) -> Outcome {
        let status = u16::try_from(wanted.status.map_or(200, |status| status.get())).unwrap_or(200);
        let Ok(method) = method.parse::<Method>() else {
            return outcome(Status::Blocked, format!("`{}` is no method of HTTP", show(method)));
        };
        let Ok(url) = wanted.url.as_str().parse::<Uri>() else {
            return outcome(Status::Blocked, format!("`{}` is no address", show(wanted.url.as_str())));
        };
        let answer = match self.follow(&url, &method, status) {
            Ok(answer) => answer,
            Err(outcome) => return outcome,
        };
        let found = answer.status().as_u16();
        seen.status_code = Some(found);
        let (bytes, is_whole, broken) = read(answer);
        seen.snippet = plain::snippet(&bytes, SNIPPET);
        if found != status {
            return outcome(Status::Fail, format!("it answered {found}, and must answer {status}"));
        }
        if let Some(error) = broken {
            return self.failed(&error, "broke off its answer");
        }
        let missing = missing(wanted.contains.as_ref(), &bytes);
        match missing {
            None => outcome(Status::Pass, format!("it answered {found}, and what it must")),
            Some(text) if is_whole => outcome(Status::Fail, format!("its answer does not contain `{}`", show(text))),
            Some(text) => {
                let says = format!("`{}` is not in the first MiB of its answer, and no more is read", show(text));
                outcome(Status::Blocked, says)
            }
        }
    }

    /// The answer to a question, after redirects on the same host. One that is wanted is not followed.
    fn follow(&self, first: &Uri, method: &Method, status: u16) -> Result<Response<Body>, Outcome> {
        let host = first.host().unwrap_or_default();
        if !self.hosts.allow(host) {
            let says = format!(
                "`{}` is not among the hosts that are allowed, and was not asked; name it in `allow_hosts` of the plan, or with \
                 `--allow-host`",
                show(host)
            );
            return Err(outcome(Status::Blocked, says));
        }
        let tls = if first.scheme_str() == Some("https") { Some(tls().ok_or_else(untrusting)?) } else { None };
        let mut url = first.clone();
        for _ in 0..=REDIRECTS_MAX {
            let agent = self.agent(tls.clone());
            let request = Request::builder().method(method.clone()).uri(url.clone()).body(());
            let request = request.map_err(|error| outcome(Status::Blocked, format!("it cannot be asked: {error}")))?;
            let answer = agent.run(request).map_err(|error| self.failed(&error, "did not answer"))?;
            let found = answer.status();
            if !found.is_redirection() || found.as_u16() == status || !matches!(method.as_str(), "GET" | "HEAD") {
                return Ok(answer);
            }
            let Some(to) = answer.headers().get("location").and_then(|to| to.to_str().ok()) else { return Ok(answer) };
            let Some(next) = resolve(&url, to) else {
                return Err(outcome(Status::Fail, format!("it redirects to `{}`, which is no address", show(to))));
            };
            let is_same = next.host() == first.host() && next.scheme() == first.scheme();
            if !is_same {
                let says = format!("it redirects to `{}`, another host, which is not asked", show(&next.to_string()));
                return Err(outcome(Status::Fail, says));
            }
            url = next;
        }
        Err(outcome(Status::Fail, format!("it redirects more than {REDIRECTS_MAX} times")))
    }

    /// One that may take as long as there is time left.
    fn agent(&self, tls: Option<TlsConfig>) -> Agent {
        let left = self.until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .max_idle_connections(0)
            .allow_non_standard_methods(true)
            .timeout_global(Some(left));
        if let Some(tls) = tls {
            config = config.tls_config(tls);
        }
        let resolver = Careful { hosts: self.hosts.clone(), inner: DefaultResolver::default() };
        Agent::with_parts(config.build(), DefaultConnector::default(), resolver)
    }

    fn failed(&self, error: &ureq::Error, what: &str) -> Outcome {
        match error {
            ureq::Error::Timeout(_) => {
                let says = format!("it {what} within {} s", self.patience.as_secs());
                Outcome { timed_out: true, ..outcome(Status::Fail, says) }
            }
            ureq::Error::HostNotFound => {
                outcome(Status::Blocked, "the host cannot be found, or leads to an address that is not allowed")
            }
            error => outcome(Status::Fail, format!("it {what}: {}", plain::redacted(error.to_string()))),
        }
    }
}

/// What is read of an answer, whether that is all of it, and what broke it off.
fn read(answer: Response<Body>) -> (Vec<u8>, bool, Option<ureq::Error>) {
    let mut bytes = Vec::new();
    let mut reader = answer.into_body().into_reader().take(ANSWER_MAX + 1);
    let broken = reader.read_to_end(&mut bytes).err().map(ureq::Error::from);
    let is_whole = bytes.len() as u64 <= ANSWER_MAX;
    bytes.truncate(usize::try_from(ANSWER_MAX).unwrap_or(usize::MAX));
    (bytes, is_whole, broken)
}

fn missing<'w>(wanted: Option<&'w OneOrMany<Text>>, bytes: &[u8]) -> Option<&'w str> {
    let mut texts = wanted.into_iter().flat_map(|texts| texts.iter()).map(Text::as_str);
    texts.find(|text| memmem::find(bytes, text.as_bytes()).is_none())
}

/// Where a redirect leads, seen from an address.
fn resolve(from: &Uri, to: &str) -> Option<Uri> {
    let (scheme, authority) = (from.scheme_str()?, from.authority()?);
    let whole = if to.starts_with("http://") || to.starts_with("https://") {
        to.to_owned()
    } else if let Some(rest) = to.strip_prefix("//") {
        format!("{scheme}://{rest}")
    } else if to.starts_with('/') {
        format!("{scheme}://{authority}{to}")
    } else if to.starts_with('?') {
        format!("{scheme}://{authority}{}{to}", from.path())
    } else {
        let folder = from.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{scheme}://{authority}{folder}/{to}")
    };
    let whole = whole.split_once('#').map_or(whole.as_str(), |(whole, _)| whole);
    whole.parse().ok()
}

/// Resolves names, and gives only addresses that may be asked.
#[derive(Debug)]
struct Careful {
    hosts: Hosts,
    inner: DefaultResolver,
}

impl Resolver for Careful {
    fn resolve(
        &self,
        uri: &Uri,
        config: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let host = uri.host().unwrap_or_default();
        if !self.hosts.allow(host) {
            return Err(ureq::Error::HostNotFound);
        }
        let mut kept = self.empty();
        // Whatever keeps a name from being resolved, the host was not found.
        let found = self.inner.resolve(uri, config, timeout).map_err(|_| ureq::Error::HostNotFound)?;
        for address in found.iter() {
            if self.hosts.allow_at(host, address.ip()) {
                kept.push(*address);
            }
        }
        if kept.is_empty() { Err(ureq::Error::HostNotFound) } else { Ok(kept) }
    }
}

fn untrusting() -> Outcome {
    let says = "this machine trusts no certificate authority; set SSL_CERT_FILE to a file with some";
    outcome(Status::Blocked, says)
}

/// The authorities that this machine trusts; none, if it trusts nobody.
fn tls() -> Option<TlsConfig> {
    let found = rustls_native_certs::load_native_certs();
    let certificates: Vec<_> = found.certs.iter().map(|it| Certificate::from_der(it).to_owned()).collect();
    if certificates.is_empty() {
        return None;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let roots = RootCerts::new_with_certs(&certificates);
    Some(TlsConfig::builder().root_certs(roots).unversioned_rustls_crypto_provider(provider).build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_lead_where_the_table_says() {
        let from: Uri = "http://127.0.0.1:8000/a/b?c".parse().unwrap();
        let cases = [
            ("/x", "http://127.0.0.1:8000/x"),
            ("x", "http://127.0.0.1:8000/a/x"),
            ("?y", "http://127.0.0.1:8000/a/b?y"),
            ("//evil.org/x", "http://evil.org/x"),
            ("https://evil.org/x#y", "https://evil.org/x"),
        ];
        for (to, expected) in cases {
            assert_eq!(resolve(&from, to).map(|it| it.to_string()).as_deref(), Some(expected), "{to}");
        }
        assert_eq!(resolve(&from, "http://"), None);
    }
}
