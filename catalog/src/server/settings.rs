//! Settings of a server, and its certificate, read again when its files change.

use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use std::{fmt, io};

use dropforge::files;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{Error, ServerConfig};
use uuid::Uuid;

use crate::Origin;

/// Settings of a [`Server`](super::Server).
///
/// ```
/// let settings = dropforge_catalog::server::Settings::default();
/// assert_eq!(settings.body_bytes, 1 << 20);
/// assert!(settings.rate.is_none());
/// ```
#[derive(Debug, Clone)]
pub struct Settings {
    /// Address to listen on. With port 0 the system chooses a port ([`Server::address`](super::Server::address)).
    pub listen: SocketAddr,
    /// Address to listen on for probes: `/healthz`, `/readyz` and `/metrics` without a key. Default: none.
    pub probe_listen: Option<SocketAddr>,
    /// Interval between counts of the catalog's rows, for the metrics.
    pub count_interval: Duration,
    /// Maximum number of connections. A further one takes the place of the oldest one without a request, or waits.
    pub connections: usize,
    /// Maximum number of connections from one address. A further one takes the place of the address's oldest one without
    /// a request, or is closed.
    pub connections_per_address: usize,
    /// Timeout for the request head.
    pub head_timeout: Duration,
    /// Timeout for the next request on a connection. With zero, each connection has one request.
    pub keep_alive: Duration,
    /// Timeout for a whole request body.
    pub body_timeout: Duration,
    /// Timeout for a client that does not read its response.
    pub write_timeout: Duration,
    /// Maximum time of a shutdown, in which current requests are finished.
    pub drain: Duration,
    /// Time at the beginning of a shutdown in which the server accepts requests but is not ready.
    pub not_ready: Duration,
    /// Maximum bytes of a request body.
    pub body_bytes: usize,
    /// Maximum bytes of the body of a stamp request.
    pub stamp_bytes: usize,
    /// Maximum bytes of a page of a list, unless it has one entry. A list without pages is sent in parts.
    pub page_bytes: usize,
    /// Maximum bytes of all request bodies in memory. One caller gets at most half of it, and status 503 beyond.
    pub body_memory: usize,
    /// Maximum number of concurrent stamp requests of one caller, and half the maximum of all. Further ones get status 503.
    pub stamps: usize,
    /// Maximum requests per second and key, and burst size. Default: unlimited.
    pub rate: Option<NonZeroU32>,
    /// Certificate and key. Default: unencrypted.
    pub tls: Option<Tls>,
    /// `true` to take the addresses of clients from the last entry of `X-Forwarded-For`, which a proxy adds.
    pub behind_proxy: bool,
    /// Called after every request, and again if its response is cut off.
    pub log: Option<Log>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            probe_listen: None,
            count_interval: Duration::from_secs(15),
            connections: 1024,
            connections_per_address: 512,
            head_timeout: Duration::from_secs(10),
            keep_alive: Duration::from_secs(75),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            drain: Duration::from_secs(20),
            not_ready: Duration::ZERO,
            body_bytes: 1 << 20,
            stamp_bytes: 16 << 20,
            page_bytes: 4 << 20,
            body_memory: 96 << 20,
            stamps: 4,
            rate: None,
            tls: None,
            behind_proxy: false,
            log: None,
        }
    }
}

/// A callback for every finished request, and for every response that is cut off. It runs on a thread that serves other
/// requests and must not block.
#[derive(Clone)]
pub struct Log(Arc<dyn Fn(&Exchange<'_>) + Send + Sync>);

impl Log {
    /// Creates a log from a function.
    pub fn new(write: impl Fn(&Exchange<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }

    pub(super) fn tell(&self, exchange: &Exchange<'_>) {
        (self.0)(exchange);
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

/// A request and its response.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    /// Request ID, as in the `X-Request-Id` header.
    pub id: &'a str,
    /// Method.
    pub method: &'a str,
    /// Path without the query.
    pub path: &'a str,
    /// Response status.
    pub status: u16,
    /// Time until the response started, or was cut off.
    pub took: Duration,
    /// The cause, for internal errors.
    pub cause: Option<&'a str>,
    /// `true` if the response started well, but ended early for this cause.
    pub cut_off: bool,
    /// The caller, if a key was accepted.
    pub origin: Option<&'a Origin>,
    /// Address of the client.
    pub address: Option<IpAddr>,
    /// ID of the object that the request changed, or else the first one in its path.
    pub object: Option<Uuid>,
}

/// Minimum interval between looks at the files.
const LOOK_INTERVAL: Duration = Duration::from_secs(10);

/// Maximum size of a file with certificates or a key.
const MAX_FILE: u64 = 4 << 20;

/// A connection, encrypted or not.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A certificate and its key. Clones share them.
///
/// Renewed files are used within ten seconds, without a restart. If they cannot be used, the previous ones stay.
#[derive(Clone)]
pub struct Tls(Arc<Files>);

struct Files {
    certificate: PathBuf,
    key: PathBuf,
    current: Mutex<Current>,
}

struct Current {
    acceptor: TlsAcceptor,
    changed: [Option<SystemTime>; 2],
    looked: Instant,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("certificate", &self.0.certificate).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads a chain of certificates and the key of the first one, both PEM.
    ///
    /// # Errors
    /// A file cannot be read, or the key does not fit the certificate. The text names the file, and shows nothing of the
    /// key.
    pub fn load(certificate: &Path, key: &Path) -> io::Result<Self> {
        let changed = changed(certificate, key);
        let current = Current { acceptor: acceptor(certificate, key)?, changed, looked: Instant::now() };
        let (certificate, key) = (certificate.to_owned(), key.to_owned());
        Ok(Self(Arc::new(Files { certificate, key, current: Mutex::new(current) })))
    }

    fn acceptor(&self) -> TlsAcceptor {
        let Files { certificate, key, current } = &*self.0;
        let mut current = current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.looked.elapsed() >= LOOK_INTERVAL {
            current.looked = Instant::now();
            let changed = changed(certificate, key);
            // Both files are renewed one after the other, so that a pair may not fit yet.
            if let (true, Ok(acceptor)) = (changed != current.changed, acceptor(certificate, key)) {
                (current.acceptor, current.changed) = (acceptor, changed);
            }
        }
        current.acceptor.clone()
    }

    /// Performs the handshake of a connection. Returns `None` if it fails or takes longer than `limit`.
    pub(super) async fn accept(tls: Option<&Self>, stream: TcpStream, limit: Duration) -> Option<Box<dyn Stream>> {
        match tls {
            None => Some(Box::new(stream)),
            Some(tls) => Some(Box::new(timeout(limit, tls.acceptor().accept(stream)).await.ok()?.ok()?)),
        }
    }
}

fn changed(certificate: &Path, key: &Path) -> [Option<SystemTime>; 2] {
    [certificate, key].map(|path| path.metadata().and_then(|found| found.modified()).ok())
}

fn acceptor(certificate: &Path, key: &Path) -> io::Result<TlsAcceptor> {
    let unusable = |what: &str, path: &Path, error: &dyn Display| {
        io::Error::other(format!("cannot use the {what} in `{}`: {error}", path.display()))
    };
    let text = files::read(certificate, MAX_FILE).map_err(|error| unusable("certificate", certificate, &error))?;
    let chain = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let no_chain = || unusable("certificate", certificate, &"the file has no certificate in PEM form");
    let chain = chain.ok().filter(|chain| !chain.is_empty()).ok_or_else(no_chain)?;
    let text = files::read(key, MAX_FILE).map_err(|error| unusable("key", key, &error))?;
    let no_key = |_| unusable("key", key, &"the file has no key in PEM form without a passphrase");
    let secret = PrivateKeyDer::from_pem_slice(&text).map_err(no_key)?;
    let config =
        ServerConfig::builder_with_provider(Arc::new(default_provider())).with_safe_default_protocol_versions();
    let config = config.and_then(|config| config.with_no_client_auth().with_single_cert(chain, secret));
    let config = config.map_err(|error| match error {
        Error::InconsistentKeys(_) => unusable("key", key, &"it is the key of another certificate"),
        Error::InvalidCertificate(_) => unusable("certificate", certificate, &"it is damaged"),
        other => unusable("key", key, &other),
    });
    Ok(TlsAcceptor::from(Arc::new(config?)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tokio_rustls::TlsConnector;
    use tokio_rustls::rustls::{ClientConfig, RootCertStore};

    use super::*;

    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec-tests/cli/tls");

    fn certificates(name: &str) -> Vec<CertificateDer<'static>> {
        let path = format!("{FOLDER}/{name}.pem");
        CertificateDer::pem_file_iter(path).unwrap().map(Result::unwrap).collect()
    }

    /// The certificate that a client sees.
    async fn shown(tls: &Tls) -> CertificateDer<'static> {
        let mut trusted = RootCertStore::empty();
        trusted.add(certificates("authority").remove(0)).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_root_certificates(trusted);
        let connector = TlsConnector::from(Arc::new(config.with_no_client_auth()));
        let (here, there) = tokio::io::duplex(1 << 16);
        let name = "localhost".try_into().unwrap();
        let (client, server) = tokio::join!(connector.connect(name, here), tls.acceptor().accept(there));
        drop(server.unwrap());
        client.unwrap().get_ref().1.peer_certificates().unwrap()[0].clone().into_owned()
    }

    #[test]
    fn files_that_cannot_be_used_are_explained() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let known = |name: &str| Path::new(FOLDER).join(name);
        let cut = file("cut", "-----BEGIN CERTIFICATE-----\nAAAA");
        let damaged = file("damaged", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        let text = file("text", "hello");
        for (certificate, key, why) in [
            (&cut, &known("first.key"), "the certificate in `"),
            (&cut, &known("first.key"), "`: the file has no certificate in PEM form"),
            (&known("first.pem"), &text, "`: the file has no key in PEM form without a passphrase"),
            (&known("first.pem"), &known("second.key"), "`: it is the key of another certificate"),
            (&damaged, &known("first.key"), "damaged`: it is damaged"),
        ] {
            let refused = Tls::load(certificate, key).unwrap_err().to_string();
            assert!(refused.contains(why) && !refused.contains('['), "{refused}");
        }
    }

    #[tokio::test]
    async fn renewed_files_are_used_once_they_fit() {
        let folder = std::env::temp_dir().join(format!("dropforge-tls-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (certificate, key) = (folder.join("tls.pem"), folder.join("tls.key"));
        let write = |name: &str, end: &str, to: &Path| {
            // A new time, however coarse the clock of the file system is.
            fs::write(to, fs::read(format!("{FOLDER}/{name}.{end}")).unwrap()).unwrap();
            let time = SystemTime::now() + Duration::from_secs(name.len() as u64);
            fs::File::options().write(true).open(to).unwrap().set_modified(time).unwrap();
        };
        write("first", "pem", &certificate);
        write("first", "key", &key);
        let tls = Tls::load(&certificate, &key).unwrap();
        let look = || tls.0.current.lock().unwrap().looked = Instant::now().checked_sub(LOOK_INTERVAL).unwrap();
        assert_eq!(shown(&tls).await, certificates("first")[0]);
        // Not yet looked at, and then no pair yet.
        write("second", "pem", &certificate);
        assert_eq!(shown(&tls).await, certificates("first")[0]);
        look();
        assert_eq!(shown(&tls).await, certificates("first")[0]);
        write("second", "key", &key);
        look();
        assert_eq!(shown(&tls).await, certificates("second")[0]);
        // A pipe is not waited for, and a device has no end.
        fs::remove_file(&key).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&key).status().unwrap().success());
        look();
        assert_eq!(shown(&tls).await, certificates("second")[0]);
        let refused = |certificate: &Path, key: &Path| Tls::load(certificate, key).unwrap_err().to_string();
        assert!(refused(&certificate, &key).ends_with("it is a pipe, not a file"));
        assert!(refused(Path::new("/dev/zero"), &key).ends_with("it is a device, not a file"));
        fs::remove_dir_all(folder).unwrap();
        look();
        assert_eq!(shown(&tls).await, certificates("second")[0]);
    }
}
