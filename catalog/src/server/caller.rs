//! Who asks: the key in `Authorization`, as it is or behind `Bearer`.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

use super::Service;
use super::failure::{Failure, Result};
use crate::{Actor, checksum};

/// Who asks. Routes that want a key have one; there is no other way to make it.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    /// What the key lets it be.
    pub(super) actor: Actor,
    /// Tells one key from another and is no secret.
    pub(super) key: String,
}

/// Lets requests pass whose key is known and has not asked too often, and those that this process makes itself.
pub(super) async fn authenticate(
    State(service): State<Arc<Service>>,
    mut request: Request,
    next: Next,
) -> Result<Response> {
    if request.extensions().get::<Caller>().is_some() {
        return Ok(next.run(request).await);
    }
    let pak = pak(request.headers()).ok_or_else(unknown)?;
    let actor = service.catalog.authenticate(pak).await?;
    let key = checksum(pak)[..32].to_owned();
    service.within_rate(&key)?;
    request.extensions_mut().insert(Caller { actor, key });
    Ok(next.run(request).await)
}

/// The key of a request.
fn pak(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(only), None) = (given.next(), given.next()) else { return None };
    let text = only.to_str().ok()?.trim();
    match text.split_once(' ') {
        None => Some(text),
        Some((scheme, pak)) => scheme.eq_ignore_ascii_case("bearer").then(|| pak.trim()),
    }
}

fn unknown() -> Failure {
    Failure::new(StatusCode::UNAUTHORIZED, "unauthorized", "no key")
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        parts.extensions.get().cloned().ok_or_else(unknown)
    }
}
