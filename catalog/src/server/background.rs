//! Tasks beside the requests: counting rows, and the probe listener.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::routes;
use super::service::Service;

/// Maximum number of connections to the probe listener.
const PROBES: usize = 64;
/// Maximum time of a connection to the probe listener.
const PROBE_TIME: Duration = Duration::from_secs(60);
/// Timeout for a request head, and delay after a connection that could not be accepted.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_millis(50);

/// The listener for probes, if there is one.
pub(super) struct Probes(Option<(TcpListener, SocketAddr)>);

impl Probes {
    /// Binds to the address in the settings.
    pub(super) async fn bind(address: Option<SocketAddr>) -> io::Result<Self> {
        let Some(address) = address else { return Ok(Self(None)) };
        let listener = TcpListener::bind(address).await;
        let listener =
            listener.map_err(|error| io::Error::new(error.kind(), format!("probe listener {address}: {error}")))?;
        let address = listener.local_addr()?;
        Ok(Self(Some((listener, address))))
    }

    /// The address.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.0.as_ref().map(|(_, address)| *address)
    }

    /// Starts the tasks. They end when the result is dropped.
    pub(super) fn start(self, service: &Arc<Service>) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        tasks.spawn(count_rows(service.clone()));
        if let Some((listener, _)) = self.0 {
            tasks.spawn(accept(listener, routes::probe_router(service)));
        }
        tasks
    }
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

async fn accept(listener: TcpListener, router: Router) {
    let (permits, mut connections) = (Arc::new(Semaphore::new(PROBES)), JoinSet::new());
    // The semaphore is never closed.
    while let Ok(permit) = permits.clone().acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let serving = serve(stream, router.clone());
                connections.spawn(async move {
                    let _ = timeout(PROBE_TIME, serving).await;
                    drop(permit);
                });
            }
            Err(_) => sleep(RETRY).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

fn serve(stream: TcpStream, router: Router) -> impl Future<Output = ()> {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PROBE_TIMEOUT);
    let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    // A client may disconnect at any time.
    async move { drop(connection.await) }
}
