//! Middleware around every request: request IDs, timing, metrics, logging, and recovery from panics.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::Body as _;

use super::error::{ApiError, Cause};
use super::origin::{self, RequestId, Told};
use super::record::Record;
use super::service::Service;
use crate::store::new_id;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The route label of requests without a route.
const NO_ROUTE: &str = "none";

/// Handles a request.
pub(super) async fn observe(State(service): State<Arc<Service>>, mut request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let id = request_id(request.headers());
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let address = origin::address(&request, service.settings.behind_proxy);
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
    let origin = response.extensions().get().map(|Told(origin)| origin.clone());
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
