//! Request extractors. Their statuses are those of Brokkr's service: 400 for an unreadable path, query or JSON, 415 for
//! an unexpected content type, 422 for JSON of the wrong shape.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, OriginalUri, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;
use tokio::time::timeout;

use super::Service;
use super::caller::Caller;
use super::failure::{Failure, Result};
use crate::checksum;
use crate::store::Token;

/// Maximum length of an idempotency key.
const LONGEST_KEY: usize = 255;

/// Path parameters, percent-decoded.
pub(super) struct At<T>(pub(super) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for At<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        refuse_nul(parts.uri.path(), "invalid_path")?;
        let read = Path::<T>::from_request_parts(parts, state).await;
        read.map(|Path(at)| At(at)).map_err(|wrong| Failure::invalid("invalid_path", wrong.body_text()))
    }
}

/// Rejects an encoded NUL byte. No name contains one, and PostgreSQL cannot compare with one.
fn refuse_nul(text: &str, code: &str) -> Result<()> {
    if text.contains("%00") { Err(Failure::invalid(code, "a name cannot contain a NUL byte")) } else { Ok(()) }
}

/// Query parameters.
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        refuse_nul(parts.uri.query().unwrap_or_default(), "invalid_query")?;
        let read = Query::<T>::try_from_uri(&parts.uri);
        read.map(|Query(asked)| Asked(asked)).map_err(|wrong| Failure::invalid("invalid_query", wrong.body_text()))
    }
}

/// A request body and its idempotency token.
pub(super) struct Whole {
    /// The bytes.
    pub(super) bytes: Bytes,
    /// The content type in lower case, without parameters.
    pub(super) content_type: String,
    /// The idempotency token, if the client sent one.
    pub(super) token: Option<Token>,
}

impl FromRequest<Arc<Service>> for Whole {
    type Rejection = Failure;

    async fn from_request(request: Request, service: &Arc<Service>) -> Result<Self> {
        Self::read(request, service.settings.body_bytes, service.settings.body_timeout).await
    }
}

impl Whole {
    /// Reads at most `limit` bytes for at most `patience`.
    pub(super) async fn read(request: Request, limit: usize, patience: Duration) -> Result<Self> {
        let (mut parts, body) = request.into_parts();
        refuse_large(&parts.headers, limit)?;
        let content_type = content_type(&parts.headers);
        let reading = timeout(patience, axum::body::to_bytes(body, limit)).await;
        let bytes = reading
            .map_err(|_| {
                Failure::new(StatusCode::REQUEST_TIMEOUT, "request_timeout", "timeout while reading the body")
            })?
            .map_err(|wrong| unreadable(&wrong, limit))?;
        let token = token(&mut parts, &bytes).await?;
        Ok(Self { bytes, content_type, token })
    }

    /// Parses the body as JSON.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T> {
        if !is_json(&self.content_type) {
            return Err(self.unexpected("application/json"));
        }
        let unread = |wrong: serde_json::Error| match wrong.classify() {
            Category::Data => Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_body", wrong.to_string()),
            _ => Failure::invalid("invalid_json", wrong.to_string()),
        };
        // Serde accepts a list of fields for a struct. No request body is a list.
        if self.bytes.trim_ascii_start().starts_with(b"[") {
            let _: IgnoredAny = serde_json::from_slice(&self.bytes).map_err(unread)?;
            let message = "expected an object, found a list";
            return Err(Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_body", message));
        }
        serde_json::from_slice(&self.bytes).map_err(unread)
    }

    /// An error for an unexpected content type.
    pub(super) fn unexpected(&self, wanted: &str) -> Failure {
        let message = format!("expected a request with `Content-Type: {wanted}`");
        Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
    }
}

/// A JSON body.
pub(super) struct Json<T> {
    /// The parsed body.
    pub(super) value: T,
    /// The idempotency token.
    pub(super) token: Option<Token>,
}

impl<T: DeserializeOwned> FromRequest<Arc<Service>> for Json<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, service: &Arc<Service>) -> Result<Self> {
        let whole = Whole::from_request(request, service).await?;
        Ok(Self { value: whole.json()?, token: whole.token })
    }
}

fn is_json(content_type: &str) -> bool {
    content_type == "application/json" || (content_type.starts_with("application/") && content_type.ends_with("+json"))
}

fn content_type(headers: &HeaderMap) -> String {
    let given = headers.get(header::CONTENT_TYPE).and_then(|given| given.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Rejects a body by its declared length, before it is read.
fn refuse_large(headers: &HeaderMap, limit: usize) -> Result<()> {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|given| given.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > limit as u64) { Err(too_large(limit)) } else { Ok(()) }
}

fn too_large(limit: usize) -> Failure {
    let message = format!("the body is larger than {limit} bytes");
    Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large", message)
}

/// An error for a body that is too long or was cut off.
fn unreadable(wrong: &axum::Error, limit: usize) -> Failure {
    let mut cause = std::error::Error::source(wrong);
    while let Some(error) = cause {
        if error.is::<hyper::Error>() {
            return Failure::invalid("unreadable_body", "cannot read the body");
        }
        cause = error.source();
    }
    too_large(limit)
}

/// The idempotency token of a request, which includes a hash of everything it asks for.
async fn token(parts: &mut Parts, body: &[u8]) -> Result<Option<Token>> {
    let Some(key) = idempotency_key(&parts.headers)? else { return Ok(None) };
    let caller = Caller::from_request_parts(parts, &()).await?;
    let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri);
    let asked = uri.path_and_query().map_or("", |asked| asked.as_str());
    let mut request = format!("{}\n{asked}\n{}\n", parts.method, content_type(&parts.headers)).into_bytes();
    request.extend_from_slice(body);
    Ok(Some(Token { key: format!("{}:{key}", caller.key), request: checksum(&request) }))
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>> {
    let Some(given) = headers.get("idempotency-key") else { return Ok(None) };
    match given.to_str() {
        Ok(key) if (1..=LONGEST_KEY).contains(&key.len()) => Ok(Some(key.to_owned())),
        _ => {
            let message = format!("an idempotency key must have 1 to {LONGEST_KEY} ASCII characters");
            Err(Failure::invalid("invalid_idempotency_key", message))
        }
    }
}
