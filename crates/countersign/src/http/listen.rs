//! Listening: connections, TLS, and an end that leaves nobody without an answer.

use super::words::Words;
use anyhow::{Context, bail};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

/// How many connections there may be at once. Others wait until one ends.
const CONNECTIONS_MAX: usize = 1024;
const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(10);
/// How many headers a request may have.
pub const HEADERS_MAX: usize = 64;
/// How many bytes they may have, with the first line.
pub const HEADER_BYTES_MAX: usize = 64 * 1024;
/// How much is read ahead. It is more than a head may have, so that one that is too long by little is told so.
const BUFFER_BYTES_MAX: usize = 2 * HEADER_BYTES_MAX;

/// What a connection is encrypted with.
pub struct Tls(TlsAcceptor);

impl Tls {
    /// A certificate with its chain, and its key, as PEM files.
    pub fn read(certificate: &Path, key: &Path) -> anyhow::Result<Self> {
        let certificates: Vec<_> = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect)
            .with_context(|| format!("the certificate {} cannot be read", certificate.display()))?;
        if certificates.is_empty() {
            bail!("there is no certificate in {}", certificate.display());
        }
        if let Some(mode) = crate::home::open_to_others(key) {
            bail!("the key {} may be read by others (mode {mode:o}); run `chmod 600` on it", key.display());
        }
        let secret =
            PrivateKeyDer::from_pem_file(key).with_context(|| format!("the key {} cannot be read", key.display()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(certificates, secret)
            .context("the certificate and the key do not belong together")?;
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }
}

/// A place where callers arrive.
pub struct Listening {
    listener: TcpListener,
    tls: Option<Tls>,
    /// How long a connection may take to say what it wants.
    patience: Duration,
}

impl Listening {
    /// Takes the address.
    pub async fn at(address: SocketAddr, tls: Option<Tls>, patience: Duration) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address).await;
        let listener = listener.with_context(|| format!("{address} cannot be listened on"))?;
        Ok(Self { listener, tls, patience })
    }

    /// The address that was taken.
    pub fn address(&self) -> anyhow::Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    /// Where it is found.
    pub fn url(&self) -> anyhow::Result<String> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        Ok(format!("{scheme}://{}", self.address()?))
    }

    /// Serves until `end` is ready; then nobody new is let in, and what was accepted is answered.
    pub async fn serve(self, router: Router, end: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut end = std::pin::pin!(end);
        loop {
            let arrival = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (place, self.listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                arrived = arrival => arrived,
                () = &mut end => break,
            };
            let Ok((stream, _)) = accepted else {
                // Without file descriptors to spare there is no use in hurrying.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            notice_who_is_gone(&stream);
            let (router, watcher) = (router.clone(), graceful.watcher());
            let (tls, patience) = (self.tls.as_ref().map(|tls| tls.0.clone()), self.patience);
            tokio::spawn(async move {
                let _place = place;
                connection(stream, tls, router, watcher, patience).await;
            });
        }
        drop(self.listener);
        graceful.shutdown().await;
    }
}

/// A peer that is gone without a word keeps its place no longer than this, rather than for a quarter of an hour: what is sent
/// to it, and to those who follow events something is every 15 s, must be answered by then.
#[cfg(target_os = "linux")]
fn notice_who_is_gone(stream: &TcpStream) {
    const UNANSWERED_MS_MAX: u32 = 40_000;
    // Where it cannot be set, it takes longer.
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, UNANSWERED_MS_MAX);
}

#[cfg(not(target_os = "linux"))]
fn notice_who_is_gone(_: &TcpStream) {}

async fn connection(stream: TcpStream, tls: Option<TlsAcceptor>, router: Router, watcher: Watcher, patience: Duration) {
    match tls {
        None => talk(stream, router, watcher, patience).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE_PATIENCE, tls.accept(stream)).await {
                talk(stream, router, watcher, patience).await;
            }
        }
    }
}

async fn talk(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    watcher: Watcher,
    patience: Duration,
) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(patience);
    builder.max_headers(HEADERS_MAX).max_header_size(HEADER_BYTES_MAX).max_buf_size(BUFFER_BYTES_MAX);
    let connection = builder.serve_connection(TokioIo::new(Words::over(stream)), TowerToHyperService::new(router));
    // A connection that breaks off is the caller's affair; what it asked for is done all the same.
    let _ = watcher.watch(connection).await;
}
