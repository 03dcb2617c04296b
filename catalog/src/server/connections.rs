//! The server: accepting, serving and closing connections.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use prometheus::IntGauge;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::background::Probes;
use super::origin::FromPeer;
use super::routes;
use super::service::Service;
use super::settings::Settings;
use super::tls::Tls;
use super::write_timeout::WriteTimeout;
use crate::Catalog;

/// Maximum number of headers of a request.
const MAX_HEADERS: usize = 64;
/// Maximum bytes of a request head.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// Delay before accepting again when file descriptors run out.
const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(50);

/// A server that is bound to its address but does not serve yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    service: Arc<Service>,
    probes: Probes,
}

impl Server {
    /// Binds to the address in the settings.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn bind(settings: Settings, catalog: Catalog) -> io::Result<Self> {
        let listener = TcpListener::bind(settings.listen).await?;
        let address = listener.local_addr()?;
        let probes = Probes::bind(settings.probe_listen).await?;
        let service = Arc::new(Service::new(settings, catalog, &routes::description())?);
        Ok(Self { listener, address, router: routes::router(&service), service, probes })
    }

    /// The address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the probe listener, if there is one.
    pub fn probe_address(&self) -> Option<SocketAddr> {
        self.probes.address()
    }

    /// Serves until `end` completes. Then it accepts no more connections and finishes current requests, for at most
    /// [`Settings::grace`].
    pub async fn serve(self, end: impl Future<Output = ()>) {
        let Self { listener, router, service, probes, .. } = self;
        let _background = probes.start(&service);
        let open = service.metrics.connections.clone();
        serve(listener, router, open, &service.settings, end).await;
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

/// State shared by connections.
struct Connections {
    http: http1::Builder,
    router: Router,
    open: IntGauge,
    timeout: Duration,
    tls: Option<Tls>,
    handshake: Duration,
}

/// Serves until `end` completes, then finishes the accepted requests.
async fn serve(
    listener: TcpListener,
    router: Router,
    open: IntGauge,
    settings: &Settings,
    end: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let permits = Arc::new(Semaphore::new(settings.connections.clamp(1, Semaphore::MAX_PERMITS)));
    let connections = Connections {
        http: http(settings),
        router,
        open,
        timeout: settings.write_timeout,
        tls: settings.tls.clone(),
        handshake: settings.head_timeout,
    };
    let mut tasks = JoinSet::new();
    let mut end = pin!(end);
    loop {
        let (permit, stream) = tokio::select! {
            biased;
            () = &mut end => break,
            accepted = accept(&listener, &permits) => accepted,
        };
        connections.spawn(&mut tasks, permit, stream, graceful.watcher());
        while tasks.try_join_next().is_some() {}
    }
    // New clients are refused from here on.
    drop(listener);
    // Connections still open after the grace period are closed.
    let _ = timeout(settings.grace, graceful.shutdown()).await;
    tasks.shutdown().await;
}

fn http(settings: &Settings) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(settings.head_timeout)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_BYTES);
    http
}

/// Accepts the next connection once the limit allows it.
async fn accept(listener: &TcpListener, permits: &Arc<Semaphore>) -> (Option<OwnedSemaphorePermit>, TcpStream) {
    // The semaphore is never closed.
    let permit = permits.clone().acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (permit, stream),
            Err(error) if is_client_error(&error) => {}
            Err(_) => sleep(OUT_OF_DESCRIPTORS).await,
        }
    }
}

/// Returns `true` if the error concerns only the connection being accepted.
fn is_client_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

impl Connections {
    fn spawn(
        &self,
        tasks: &mut JoinSet<()>,
        permit: Option<OwnedSemaphorePermit>,
        stream: TcpStream,
        watcher: Watcher,
    ) {
        // Otherwise small responses wait until the client acknowledges earlier ones.
        let _ = stream.set_nodelay(true);
        let service = FromPeer::new(stream.peer_addr(), TowerToHyperService::new(self.router.clone()));
        let (http, tls, handshake, timeout) = (self.http.clone(), self.tls.clone(), self.handshake, self.timeout);
        let open = Open::new(self.open.clone());
        tasks.spawn(async move {
            let Some(stream) = Tls::accept(tls.as_ref(), stream, handshake).await else { return };
            let io = WriteTimeout::new(TokioIo::new(stream), timeout);
            let connection = watcher.watch(http.serve_connection(io, service));
            // A client may disconnect at any time.
            let _ = connection.await;
            drop((open, permit));
        });
    }
}

/// Counts a connection while it is open.
struct Open(IntGauge);

impl Open {
    fn new(gauge: IntGauge) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.dec();
    }
}
