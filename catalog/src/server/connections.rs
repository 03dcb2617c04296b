//! The server: accepting, serving and closing connections; counting rows and answering probes meanwhile.
//!
//! Places for connections are bounded in all and from one address. A new connection takes the place of the oldest one without
//! a request.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use prometheus::IntGauge;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::driver::{Progress, Requests, Timeouts, drive};
use super::routes;
use super::service::Service;
use super::settings::{Settings, Tls};
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

/// Time for which a new connection keeps its place before its first request, unless its address has too many.
const GRACE: Duration = Duration::from_secs(1);

/// The places of a server.
pub(super) struct Places {
    limit: usize,
    per_address: usize,
    /// Time for which a connection keeps its place before its first request.
    grace: Duration,
    taken: Mutex<Taken>,
    /// Notified when a connection ends or becomes idle.
    changed: Arc<Notify>,
    gauge: IntGauge,
}

#[derive(Default)]
struct Taken {
    next: u64,
    /// The address and the progress of each connection.
    connections: BTreeMap<u64, (IpAddr, Arc<Progress>)>,
    addresses: HashMap<IpAddr, usize>,
}

/// The place of a connection, free again when dropped.
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
    pub(super) progress: Arc<Progress>,
}

/// The reason why a connection has no place.
#[derive(Debug, PartialEq)]
enum Unplaced {
    /// All places are taken. Another connection was asked to close, or all have requests.
    Wait,
    /// All places of its address are taken by connections with requests.
    Refused,
}

impl Places {
    /// Creates `limit` places, of which one address may have `per_address`.
    pub(super) fn new(limit: usize, per_address: usize, gauge: IntGauge) -> Arc<Self> {
        let (limit, per_address) = (limit.max(1), per_address.max(1));
        Arc::new(Self { limit, per_address, grace: GRACE, taken: Mutex::default(), changed: Arc::default(), gauge })
    }

    /// Waits for a place. Returns `None` if the address has too many requests.
    pub(super) async fn take(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let address = group(address);
        loop {
            // Before the check, so that no change is missed.
            let changed = self.changed.notified();
            match self.try_take(address) {
                Ok(place) => return Some(place),
                Err(Unplaced::Refused) => return None,
                // Nothing notifies of a connection that gets older.
                Err(Unplaced::Wait) => drop(timeout(GRACE / 10, changed).await),
            }
        }
    }

    fn try_take(self: &Arc<Self>, address: IpAddr) -> Result<Place, Unplaced> {
        let mut taken = self.taken();
        if taken.addresses.get(&address).is_some_and(|&count| count >= self.per_address) {
            let own = |from: IpAddr| from == address;
            let closes = taken.close_oldest_idle(own, Duration::ZERO);
            return Err(if closes { Unplaced::Wait } else { Unplaced::Refused });
        }
        if taken.connections.len() >= self.limit {
            taken.close_oldest_idle(|_| true, self.grace);
            return Err(Unplaced::Wait);
        }
        let progress = Arc::new(Progress::new(self.changed.clone()));
        let number = taken.add(address, progress.clone());
        self.gauge.inc();
        Ok(Place { places: self.clone(), number, progress })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn add(&mut self, address: IpAddr, progress: Arc<Progress>) -> u64 {
        self.next += 1;
        self.connections.insert(self.next, (address, progress));
        *self.addresses.entry(address).or_default() += 1;
        self.next
    }

    fn remove(&mut self, number: u64) {
        let Some((address, _)) = self.connections.remove(&number) else { return };
        if let Some(count) = self.addresses.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                self.addresses.remove(&address);
            }
        }
    }

    /// Asks the connection to close that has been without a request for the longest time. Returns `false` if all have
    /// requests and none is being closed.
    fn close_oldest_idle(&self, among: impl Fn(IpAddr) -> bool, grace: Duration) -> bool {
        let among = || self.connections.values().filter(|(from, _)| among(*from)).map(|(_, progress)| progress);
        if among().any(|progress| progress.is_closing()) {
            return true;
        }
        let idle = among().filter_map(|progress| Some((progress.idle_since(grace)?, progress)));
        let oldest = idle.min_by_key(|(since, _)| *since);
        oldest.map(|(_, progress)| progress.close()).is_some()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken().remove(self.number);
        self.places.gauge.dec();
        self.places.changed.notify_one();
    }
}

/// The address that connections are counted by: one client can have a whole network of 64 bits in version 6.
fn group(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn places(limit: usize, per_address: usize) -> Arc<Places> {
        let places = Places::new(limit, per_address, IntGauge::new("open", "open").unwrap());
        Arc::new(Places { grace: Duration::ZERO, ..Arc::into_inner(places).unwrap() })
    }

    fn from(last: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, last).into()
    }

    #[tokio::test]
    async fn a_new_connection_takes_the_place_of_the_oldest_idle_one() {
        let places = places(3, 3);
        let open: Vec<_> = (0..3).map(|at| places.try_take(from(at)).unwrap()).collect();
        open[0].progress.request_began();
        assert_eq!(places.try_take(from(9)).err(), Some(Unplaced::Wait));
        let closing: Vec<_> = open.iter().map(|place| place.progress.is_closing()).collect();
        assert_eq!(closing, [false, true, false]);
        // One is enough for one newcomer.
        assert_eq!(places.try_take(from(9)).err(), Some(Unplaced::Wait));
        assert!(!open[2].progress.is_closing());
        let taking = tokio::spawn({
            let places = places.clone();
            async move { places.take(from(9)).await.is_some() }
        });
        tokio::task::yield_now().await;
        drop(open);
        assert!(taking.await.unwrap());
        assert_eq!(places.gauge.get(), 0);
    }

    #[test]
    fn an_address_closes_its_own_connections() {
        let places = places(4, 2);
        let other = places.try_take(from(1)).unwrap();
        let own = [places.try_take(from(2)).unwrap(), places.try_take(from(2)).unwrap()];
        assert_eq!(places.try_take(from(2)).err(), Some(Unplaced::Wait));
        assert!(own[0].progress.is_closing() && !other.progress.is_closing());
        // The one to close has a request by now, and then the other one, too.
        own.iter().for_each(|place| place.progress.request_began());
        assert!(own.iter().all(|place| place.progress.has_request()));
        assert_eq!(places.try_take(from(2)).err(), Some(Unplaced::Refused));
        assert!(places.try_take(from(3)).is_ok());
    }

    #[test]
    fn a_new_connection_has_time_for_its_first_request() {
        let places = Places::new(1, 1, IntGauge::new("open", "open").unwrap());
        let open = places.try_take(from(1)).unwrap();
        assert_eq!(places.try_take(from(2)).err(), Some(Unplaced::Wait));
        assert!(!open.progress.is_closing());
        // After its response it has none.
        open.progress.request_began();
        open.progress.response_ended();
        open.progress.flushed();
        assert_eq!(places.try_take(from(2)).err(), Some(Unplaced::Wait));
        assert!(open.progress.is_closing());
    }

    #[test]
    fn connections_with_requests_are_never_closed() {
        let places = places(1, 1);
        let open = places.try_take(from(1)).unwrap();
        open.progress.request_began();
        open.progress.response_ended();
        assert_eq!(places.try_take(from(2)).err(), Some(Unplaced::Wait));
        assert!(!open.progress.is_closing());
        open.progress.flushed();
        assert_eq!(places.try_take(from(2)).err(), Some(Unplaced::Wait));
        assert!(open.progress.is_closing());
    }

    #[test]
    fn a_network_of_version_6_is_one_address() {
        let same = |one: &str, other: &str| group(one.parse().unwrap()) == group(other.parse().unwrap());
        assert!(same("2001:db8::1", "2001:db8::ffff:2"));
        assert!(!same("2001:db8::1", "2001:db8:0:1::1"));
        assert!(same("::ffff:10.0.0.1", "10.0.0.1"));
        assert!(!same("10.0.0.1", "10.0.0.2"));
    }
}
