//! Records of requests, for the log: of those that were answered, and of those whose response is cut off later.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use hyper::body::Frame;

use super::origin;
use super::settings::{Exchange, Log};
use crate::Origin;

/// A request and the beginning of its response.
pub(super) struct Record {
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
    /// Tells the log.
    pub(super) fn tell(&self, took: Duration, cause: Option<&str>, cut_off: bool) {
        let (path, origin, address) = (self.uri.path(), self.origin.as_deref(), self.address);
        let object = origin.and_then(|origin| origin.changed.get().copied()).or_else(|| origin::object(path));
        let (id, method, status) = (self.id.to_str().unwrap_or_default(), self.method.as_str(), self.status.as_u16());
        self.log.tell(&Exchange { id, method, path, status, took, cause, cut_off, origin, address, object });
    }

    /// A response body that also tells the log if it ends in an error.
    pub(super) fn watching(self, body: Body) -> Body {
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
