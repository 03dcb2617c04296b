//! The server: accepting, serving and closing connections; counting rows and answering probes meanwhile.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::driver::{Requests, Timeouts, drive};
use super::places::{Place, Places};
use super::routes;
use super::service::Service;
use super::settings::Settings;
use super::tls::Tls;
use crate::Catalog;

/// Maximum number of headers of a request.
pub const MAX_HEADERS: usize = 64;
/// Maximum bytes of a request head.
pub const MAX_HEAD_BYTES: usize = 64 << 10;
/// Delay before accepting again when file descriptors run out.
const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(50);

/// A server that is bound to its address but does not serve yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    service: Arc<Service>,
    /// The listener for probes, if there is one.
    probes: Option<(TcpListener, SocketAddr)>,
}

impl Server {
    /// Binds to the address in the settings.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn bind(settings: Settings, catalog: Catalog) -> io::Result<Self> {
        let listener = TcpListener::bind(settings.listen).await?;
        let address = listener.local_addr()?;
        let probes = bind_probes(settings.probe_listen).await?;
        let service = Arc::new(Service::new(settings, catalog, &routes::description())?);
        Ok(Self { listener, address, router: routes::router(&service), service, probes })
    }

    /// The address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the probe listener, if there is one.
    pub fn probe_address(&self) -> Option<SocketAddr> {
        self.probes.as_ref().map(|(_, address)| *address)
    }

    /// Serves until `end` completes. Then `/readyz` answers 503 for [`Settings::not_ready`]; after that the server
    /// accepts no more connections and finishes current requests. All this takes at most [`Settings::drain`].
    ///
    /// Returns the time at which that has passed.
    pub async fn serve(self, end: impl Future<Output = ()>) -> Instant {
        let Self { listener, router, service, probes, .. } = self;
        // These tasks end with the set.
        let mut background = JoinSet::new();
        background.spawn(count_rows(service.clone()));
        if let Some((listener, _)) = probes {
            background.spawn(accept_probes(listener, routes::probe_router(&service)));
        }
        let settings = &service.settings;
        let (drain, draining) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let mut connections = Acceptor::new(settings, router, &service, draining);
        let mut deadline = Instant::now();
        tokio::select! {
            biased;
            () = async {
                end.await;
                deadline = after(settings.drain);
                service.leave();
                sleep(settings.not_ready.min(settings.drain)).await;
            } => {}
            () = connections.accept_all(&listener, &mut tasks) => {}
        }
        // New clients are refused from here on. Connections without a request end at once.
        drop((listener, connections));
        drain.send_replace(true);
        let finished = async { while tasks.join_next().await.is_some() {} };
        let _ = timeout_at(deadline, finished).await;
        tasks.abort_all();
        deadline
    }
}

/// The time after a delay, or a very late one.
fn after(delay: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(delay).unwrap_or_else(|| now + Duration::from_secs(1 << 30))
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Accepts connections, and holds the state that they share.
struct Acceptor {
    http: Arc<http1::Builder>,
    router: Router,
    places: Arc<Places>,
    timeouts: Timeouts,
    tls: Option<Tls>,
    draining: watch::Receiver<bool>,
}

impl Acceptor {
    fn new(settings: &Settings, router: Router, service: &Service, draining: watch::Receiver<bool>) -> Self {
        let open = service.metrics.connections.clone();
        // All connections come from the proxy.
        let per_address = if settings.behind_proxy { settings.connections } else { settings.connections_per_address };
        let mut http = http1::Builder::new();
        http.max_headers(MAX_HEADERS).max_header_size(MAX_HEAD_BYTES).max_buf_size(MAX_HEAD_BYTES);
        // Heads have a timeout of their own, unlike the time between requests.
        http.header_read_timeout(None).keep_alive(!settings.keep_alive.is_zero());
        Self {
            http: Arc::new(http),
            router,
            places: Places::new(settings.connections, per_address, open),
            timeouts: Timeouts {
                head: settings.head_timeout,
                keep_alive: settings.keep_alive,
                write: settings.write_timeout,
            },
            tls: settings.tls.clone(),
            draining,
        }
    }

    /// Accepts connections as long as it is polled.
    async fn accept_all(&mut self, listener: &TcpListener, tasks: &mut JoinSet<()>) {
        loop {
            let (stream, address) = accept(listener).await;
            if let Some(place) = self.places.take(address).await {
                self.spawn(tasks, place, stream);
            }
            while tasks.try_join_next().is_some() {}
        }
    }

    fn spawn(&self, tasks: &mut JoinSet<()>, place: Place, stream: TcpStream) {
        // Otherwise small responses wait until the client acknowledges earlier ones.
        let _ = stream.set_nodelay(true);
        let (http, router, peer) = (self.http.clone(), self.router.clone(), stream.peer_addr());
        let (tls, timeouts) = (self.tls.clone(), self.timeouts);
        let mut draining = self.draining.clone();
        tasks.spawn(async move {
            let stream = tokio::select! {
                stream = Tls::accept(tls.as_ref(), stream, timeouts.head) => stream,
                () = place.progress.asked_to_close() => None,
                _ = draining.wait_for(|draining| *draining) => None,
            };
            let Some(stream) = stream else { return };
            let peer = peer.ok().map(|address| address.ip().to_canonical());
            let requests = Requests::new(peer, router, &place.progress);
            drive(&http, TokioIo::new(stream), requests, timeouts, draining).await;
        });
    }
}

/// Accepts the next connection.
async fn accept(listener: &TcpListener) -> (TcpStream, IpAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, address)) => return (stream, address.ip()),
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

/// Maximum number of connections to the probe listener.
const PROBES: usize = 64;
/// Maximum time of a connection to the probe listener.
const PROBE_TIME: Duration = Duration::from_secs(60);
/// Timeout for a request head, and delay after a connection that could not be accepted.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
const PROBE_RETRY: Duration = Duration::from_millis(50);

/// Binds the listener for probes, if there is an address for it.
async fn bind_probes(address: Option<SocketAddr>) -> io::Result<Option<(TcpListener, SocketAddr)>> {
    let Some(address) = address else { return Ok(None) };
    let listener = TcpListener::bind(address).await;
    let listener =
        listener.map_err(|error| io::Error::new(error.kind(), format!("probe listener {address}: {error}")))?;
    let address = listener.local_addr()?;
    Ok(Some((listener, address)))
}

/// Counts the rows of the catalog again and again, so that no request has to.
async fn count_rows(service: Arc<Service>) {
    loop {
        // Without a store the other metrics matter even more.
        if let Ok(counts) = service.catalog.store().counts().await {
            service.metrics.set_rows(&counts);
        }
        sleep(service.settings.count_interval).await;
    }
}

async fn accept_probes(listener: TcpListener, router: Router) {
    let (permits, mut connections) = (Arc::new(Semaphore::new(PROBES)), JoinSet::new());
    // The semaphore is never closed.
    while let Ok(permit) = permits.clone().acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let serving = serve_probe(stream, router.clone());
                connections.spawn(async move {
                    let _ = timeout(PROBE_TIME, serving).await;
                    drop(permit);
                });
            }
            Err(_) => sleep(PROBE_RETRY).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

fn serve_probe(stream: TcpStream, router: Router) -> impl Future<Output = ()> {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PROBE_TIMEOUT);
    let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    // A client may disconnect at any time.
    async move { drop(connection.await) }
}
