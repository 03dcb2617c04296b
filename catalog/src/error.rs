//! Errors of a catalog: a kind, which decides the HTTP status and the exit code, a stable code, a message and details.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::store::StoreError;

/// The code of errors if the store cannot be used now.
pub(crate) const STORE_UNAVAILABLE: &str = "store_unavailable";

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request is invalid.
    Invalid,
    /// The key is missing or unknown.
    Unauthorized,
    /// The caller lacks permission.
    Forbidden,
    /// The resource does not exist.
    NotFound,
    /// The resource already exists.
    Conflict,
    /// The resource was changed by another request.
    PreconditionFailed,
    /// The request is well formed but cannot be carried out.
    Unprocessable,
    /// The service is overloaded.
    Busy,
    /// The service failed.
    Internal,
}

impl ErrorKind {
    /// The kind with this status, or `Internal`.
    pub fn from_status(status: u16) -> Self {
        let all = [
            ErrorKind::Invalid,
            ErrorKind::Unauthorized,
            ErrorKind::Forbidden,
            ErrorKind::NotFound,
            ErrorKind::Conflict,
            ErrorKind::PreconditionFailed,
            ErrorKind::Unprocessable,
            ErrorKind::Busy,
        ];
        all.into_iter().find(|kind| kind.status() == status).unwrap_or(ErrorKind::Internal)
    }

    /// The HTTP status.
    pub fn status(self) -> u16 {
        match self {
            ErrorKind::Invalid => 400,
            ErrorKind::Unauthorized => 401,
            ErrorKind::Forbidden => 403,
            ErrorKind::NotFound => 404,
            ErrorKind::Conflict => 409,
            ErrorKind::PreconditionFailed => 412,
            ErrorKind::Unprocessable => 422,
            ErrorKind::Busy => 503,
            ErrorKind::Internal => 500,
        }
    }
}

/// An error of a catalog and the body of error responses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = ErrorResponse)]
pub struct CatalogError {
    /// Stable, machine-readable code.
    pub code: String,
    /// Human-readable message.
    pub message: String,
    /// Further details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Json>,
    /// The kind.
    #[serde(skip, default = "internal")]
    pub kind: ErrorKind,
    /// The underlying store or system error. Logged, never sent to clients.
    #[serde(skip)]
    pub cause: Option<Box<str>>,
}

fn internal() -> ErrorKind {
    ErrorKind::Internal
}

/// The result of an operation.
pub type Result<T, E = CatalogError> = std::result::Result<T, E>;

impl std::fmt::Display for CatalogError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for CatalogError {}

impl CatalogError {
    /// Creates an error without details.
    pub fn new(kind: ErrorKind, code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), details: None, kind, cause: None }
    }

    /// Adds details.
    #[must_use]
    pub fn with_details(self, details: Json) -> Self {
        Self { details: Some(details), ..self }
    }

    /// Creates an error for an invalid request.
    pub fn invalid(code: &str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, code, message)
    }

    /// Creates an error for a cursor that no page of the list ended with.
    pub(super) fn bad_cursor() -> Self {
        Self::invalid("invalid_query", "`cursor` is not one of this list: use `X-Next-Cursor` of the previous page")
    }

    /// Creates an error for a missing permission.
    pub fn forbidden(code: &str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Forbidden, code, message)
    }

    /// Creates an error for a missing resource, such as `template_not_found`, "template not found".
    pub fn not_found(code: &str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, code, message)
    }

    /// Converts a store error, with a code and message for missing rows.
    pub fn or_not_found(code: &'static str, message: &'static str) -> impl Fn(StoreError) -> Self {
        move |error| match error {
            StoreError::NotFound => Self::not_found(code, message),
            error => error.into(),
        }
    }
}

/// Converts a store error. Missing rows get a generic code: use [`CatalogError::or_not_found`] for a specific one.
impl From<StoreError> for CatalogError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound => Self::not_found("not_found", "not found"),
            StoreError::UniqueViolation(constraint) => {
                Self::new(ErrorKind::Conflict, "unique_violation", format!("violates unique constraint `{constraint}`"))
                    .with_details(json!({ "constraint": constraint }))
            }
            StoreError::ForeignKeyViolation(constraint) => {
                let message = format!("violates foreign-key constraint `{constraint}`");
                Self::new(ErrorKind::Unprocessable, "foreign_key_violation", message)
                    .with_details(json!({ "constraint": constraint }))
            }
            StoreError::Stale => Self::new(
                ErrorKind::PreconditionFailed,
                "precondition_failed",
                "the resource has changed: read it again, then retry",
            ),
            StoreError::LastAdminKey => Self::new(
                ErrorKind::Conflict,
                "last_admin_key",
                "this is the last live administrator key: create another one first, or use `?force=true`",
            ),
            StoreError::TokenReused => Self::new(
                ErrorKind::Unprocessable,
                "idempotency_key_reused",
                "the idempotency key was used for a different request",
            ),
            StoreError::Replayed(_) => Self::new(ErrorKind::Conflict, "repeated", "the request was carried out before"),
            StoreError::Unavailable(outage, cause) => {
                let message = format!("the store {}: retry later", outage.phrase());
                Self { cause: Some(cause.into()), ..Self::new(ErrorKind::Busy, STORE_UNAVAILABLE, message) }
            }
            StoreError::Failed(cause) => {
                let error = Self::new(ErrorKind::Internal, "internal_error", "the store failed");
                Self { cause: Some(cause.into()), ..error }
            }
        }
    }
}
