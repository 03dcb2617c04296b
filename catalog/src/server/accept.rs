//! Accepting, serving and closing connections.

use std::future::Future;
use std::io;
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

use super::patience::Patient;
use super::settings::Settings;

/// Maximum number of headers of a request.
const HEADERS: usize = 64;
/// Maximum bytes of a request head.
const HEAD: usize = 64 << 10;
/// Delay before accepting again when file descriptors run out.
const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(50);

/// State shared by connections.
struct Connections {
    http: http1::Builder,
    router: Router,
    open: IntGauge,
    patience: Duration,
}

/// Serves until `end` completes, then finishes the accepted requests.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    open: IntGauge,
    settings: &Settings,
    end: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(settings.connections.clamp(1, Semaphore::MAX_PERMITS)));
    let connections = Connections { http: http(settings), router, open, patience: settings.write_timeout };
    let mut tasks = JoinSet::new();
    let mut end = pin!(end);
    loop {
        let (place, stream) = tokio::select! {
            biased;
            () = &mut end => break,
            accepted = accept(&listener, &places) => accepted,
        };
        connections.spawn(&mut tasks, place, stream, graceful.watcher());
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
    http.timer(TokioTimer::new()).header_read_timeout(settings.head_timeout).max_headers(HEADERS).max_buf_size(HEAD);
    http
}

/// Accepts the next connection once the limit allows it.
async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> (Option<OwnedSemaphorePermit>, TcpStream) {
    // The semaphore is never closed.
    let place = places.clone().acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (place, stream),
            Err(error) if of_the_client(&error) => {}
            Err(_) => sleep(OUT_OF_DESCRIPTORS).await,
        }
    }
}

/// Returns `true` if the error concerns only the connection being accepted.
fn of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

impl Connections {
    fn spawn(&self, tasks: &mut JoinSet<()>, place: Option<OwnedSemaphorePermit>, stream: TcpStream, watcher: Watcher) {
        // Otherwise small responses wait until the client acknowledges earlier ones.
        let _ = stream.set_nodelay(true);
        let io = Patient::new(TokioIo::new(stream), self.patience);
        let service = TowerToHyperService::new(self.router.clone());
        let connection = watcher.watch(self.http.serve_connection(io, service));
        let open = Open::new(self.open.clone());
        tasks.spawn(async move {
            // A client may disconnect at any time.
            let _ = connection.await;
            drop((open, place));
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
