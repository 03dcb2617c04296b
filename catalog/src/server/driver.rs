//! A connection from its first byte to its end: requests, timeouts, and closing it early.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::service::TowerToHyperService;
use tokio::sync::watch;
use tokio::time::{Instant, Sleep, sleep_until};

use super::origin::FromPeer;
use super::progress::{Progress, Timeouts};
use super::watched::Watched;

/// Serves the requests of a connection until it ends, is idle for too long, or is asked to close. After `drain` becomes
/// `true` it ends with the current request.
pub(super) async fn drive<S: Read + Write + Unpin + 'static>(
    http: &http1::Builder,
    stream: S,
    service: FromPeer<TowerToHyperService<Router>>,
    progress: &Arc<Progress>,
    timeouts: Timeouts,
    mut drain: watch::Receiver<bool>,
) {
    let stream = Watched::new(stream, progress.clone(), timeouts.write);
    let service = Requests { service, progress: progress.clone() };
    let mut connection = pin!(http.serve_connection(stream, service));
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

/// The routes of a connection. Records when a request begins and when its response ends.
struct Requests {
    service: FromPeer<TowerToHyperService<Router>>,
    progress: Arc<Progress>,
}

impl Service<Request<Incoming>> for Requests {
    type Response = Response<ResponseBody>;
    type Error = std::convert::Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.progress.request_began();
        let (response, progress) = (self.service.call(request), self.progress.clone());
        Box::pin(async move { Ok(response.await?.map(|body| ResponseBody { body, progress })) })
    }
}

/// A response body that records its end.
struct ResponseBody {
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
