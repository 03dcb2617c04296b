//! Authentication by the key in the `Authorization` header, with or without `Bearer`.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

use super::observe::{client_address, with_origin};
use super::response::{ApiError, Result};
use super::service::Service;
use crate::error::STORE_UNAVAILABLE;
use crate::fair::Identity;
use crate::{Actor, CatalogError, ErrorKind, KeyRow, Origin, Role, checksum};

/// An authenticated caller. Routes that need a key extract it from the request.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    /// The actor that holds the key.
    pub(super) actor: Actor,
    /// Identifies the key without revealing it.
    pub(super) key: String,
}

/// Authenticates a request and applies the rate limit of its key. Requests made in this process are already
/// authenticated.
pub(super) async fn authenticate(
    State(service): State<Arc<Service>>,
    mut request: Request,
    next: Next,
) -> Result<Response> {
    if let Some(&Caller { actor, .. }) = request.extensions().get() {
        let origin = Origin { role: Some(Role::Admin), key_name: Some("local".to_owned()), ..Origin::default() };
        return Ok(Identity::Caller(actor).scope(with_origin(origin, request, next)).await);
    }
    let pak = pak(request.headers()).ok_or_else(unknown)?;
    let key = key_id(pak);
    let (actor, row) = identify(&service, pak, &key).await?;
    service.within_rate(&key)?;
    let origin = Origin { address: client_address(&request, service.settings.behind_proxy), ..Origin::of_key(&row) };
    request.extensions_mut().insert(Caller { actor, key });
    Ok(Identity::Caller(actor).scope(with_origin(origin, request, next)).await)
}

/// Identifies the holder of a key. Only callers with keys that were valid before learn why the store cannot say it.
async fn identify(service: &Service, pak: &str, key: &str) -> Result<(Actor, KeyRow), CatalogError> {
    let identified = service.catalog.identify(pak).await;
    match &identified {
        Ok(_) => service.readiness.remember(key),
        Err(error) if error.kind == ErrorKind::Unauthorized => service.readiness.forget(key),
        Err(_) => {}
    }
    identified.map_err(|error| {
        if error.code != STORE_UNAVAILABLE || service.readiness.knows(key) {
            return error;
        }
        CatalogError { message: "the service is unavailable: retry later".to_owned(), ..error }
    })
}

/// Returns `true` if the request has a valid key, or one that was valid before if the store cannot say it.
pub(super) async fn has_known_key(service: &Service, headers: &HeaderMap) -> bool {
    let Some(pak) = pak(headers) else { return false };
    let key = key_id(pak);
    identify(service, pak, &key).await.is_ok() || service.readiness.knows(&key)
}

/// Identifies a key without revealing it.
fn key_id(pak: &str) -> String {
    checksum(pak)[..32].to_owned()
}

/// The key of a request.
pub(super) fn pak(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(only), None) = (values.next(), values.next()) else { return None };
    let text = only.to_str().ok()?.trim();
    match text.split_once(' ') {
        None => Some(text),
        Some((scheme, pak)) => scheme.eq_ignore_ascii_case("bearer").then(|| pak.trim()),
    }
}

fn unknown() -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", "a key is required")
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        parts.extensions.get().cloned().ok_or_else(unknown)
    }
}
