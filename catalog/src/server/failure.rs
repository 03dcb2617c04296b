//! What is answered when a request is not carried out: a status and a body of the form `{code, message, details}`.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::{Class, Refusal};

/// What the handlers answer with.
pub(super) type Result<T, E = Failure> = std::result::Result<T, E>;

/// A refusal, with the status where its class has none of its own.
#[derive(Debug)]
pub(super) struct Failure {
    status: StatusCode,
    refusal: Refusal,
    /// After how many seconds it is worth to try again.
    retry: Option<u32>,
}

/// What went wrong on our side; it goes with the answer as far as the log, and no further.
#[derive(Debug, Clone)]
pub(super) struct Cause(pub(super) Box<str>);

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let status = StatusCode::from_u16(refusal.class.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry = (refusal.class == Class::Busy).then_some(1);
        Self { status, refusal, retry }
    }
}

impl Failure {
    /// A failure of the protocol: nothing that the catalog knows of.
    pub(super) fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        Self { status, refusal: Refusal::invalid(code, message), retry: None }
    }

    /// The request is wrong in itself.
    pub(super) fn invalid(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// It is our fault; what it is stands in the log, not in the answer.
    pub(super) fn internal(message: &str) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", message)
    }

    /// The same, worth to be tried again after so many seconds.
    pub(super) fn after(self, seconds: u64) -> Self {
        Self { retry: Some(u32::try_from(seconds).unwrap_or(u32::MAX).max(1)), ..self }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        // As the recorded service has it: a refusal to say anything to somebody unknown.
        if self.status == StatusCode::UNAUTHORIZED {
            return (self.status, [(header::WWW_AUTHENTICATE, "Bearer")]).into_response();
        }
        let cause = self.refusal.cause.clone().map(Cause);
        let mut response = (self.status, Json(self.refusal)).into_response();
        cause.map(|cause| response.extensions_mut().insert(cause));
        if let Some(seconds) = self.retry {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
