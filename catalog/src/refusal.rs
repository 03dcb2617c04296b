//! Errors of a catalog: a kind, which decides the HTTP status and the exit code, a stable code, a message and details.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::store::StoreError;

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// The request is invalid.
    Invalid,
    /// The key is missing or unknown.
    Unauthorized,
    /// The caller lacks permission.
    Forbidden,
    /// The resource does not exist.
    Missing,
    /// The resource already exists.
    Conflict,
    /// The resource was changed by another request.
    Moved,
    /// The request is well formed but cannot be carried out.
    Unprocessable,
    /// The service is overloaded.
    Busy,
    /// The service failed.
    Internal,
}

impl Class {
    /// The kind with this status, or `Internal`.
    pub fn of_status(status: u16) -> Self {
        let all = [
            Class::Invalid,
            Class::Unauthorized,
            Class::Forbidden,
            Class::Missing,
            Class::Conflict,
            Class::Moved,
            Class::Unprocessable,
            Class::Busy,
        ];
        all.into_iter().find(|class| class.status() == status).unwrap_or(Class::Internal)
    }

    /// The HTTP status.
    pub fn status(self) -> u16 {
        match self {
            Class::Invalid => 400,
            Class::Unauthorized => 401,
            Class::Forbidden => 403,
            Class::Missing => 404,
            Class::Conflict => 409,
            Class::Moved => 412,
            Class::Unprocessable => 422,
            Class::Busy => 503,
            Class::Internal => 500,
        }
    }
}

/// An error of a catalog and the body of error responses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = ErrorResponse)]
pub struct Refusal {
    /// Stable, machine-readable code.
    pub code: String,
    /// Human-readable message.
    pub message: String,
    /// Further details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Json>,
    /// The kind.
    #[serde(skip, default = "internal")]
    pub class: Class,
    /// The underlying store or system error. Logged, never sent to clients.
    #[serde(skip)]
    pub cause: Option<Box<str>>,
}

fn internal() -> Class {
    Class::Internal
}

/// The result of an operation.
pub type Result<T, E = Refusal> = std::result::Result<T, E>;

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    /// Creates an error without details.
    pub fn new(class: Class, code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), details: None, class, cause: None }
    }

    /// Adds details.
    #[must_use]
    pub fn with(self, details: Json) -> Self {
        Self { details: Some(details), ..self }
    }

    /// Creates an error for an invalid request.
    pub fn invalid(code: &str, message: impl Into<String>) -> Self {
        Self::new(Class::Invalid, code, message)
    }

    /// Creates an error for a missing permission.
    pub fn forbidden(code: &str, message: impl Into<String>) -> Self {
        Self::new(Class::Forbidden, code, message)
    }

    /// Creates an error for a missing resource, such as `template_not_found`, "template not found".
    pub fn missing(code: &str, message: impl Into<String>) -> Self {
        Self::new(Class::Missing, code, message)
    }

    /// Converts a store error. Missing rows get a generic code: use [`Refusal::or_missing`] for a specific one.
    pub fn of_store(error: StoreError) -> Self {
        match error {
            StoreError::Missing => Self::missing("not_found", "not found"),
            StoreError::Taken(constraint) => {
                Self::new(Class::Conflict, "unique_violation", format!("violates unique constraint `{constraint}`"))
                    .with(json!({ "constraint": constraint }))
            }
            StoreError::Dangling(constraint) => {
                let message = format!("violates foreign-key constraint `{constraint}`");
                Self::new(Class::Unprocessable, "foreign_key_violation", message)
                    .with(json!({ "constraint": constraint }))
            }
            StoreError::Moved => {
                Self::new(Class::Moved, "precondition_failed", "the resource has changed: read it again, then retry")
            }
            StoreError::TokenReused => Self::new(
                Class::Unprocessable,
                "idempotency_key_reused",
                "the idempotency key was used for a different request",
            ),
            StoreError::Repeated(_) => Self::new(Class::Conflict, "repeated", "the request was carried out before"),
            StoreError::Failed(cause) => {
                let refusal = Self::new(Class::Internal, "internal_error", "the store failed");
                Self { cause: Some(cause.into()), ..refusal }
            }
        }
    }

    /// [`Refusal::of_store`] with a code and message for missing rows.
    pub fn or_missing(code: &'static str, message: &'static str) -> impl Fn(StoreError) -> Self {
        move |error| match error {
            StoreError::Missing => Self::missing(code, message),
            error => Self::of_store(error),
        }
    }
}
