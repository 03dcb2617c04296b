//! Middleware around every request: request IDs, the origin of requests, timing, metrics, recovery from panics, and
//! records for the log, also of responses that are cut off later.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::{Body as _, Frame};
use uuid::Uuid;

use super::response::{ApiError, Cause};
use super::service::Service;
use super::settings::{Exchange, Log};
use crate::Origin;
use crate::store::new_id;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The route label of requests without a route.
const NO_ROUTE: &str = "none";

/// Handles a request.
pub(super) async fn observe(State(service): State<Arc<Service>>, mut request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let id = request_id(request.headers());
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let address = client_address(&request, service.settings.behind_proxy);
    request.extensions_mut().insert(RequestId(id.clone()));
    let route = request.extensions().get::<MatchedPath>().cloned();
    let mut response = match catch_panic(next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            service.metrics.panics.inc();
            ApiError::internal("internal error").into_response()
        }
    };
    add_common_headers(response.headers_mut(), &id);
    let (status, took) = (response.status(), begun.elapsed());
    service.metrics.count_response(route.as_ref().map_or(NO_ROUTE, MatchedPath::as_str), &method, status, took);
    let Some(log) = service.settings.log.clone() else { return response };
    let origin = response.extensions().get::<Arc<Origin>>().cloned();
    let record = Record { log, id, method, uri, status, begun, origin, address };
    record.tell(took, response.extensions().get().map(|Cause(cause)| &**cause), false);
    if response.body().size_hint().exact().is_some() { response } else { response.map(|body| record.watching(body)) }
}

/// The client's request ID if it is short and plain, or else a new one.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let fits = |id: &&HeaderValue| {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        (1..=64).contains(&id.len()) && id.as_bytes().iter().all(plain)
    };
    let new = || HeaderValue::from_str(&new_id().to_string()).unwrap_or(HeaderValue::from_static("unknown"));
    headers.get(REQUEST_ID).filter(fits).cloned().unwrap_or_else(new)
}

/// Adds the headers of every response.
fn add_common_headers(headers: &mut HeaderMap, id: &HeaderValue) {
    headers.insert(REQUEST_ID, id.clone());
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// Runs a future to completion, or returns the payload of its panic.
async fn catch_panic<T>(future: impl Future<Output = T>) -> Result<T, Box<dyn Any + Send>> {
    let mut future = Box::pin(future);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(came)) => Poll::Ready(Ok(came)),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

/// A request and the beginning of its response.
struct Record {
    pub(super) log: Log,
    pub(super) id: HeaderValue,
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) status: StatusCode,
    pub(super) begun: Instant,
    pub(super) origin: Option<Arc<Origin>>,
    pub(super) address: Option<IpAddr>,
}

impl Record {
    /// Writes to the log.
    pub(super) fn tell(&self, took: Duration, cause: Option<&str>, cut_off: bool) {
        let (path, origin, address) = (self.uri.path(), self.origin.as_deref(), self.address);
        let object = origin.and_then(|origin| origin.changed.get().copied()).or_else(|| first_id(path));
        let (id, method, status) = (self.id.to_str().unwrap_or_default(), self.method.as_str(), self.status.as_u16());
        self.log.tell(&Exchange { id, method, path, status, took, cause, cut_off, origin, address, object });
    }

    /// A response body that is logged again if it ends in an error.
    fn watching(self, body: Body) -> Body {
        Body::new(Recorded { body, record: self })
    }
}

/// A response body and its request.
struct Recorded {
    body: Body,
    record: Record,
}

impl hyper::body::Body for Recorded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if let Some(Err(error)) = &frame {
            self.record.tell(self.record.begun.elapsed(), Some(&error.to_string()), true);
        }
        Poll::Ready(frame)
    }
}

/// Address of the other end of the connection, an extension of requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) IpAddr);

/// ID of the request, an extension of requests.
#[derive(Debug, Clone)]
struct RequestId(pub(super) HeaderValue);

/// The address of the client. A proxy appends it to a header, so only the last entry can be trusted.
pub(super) fn client_address(request: &Request<Body>, behind_proxy: bool) -> Option<IpAddr> {
    let peer = request.extensions().get().map(|Peer(address)| *address);
    if !behind_proxy {
        return peer;
    }
    let last = request.headers().get_all("x-forwarded-for").iter().next_back();
    let forwarded = last.and_then(|value| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok());
    forwarded.or(peer)
}

/// The first ID in a path.
pub(super) fn first_id(path: &str) -> Option<Uuid> {
    path.split('/').find_map(|segment| segment.parse().ok())
}

/// Runs the rest of a request on behalf of `origin`.
pub(super) async fn with_origin(origin: Origin, request: Request<Body>, next: Next) -> Response {
    let id = request.extensions().get().and_then(|RequestId(id)| id.to_str().ok().map(str::to_owned));
    let origin = Arc::new(Origin { request_id: id, ..origin });
    let mut response = origin.scope(next.run(request)).await;
    response.extensions_mut().insert(origin);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_caught() {
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let caught = catch_panic(async { panic!("of a handler") }).await.map(|(): ()| ());
        std::panic::set_hook(quiet);
        assert!(caught.is_err());
        assert_eq!(catch_panic(async { 1 }).await.ok(), Some(1));
    }
}
