//! Error responses: a status and a body of the form `{code, message, details}`.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::{CatalogError, ErrorKind};

/// The result of a handler.
pub(super) type Result<T, E = ApiError> = std::result::Result<T, E>;

/// An error with its status, which may be one that no kind has.
#[derive(Debug)]
pub(super) struct ApiError {
    status: StatusCode,
    error: CatalogError,
    /// Seconds to wait before trying again.
    retry: Option<u32>,
}

/// The cause of an internal error. It is passed to the log in the response's extensions, never sent.
#[derive(Debug, Clone)]
pub(super) struct Cause(pub(super) Box<str>);

impl From<CatalogError> for ApiError {
    fn from(error: CatalogError) -> Self {
        let status = StatusCode::from_u16(error.kind.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry = (error.kind == ErrorKind::Busy).then_some(1);
        Self { status, error, retry }
    }
}

impl ApiError {
    /// An error of the HTTP layer.
    pub(super) fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        Self { status, error: CatalogError::invalid(code, message), retry: None }
    }

    /// An error with status 400.
    pub(super) fn invalid(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// An error with status 500. Its cause is only logged.
    pub(super) fn internal(message: &str) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", message)
    }

    /// The cause, or the message if no cause is known.
    pub(super) fn into_cause(self) -> Box<str> {
        self.error.cause.unwrap_or_else(|| self.error.message.into())
    }

    /// Returns `true` if the request itself is at fault.
    pub(super) fn is_of_request(&self) -> bool {
        self.status.is_client_error()
    }

    /// Adds `Retry-After`.
    pub(super) fn retry_after(self, seconds: u64) -> Self {
        Self { retry: Some(u32::try_from(seconds).unwrap_or(u32::MAX).max(1)), ..self }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        // Brokkr's service sends no body to unknown callers.
        if self.status == StatusCode::UNAUTHORIZED {
            return (self.status, [(header::WWW_AUTHENTICATE, "Bearer")]).into_response();
        }
        let cause = self.error.cause.clone().map(Cause);
        let mut response = (self.status, Json(self.error)).into_response();
        cause.map(|cause| response.extensions_mut().insert(cause));
        if let Some(seconds) = self.retry {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
