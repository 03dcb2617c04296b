//! Connections: they are accepted, served, and at the end given time to finish.

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

/// How many headers a request may have.
const HEADERS: usize = 64;
/// How many bytes the head of a request may have.
const HEAD: usize = 64 << 10;
/// How long to wait when the system has no more descriptors.
const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(50);

/// What each connection needs.
struct Connections {
    http: http1::Builder,
    router: Router,
    open: IntGauge,
    patience: Duration,
}

/// Serves until `end` is done, then what was accepted until then.
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
    // From here on nobody can connect.
    drop(listener);
    // What is not done by the end of the time of grace is cut off.
    let _ = timeout(settings.grace, graceful.shutdown()).await;
    tasks.shutdown().await;
}

fn http(settings: &Settings) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(settings.head_timeout).max_headers(HEADERS).max_buf_size(HEAD);
    http
}

/// The next connection, when there is a place for it.
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

/// Whether only the connection failed that would have been accepted.
fn of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

impl Connections {
    fn spawn(&self, tasks: &mut JoinSet<()>, place: Option<OwnedSemaphorePermit>, stream: TcpStream, watcher: Watcher) {
        // Without it small answers wait for the client's acknowledgement of those before.
        let _ = stream.set_nodelay(true);
        let io = Patient::new(TokioIo::new(stream), self.patience);
        let service = TowerToHyperService::new(self.router.clone());
        let connection = watcher.watch(self.http.serve_connection(io, service));
        let open = Open::new(self.open.clone());
        tasks.spawn(async move {
            // That a client broke off is nothing that anybody could do anything about.
            let _ = connection.await;
            drop((open, place));
        });
    }
}

/// Counts a connection for as long as it is there, however it ends.
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
