//! Request extractors. Their statuses are those of Brokkr's service: 400 for an unreadable path, query or JSON, 415 for
//! an unexpected content type, 422 for JSON of the error shape. Bodies in memory are counted, so that slow and large ones
//! cannot fill it. A caller is known by the key in the `Authorization` header, with or without `Bearer`.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{self, FromRequest, FromRequestParts, OriginalUri, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::Body as _;
use percent_encoding::percent_decode_str;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;
use tokio::time::timeout;

use super::observe::{client_address, with_origin};
use super::response::{ApiError, Result};
use super::service::Service;
use crate::error::STORE_UNAVAILABLE;
use crate::fair::{Held, Identity};
use crate::store::IdempotencyToken;
use crate::{Actor, CatalogError, ErrorKind, KeyRow, KeySeed, Origin, Role, checksum};

/// Maximum length of an idempotency key.
const LONGEST_KEY: usize = 255;
/// Maximum bytes of a body that is parsed where it was read. Larger ones would delay other requests.
const SMALL_BODY: usize = 16 << 10;

/// Path parameters, percent-decoded.
pub(super) struct Path<T>(pub(super) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        reject_nul(parts.uri.path(), "invalid_path")?;
        let read = extract::Path::<T>::from_request_parts(parts, state).await;
        read.map(|extract::Path(values)| Self(values))
            .map_err(|error| ApiError::invalid("invalid_path", error.body_text()))
    }
}

/// Rejects an encoded NUL byte. No name contains one, and PostgreSQL cannot compare with one.
fn reject_nul(text: &str, code: &str) -> Result<()> {
    if text.contains("%00") { Err(ApiError::invalid(code, "a name cannot contain a NUL byte")) } else { Ok(()) }
}

/// Query parameters.
pub(super) struct Query<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let query = parts.uri.query().unwrap_or_default();
        reject_nul(query, "invalid_query")?;
        // Otherwise other bytes would be replaced without a word.
        let utf8 = percent_decode_str(query).decode_utf8();
        utf8.map_err(|_| ApiError::invalid("invalid_query", "the query is not UTF-8"))?;
        let read = extract::Query::<T>::try_from_uri(&parts.uri);
        read.map(|extract::Query(values)| Self(values))
            .map_err(|error| ApiError::invalid("invalid_query", error.body_text()))
    }
}

/// A request body and its idempotency token.
pub(super) struct RequestBody {
    /// The bytes.
    pub(super) bytes: Vec<u8>,
    /// The content type in lower case, without parameters.
    pub(super) content_type: String,
    /// The idempotency token, if the client sent one.
    pub(super) token: Option<IdempotencyToken>,
    /// Counts the memory of the body while it is in use.
    pub(super) held: Held,
}

impl FromRequest<Arc<Service>> for RequestBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, service: &Arc<Service>) -> Result<Self> {
        Self::read(request, service, service.settings.body_bytes).await
    }
}

impl RequestBody {
    /// Reads at most `limit` bytes.
    pub(super) async fn read(request: Request, service: &Service, limit: usize) -> Result<Self> {
        let (mut parts, body) = request.into_parts();
        reject_large(&parts.headers, limit)?;
        let content_type = content_type(&parts.headers);
        let mut held = service.bodies.begin();
        let reading = timeout(service.settings.body_timeout, read_body(body, limit, &mut held)).await;
        let bytes = reading.map_err(|_| {
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "request_timeout", "timeout while reading the body")
        })??;
        let token = token(&mut parts, &bytes).await?;
        Ok(Self { bytes, content_type, token, held })
    }

    /// Parses the body as JSON: a large one on a thread of the pool.
    pub(super) async fn json<T: DeserializeOwned + Send + 'static>(self, service: &Service) -> Result<Json<T>> {
        if self.bytes.len() <= SMALL_BODY {
            return self.parse();
        }
        service.catalog.renderer().run(move |_| self.parse()).await?
    }

    fn parse<T: DeserializeOwned>(self) -> Result<Json<T>> {
        let value = self.parse_value()?;
        Ok(Json { value, token: self.token, held: self.held })
    }

    fn parse_value<T: DeserializeOwned>(&self) -> Result<T> {
        if !is_json(&self.content_type) {
            return Err(self.unexpected("application/json"));
        }
        let parse_error = |error: serde_json::Error| match error.classify() {
            Category::Data => ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_body", error.to_string()),
            _ => ApiError::invalid("invalid_json", error.to_string()),
        };
        // Serde accepts a list of fields for a struct. No request body is a list.
        if self.bytes.trim_ascii_start().starts_with(b"[") {
            let _: IgnoredAny = serde_json::from_slice(&self.bytes).map_err(parse_error)?;
            let message = "expected an object, found a list";
            return Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_body", message));
        }
        serde_json::from_slice(&self.bytes).map_err(parse_error)
    }

    /// An error for an unexpected content type.
    pub(super) fn unexpected(&self, expected: &str) -> ApiError {
        let message = format!("expected a request with `Content-Type: {expected}`");
        ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
    }
}

/// A JSON body.
pub(super) struct Json<T> {
    /// The parsed body.
    pub(super) value: T,
    /// The idempotency token.
    pub(super) token: Option<IdempotencyToken>,
    /// Counts the memory of the request while it is in use.
    pub(super) held: Held,
}

impl<T: DeserializeOwned + Send + 'static> FromRequest<Arc<Service>> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, service: &Arc<Service>) -> Result<Self> {
        RequestBody::from_request(request, service).await?.json(service).await
    }
}

/// A request that may hold a packed chart, which is larger than a text.
pub(crate) trait MayBePacked {
    /// Returns `true` if it does.
    fn is_packed(&self) -> bool;
}

/// Maximum bytes of a request with a packed chart in base64 and a schema.
const PACKED_BODY: usize = 6 << 20;

/// The JSON body of a request with a template. One with a packed chart may be larger than others.
pub(super) struct TemplateBody<T>(pub(super) Json<T>);

impl<T: MayBePacked + DeserializeOwned + Send + 'static> FromRequest<Arc<Service>> for TemplateBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, service: &Arc<Service>) -> Result<Self> {
        let usual = service.settings.body_bytes;
        let body = RequestBody::read(request, service, usual.max(PACKED_BODY)).await?;
        let is_large = body.bytes.len() > usual;
        match body.json::<T>(service).await {
            Ok(json) if !is_large || json.value.is_packed() => Ok(Self(json)),
            Err(error) if !is_large || !error.is_of_request() => Err(error),
            _ => Err(too_large(usual)),
        }
    }
}

fn is_json(content_type: &str) -> bool {
    content_type == "application/json" || (content_type.starts_with("application/") && content_type.ends_with("+json"))
}

fn content_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Rejects a body by its declared length, before it is read.
fn reject_large(headers: &HeaderMap, limit: usize) -> Result<()> {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > limit as u64) { Err(too_large(limit)) } else { Ok(()) }
}

/// The idempotency token of a request, which includes a hash of everything it asks for.
async fn token(parts: &mut Parts, body: &[u8]) -> Result<Option<IdempotencyToken>> {
    let Some(key) = idempotency_key(&parts.headers)? else { return Ok(None) };
    let caller = Caller::from_request_parts(parts, &()).await?;
    let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri);
    let asked = uri.path_and_query().map_or("", |asked| asked.as_str());
    let mut request = format!("{}\n{asked}\n{}\n", parts.method, content_type(&parts.headers)).into_bytes();
    request.extend_from_slice(body);
    let (key, request) = (format!("{}:{key}", caller.key), checksum(&request));
    Ok(Some(IdempotencyToken { key, request, seed: pak(&parts.headers).map(KeySeed::of), salt: None }))
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    match value.to_str() {
        Ok(key) if (1..=LONGEST_KEY).contains(&key.len()) => Ok(Some(key.to_owned())),
        _ => {
            let message = format!("an idempotency key must have 1 to {LONGEST_KEY} ASCII characters");
            Err(ApiError::invalid("invalid_idempotency_key", message))
        }
    }
}

/// Memory to begin with.
const FIRST: usize = 8 << 10;

/// Reads a body of at most `limit` bytes. `held` counts the memory that it takes.
async fn read_body(mut body: Body, limit: usize, held: &mut Held) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // A body without a declared length may have any.
    let expected = body.size_hint().exact().map_or(limit, |exact| usize::try_from(exact).unwrap_or(limit).min(limit));
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let Ok(data) = frame.map_err(|error| unreadable(&error, limit))?.into_data() else { continue };
        if data.len() > limit.saturating_sub(bytes.len()) {
            return Err(too_large(limit));
        }
        reserve(&mut bytes, data.len(), expected, held)?;
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Makes room for `more` bytes of a body that is expected to have at most `expected`.
fn reserve(bytes: &mut Vec<u8>, more: usize, expected: usize, held: &mut Held) -> Result<()> {
    let (needed, before) = (bytes.len() + more, bytes.capacity());
    if needed <= before {
        return Ok(());
    }
    let room = needed.max((2 * before).max(FIRST).min(expected));
    if !held.grow(room - before) {
        let message = "too many large requests are in progress: retry later";
        return Err(CatalogError::new(ErrorKind::Busy, "busy", message).into());
    }
    bytes.reserve_exact(room - bytes.len());
    Ok(())
}

/// An error for a body that is longer than `limit` bytes.
fn too_large(limit: usize) -> ApiError {
    let message = format!("the body is larger than {limit} bytes");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large", message)
}

/// An error for a body that is too long or was cut off.
fn unreadable(error: &axum::Error, limit: usize) -> ApiError {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if error.is::<hyper::Error>() {
            return ApiError::invalid("unreadable_body", "cannot read the body");
        }
        cause = error.source();
    }
    too_large(limit)
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::Budget;

    async fn outcome(length: usize, limit: usize, budget: &Budget) -> Result<(usize, Held), u16> {
        let mut held = budget.begin();
        match read_body(Body::from(vec![b'x'; length]), limit, &mut held).await {
            Ok(bytes) => Ok((bytes.len(), held)),
            Err(error) => Err(axum::response::IntoResponse::into_response(error).status().as_u16()),
        }
    }

    #[tokio::test]
    async fn bodies_are_bounded_alone_and_together() {
        let budget = Budget::new(200 << 10, 100 << 10);
        assert_eq!(outcome(0, 10, &budget).await.unwrap().0, 0);
        assert_eq!(outcome(10, 10, &budget).await.unwrap().0, 10);
        assert_eq!(outcome(11, 10, &budget).await.unwrap_err(), 413);
        let first = outcome(60 << 10, 90 << 10, &budget).await.unwrap();
        assert_eq!(outcome(60 << 10, 90 << 10, &budget).await.unwrap_err(), 503);
        drop(first);
        assert!(outcome(60 << 10, 90 << 10, &budget).await.is_ok());
    }
}
