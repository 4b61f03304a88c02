//! Where the server is: a URL, read once. What it has of secrets is never said again.

use crate::error::{Error, Result};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

/// How long a server may take to let us in.
const CONNECT: Duration = Duration::from_secs(10);
/// After how long without a sign of life a connection is tried, how often, and when it is given up: a server that is
/// gone is noticed within half a minute.
const ALIVE_AFTER: Duration = Duration::from_secs(10);
const ALIVE_EVERY: Duration = Duration::from_secs(5);
const ALIVE_TRIES: u32 = 3;
const UNANSWERED_MAX: Duration = Duration::from_secs(30);

/// A server, or several of which one takes writes, and how to speak with it.
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) tls: Option<Arc<ClientConfig>>,
}

impl Address {
    /// Reads `postgres://user:password@host,host/database?…`. Beside what the driver knows, `sslrootcert` names a file of
    /// certificates to trust instead of the system's. Certificates are always verified where TLS is used, so that
    /// `verify-full` asks for no more than `require`.
    pub(super) fn parse(url: &str) -> Result<Self> {
        let (url, roots) = without_roots(url)?;
        // What the driver says of a URL may repeat parts of it, and so a password that was not escaped.
        let mut config: Config = url.parse().map_err(|_| malformed("it cannot be understood"))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(malformed("it names no host"));
        }
        let name = |host: &Host| matches!(host, Host::Tcp(name) if name.contains('@'));
        if config.get_hosts().iter().any(name) || config.get_dbname().is_some_and(|it| it.contains('@')) {
            return Err(malformed("it has more than one @; write %40 for one in a password"));
        }
        // As every client of PostgreSQL does: a password that stands in no file and in no list of processes.
        if let (None, Ok(password)) = (config.get_password(), std::env::var("PGPASSWORD")) {
            config.password(password);
        }
        if config.get_application_name().is_none() {
            config.application_name(format!("countersign {}", std::process::id()));
        }
        config.target_session_attrs(TargetSessionAttrs::ReadWrite).connect_timeout(CONNECT);
        config.keepalives_idle(ALIVE_AFTER).keepalives_interval(ALIVE_EVERY).keepalives_retries(ALIVE_TRIES);
        config.tcp_user_timeout(UNANSWERED_MAX);
        // One that is named by its number alone is as remote as one that has a name.
        let named = config.get_hosts();
        let remote = named.is_empty() || named.iter().any(|host| matches!(host, Host::Tcp(_)));
        let tls = if remote && config.get_ssl_mode() != SslMode::Disable { Some(tls(roots.as_deref())?) } else { None };
        Ok(Self { config, tls })
    }

    /// How long connecting may take, over all hosts.
    pub(super) fn patience(&self) -> Duration {
        let hosts = self.config.get_hosts().len().max(self.config.get_hostaddrs().len());
        CONNECT * u32::try_from(hosts).unwrap_or(1)
    }
}

/// Hosts and database, and never who connects with which password.
impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports = self.config.get_ports();
        for (at, host) in self.config.get_hosts().iter().enumerate() {
            let port = ports.get(at).or(ports.first()).copied().unwrap_or(5432);
            out.write_str(if at == 0 { "" } else { "," })?;
            match host {
                Host::Tcp(name) => write!(out, "{name}:{port}")?,
                #[cfg(unix)]
                Host::Unix(folder) => write!(out, "{}:{port}", folder.display())?,
            }
        }
        write!(out, "/{}", self.config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Address({self})")
    }
}

fn malformed(why: &str) -> Error {
    let form = "postgres://user:password@host/database, with what is special in a password written as %40 and so on";
    Error::Malformed(format!("the address of the PostgreSQL server is not right: {why}; it is like {form}"))
}

/// Takes out of a URL what the driver does not know.
fn without_roots(url: &str) -> Result<(String, Option<String>)> {
    if !(url.starts_with("postgres://") || url.starts_with("postgresql://")) {
        return Err(malformed("it does not begin with postgres://"));
    }
    // Options follow the host, and a question mark before the last @ is part of a password.
    let host = url.rfind('@').unwrap_or(0);
    let Some(mark) = url[host..].find('?').map(|at| host + at) else { return Ok((url.to_owned(), None)) };
    let mut roots = None;
    let mut kept = Vec::new();
    for option in url[mark + 1..].split('&') {
        match option.split_once('=') {
            Some(("sslrootcert", "system")) => {}
            Some(("sslrootcert", file)) => roots = Some(unescaped(file)),
            Some(("sslmode", "verify-full" | "verify-ca")) => kept.push("sslmode=require"),
            _ => kept.push(option),
        }
    }
    let end = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    Ok((format!("{}{end}", &url[..mark]), roots))
}

fn unescaped(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = || Some(crate::hash::unhex(&std::str::from_utf8(after.get(..2)?).ok()?.to_lowercase())?[0]);
        match (byte, escaped()) {
            (b'%', Some(meant)) => {
                out.push(meant);
                rest = &after[2..];
            }
            _ => {
                out.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// TLS that verifies the server's certificate and name.
fn tls(roots: Option<&str>) -> Result<Arc<ClientConfig>> {
    let failed = |why: String| Error::Unreadable(format!("TLS cannot be set up: {why}"));
    let mut store = RootCertStore::empty();
    match roots {
        Some(file) => {
            let unread = |error| failed(format!("{file} cannot be read as certificates: {error}"));
            for certificate in CertificateDer::pem_file_iter(file).map_err(unread)? {
                let added = certificate.map(|it| store.add(it)).map_err(unread)?;
                added.map_err(|error| failed(format!("{file} has a certificate that cannot be used: {error}")))?;
            }
            if store.is_empty() {
                return Err(failed(format!("{file} has no certificate in it")));
            }
        }
        None => {
            // A system without certificates can still reach servers that do not use TLS.
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = versions.map_err(|error| failed(error.to_string()))?;
    Ok(Arc::new(config.with_root_certificates(store).with_no_client_auth()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "tops3cret";

    #[test]
    fn nothing_that_is_said_of_an_address_has_the_password() {
        for url in [
            "postgres://ana:tops3cret@localhost/db?sslmode=disable",
            "postgres://ana:tops3cret@localhost,other:5433/db?sslmode=verify-full&sslrootcert=system",
            "postgres://ana:p@tops3cret@localhost/db",
            "postgres://ana:p?tops3cret=1&tops3cret@localhost/db",
            "postgres://ana:tops3cret@localhost/db?tops3cret=1",
            "postgres://ana:tops3cret@localhost:port/db",
            "postgres://ana:100%tops3cret@/db",
            "postgres:///db?password=tops3cret&sslrootcert=/nowhere/tops",
            "host=localhost password=tops3cret",
            "mysql://ana:tops3cret@localhost/db",
        ] {
            let said = match Address::parse(url) {
                Ok(address) => format!("{address} {address:?}"),
                Err(error) => format!("{error} {error:?}"),
            };
            assert!(!said.contains(SECRET), "{url}: {said}");
        }
    }

    #[test]
    fn hosts_and_options_are_read() {
        let address = Address::parse("postgres://u@%2Ftmp%2Fa,h:1234/db?sslmode=verify-full&port=99").unwrap();
        assert_eq!(address.config.get_ssl_mode(), SslMode::Require);
        assert!(address.tls.is_some());
        assert!(address.to_string().starts_with("/tmp/a:"), "{address}");
        let local = Address::parse("postgres:///db?host=/run/x").unwrap();
        assert!(local.tls.is_none());
        let missing = Address::parse("postgres://h/db?sslrootcert=%2Fno%20where").unwrap_err();
        assert!(missing.to_string().contains("/no where"), "{missing}");
    }
}
