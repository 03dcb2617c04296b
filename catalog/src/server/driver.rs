//! A connection from its first byte to its end: requests, timeouts, and closing it early.
//!
//! Its stream records its progress: between requests, receiving a head, or handling a request. A client that stops
//! reading loses its connection, which frees its buffers.

use std::future::{Future, poll_fn};
use std::io::{self, Error, ErrorKind, IoSlice};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::service::TowerToHyperService;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

use super::observe::Peer;

/// Serves the requests of a connection until it ends, is idle for too long, or is asked to close. After `drain` becomes
/// `true` it ends with the current request.
pub(super) async fn drive<S: Read + Write + Unpin + 'static>(
    http: &http1::Builder,
    stream: S,
    requests: Requests,
    timeouts: Timeouts,
    mut drain: watch::Receiver<bool>,
) {
    let progress = requests.progress.clone();
    let stream = Watched::new(stream, progress.clone(), timeouts.write);
    let mut connection = pin!(http.serve_connection(stream, requests));
    let mut timer = pin!(sleep_until(Instant::now()));
    let mut draining = false;
    loop {
        let serving = !draining;
        let mut asked = pin!(async {
            tokio::select! {
                () = progress.asked_to_close() => false,
                _ = drain.wait_for(|drain| *drain), if serving => true,
            }
        });
        // The connection comes first: a request that has arrived is served.
        let asked_to_drain = poll_fn(|cx| {
            if connection.as_mut().poll(cx).is_ready() || is_late(progress.deadline(timeouts), timer.as_mut(), cx) {
                return Poll::Ready(None);
            }
            asked.as_mut().poll(cx).map(Some)
        });
        let Some(to_drain) = asked_to_drain.await else { return };
        if !progress.has_request() {
            return;
        }
        if to_drain {
            draining = true;
            connection.as_mut().graceful_shutdown();
        }
    }
}

/// Returns `true` if the deadline has passed. Otherwise the task is woken when it does.
fn is_late(deadline: Option<Instant>, mut timer: Pin<&mut Sleep>, cx: &mut Context<'_>) -> bool {
    let Some(deadline) = deadline else { return false };
    if timer.deadline() != deadline {
        timer.as_mut().reset(deadline);
    }
    timer.poll(cx).is_ready()
}

/// The routes of a connection. Adds the address of its other end to requests, and records when a request begins and when
/// its response ends.
pub(super) struct Requests {
    peer: Option<IpAddr>,
    routes: TowerToHyperService<Router>,
    progress: Arc<Progress>,
}

impl Requests {
    /// The routes of a connection from `peer`.
    pub(super) fn new(peer: Option<IpAddr>, router: Router, progress: &Arc<Progress>) -> Self {
        Self { peer, routes: TowerToHyperService::new(router), progress: progress.clone() }
    }
}

impl Service<Request<Incoming>> for Requests {
    type Response = Response<ResponseBody>;
    type Error = std::convert::Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        self.progress.request_began();
        self.peer.map(|peer| request.extensions_mut().insert(Peer(peer)));
        let (response, progress) = (self.routes.call(request), self.progress.clone());
        Box::pin(async move { Ok(response.await?.map(|body| ResponseBody { body, progress })) })
    }
}

/// A response body that records its end.
pub(super) struct ResponseBody {
    body: axum::body::Body,
    progress: Arc<Progress>,
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        self.progress.response_ended();
    }
}

/// Timeouts of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timeouts {
    /// For a whole request head.
    pub(super) head: Duration,
    /// For the first byte of the next request.
    pub(super) keep_alive: Duration,
    /// For a client that accepts nothing.
    pub(super) write: Duration,
}

/// A phase of a connection.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// A request head is expected or arriving.
    Head,
    /// A response was sent, and nothing of the next request has arrived.
    Idle,
    /// A request is handled, or its response is sent.
    Busy,
    /// The response has ended but may not be sent.
    Ended,
}

/// The phase of a connection, and what it waits for.
#[derive(Debug)]
struct ProgressState {
    phase: Phase,
    since: Instant,
    closing: bool,
}

/// The progress of a connection, shared by its task, its stream, its service and the list of connections.
#[derive(Debug)]
pub(super) struct Progress {
    state: Mutex<ProgressState>,
    close: Notify,
    /// Notified when the connection becomes idle.
    changed: Arc<Notify>,
}

impl Progress {
    /// The progress of a new connection.
    pub(super) fn new(changed: Arc<Notify>) -> Self {
        let state = ProgressState { phase: Phase::Head, since: Instant::now(), closing: false };
        Self { state: Mutex::new(state), close: Notify::new(), changed }
    }

    fn state(&self) -> MutexGuard<'_, ProgressState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(state: &mut ProgressState, phase: Phase) {
        (state.phase, state.since) = (phase, Instant::now());
    }

    /// Records that bytes arrived.
    fn bytes_arrived(&self) {
        let mut state = self.state();
        if state.phase == Phase::Idle {
            Self::enter(&mut state, Phase::Head);
        }
    }

    /// Records that a request head is complete.
    pub(super) fn request_began(&self) {
        Self::enter(&mut self.state(), Phase::Busy);
    }

    /// Records that the response has no more bytes.
    pub(super) fn response_ended(&self) {
        let mut state = self.state();
        if state.phase == Phase::Busy {
            Self::enter(&mut state, Phase::Ended);
        }
    }

    /// Records that all bytes were sent.
    pub(super) fn flushed(&self) {
        let mut state = self.state();
        if state.phase == Phase::Ended {
            Self::enter(&mut state, Phase::Idle);
            self.changed.notify_one();
        }
    }

    /// The time since when the connection has no request. `None` if it has one, is being closed, or has been waiting for
    /// its first one for less than `grace`.
    pub(super) fn idle_since(&self, grace: Duration) -> Option<Instant> {
        let state = self.state();
        let idle = match state.phase {
            Phase::Head => state.since.elapsed() >= grace,
            Phase::Idle => true,
            Phase::Busy | Phase::Ended => false,
        };
        (idle && !state.closing).then_some(state.since)
    }

    /// The time at which the connection is closed if nothing happens.
    pub(super) fn deadline(&self, timeouts: Timeouts) -> Option<Instant> {
        let state = self.state();
        match state.phase {
            Phase::Head => state.since.checked_add(timeouts.head),
            Phase::Idle => state.since.checked_add(timeouts.keep_alive),
            Phase::Busy | Phase::Ended => None,
        }
    }

    /// Asks the connection to close unless a request arrives first.
    pub(super) fn close(&self) {
        self.state().closing = true;
        self.close.notify_one();
    }

    /// Returns `true` if the connection was asked to close and has no request.
    pub(super) fn is_closing(&self) -> bool {
        self.state().closing
    }

    /// Resolves when the connection was asked to close.
    pub(super) async fn asked_to_close(&self) {
        self.close.notified().await;
    }

    /// Returns `true` if the connection has a request, which is finished even if the connection should close.
    pub(super) fn has_request(&self) -> bool {
        let mut state = self.state();
        let busy = matches!(state.phase, Phase::Busy | Phase::Ended);
        if busy && state.closing {
            state.closing = false;
            self.changed.notify_one();
        }
        busy
    }
}

/// A stream that records when bytes arrive and when all are sent, with a write timeout.
struct Watched<S> {
    stream: S,
    progress: Arc<Progress>,
    timeout: Duration,
    pending: bool,
    end: Pin<Box<Sleep>>,
}

impl<S> Watched<S> {
    /// Wraps a stream. A write fails if the client accepts nothing for `timeout`.
    fn new(stream: S, progress: Arc<Progress>, timeout: Duration) -> Self {
        Self { stream, progress, timeout, pending: false, end: Box::pin(sleep(timeout)) }
    }

    /// Passes a write result on, or fails if the write has been pending for too long.
    fn check<T>(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.pending = false;
            return result;
        }
        if !self.pending {
            self.pending = true;
            self.end.as_mut().reset(Instant::now() + self.timeout);
        }
        match self.end.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client stopped reading"))),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: Read + Unpin> Read for Watched<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_read(cx, buf);
        if result.is_ready() {
            self.progress.bytes_arrived();
        }
        result
    }
}

impl<S: Write + Unpin> Write for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.check(cx, result)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_flush(cx);
        if result.is_ready() {
            self.progress.flushed();
        }
        self.check(cx, result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.check(cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.check(cx, result)
    }
}
