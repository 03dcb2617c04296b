//! The origin of requests, for logs and the audit trail.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, Request};
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::service::Service;
use uuid::Uuid;

use crate::Origin;

/// Address of the other end of the connection, an extension of requests.
#[derive(Debug, Clone, Copy)]
struct Peer(IpAddr);

/// ID of the request, an extension of requests.
#[derive(Debug, Clone)]
pub(super) struct RequestId(pub(super) HeaderValue);

/// The origin, an extension of responses.
#[derive(Debug, Clone)]
pub(super) struct Told(pub(super) Arc<Origin>);

/// A service that adds the address of its connection to requests.
#[derive(Debug, Clone)]
pub(super) struct FromPeer<S> {
    peer: Option<Peer>,
    service: S,
}

impl<S> FromPeer<S> {
    pub(super) fn new(peer: io::Result<SocketAddr>, service: S) -> Self {
        Self { peer: peer.ok().map(|address| Peer(address.ip().to_canonical())), service }
    }
}

impl<S: Service<Request<Incoming>>> Service<Request<Incoming>> for FromPeer<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        if let Some(peer) = self.peer {
            request.extensions_mut().insert(peer);
        }
        self.service.call(request)
    }
}

/// The address of the client. A proxy appends it to a header, so only the last entry can be trusted.
pub(super) fn address(request: &Request<Body>, behind_proxy: bool) -> Option<IpAddr> {
    let peer = request.extensions().get().map(|Peer(address)| *address);
    if !behind_proxy {
        return peer;
    }
    let last = request.headers().get_all("x-forwarded-for").iter().next_back();
    let forwarded = last.and_then(|value| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok());
    forwarded.or(peer)
}

/// The first ID in a path.
pub(super) fn object(path: &str) -> Option<Uuid> {
    path.split('/').find_map(|segment| segment.parse().ok())
}

/// Runs the rest of a request on behalf of `origin`.
pub(super) async fn scope(origin: Origin, request: Request<Body>, next: Next) -> Response {
    let id = request.extensions().get().and_then(|RequestId(id)| id.to_str().ok().map(str::to_owned));
    let origin = Arc::new(Origin { request_id: id, ..origin });
    let mut response = origin.scope(next.run(request)).await;
    response.extensions_mut().insert(Told(origin));
    response
}
