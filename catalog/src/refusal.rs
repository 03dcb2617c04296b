//! Why a catalog does not do what it was asked for: a class, which decides the HTTP status and the exit code, a code for
//! machines, a message and details.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::store::StoreError;

/// The class of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// The request is wrong in itself.
    Invalid,
    /// Nobody knows who asks.
    Unauthorized,
    /// Who asks may not.
    Forbidden,
    /// It is not there.
    Missing,
    /// It is there already.
    Conflict,
    /// It has been changed by somebody else.
    Moved,
    /// The request is well formed and cannot be done.
    Unprocessable,
    /// There is too much to do just now.
    Busy,
    /// It is our fault.
    Internal,
}

impl Class {
    /// The class whose status this is; one that has none of its own is our fault.
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

/// What is answered instead of a result; the body of an error on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = ErrorResponse)]
pub struct Refusal {
    /// For machines; stable.
    pub code: String,
    /// For people.
    pub message: String,
    /// What there is to say more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Json>,
    /// The class.
    #[serde(skip, default = "internal")]
    pub class: Class,
    /// What a store or the system said, of refusals that are our fault: for logs, not for clients.
    #[serde(skip)]
    pub cause: Option<Box<str>>,
}

fn internal() -> Class {
    Class::Internal
}

/// What a catalog answers with.
pub type Result<T, E = Refusal> = std::result::Result<T, E>;

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    /// A refusal without details.
    pub fn new(class: Class, code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), details: None, class, cause: None }
    }

    /// The same with details.
    #[must_use]
    pub fn with(self, details: Json) -> Self {
        Self { details: Some(details), ..self }
    }

    /// The request is wrong in itself.
    pub fn invalid(code: &str, message: impl Into<String>) -> Self {
        Self::new(Class::Invalid, code, message)
    }

    /// Who asks may not.
    pub fn forbidden(code: &str, message: impl Into<String>) -> Self {
        Self::new(Class::Forbidden, code, message)
    }

    /// It is not there: `template_not_found`, "template not found".
    pub fn missing(code: &str, message: impl Into<String>) -> Self {
        Self::new(Class::Missing, code, message)
    }

    /// What a store answered where a missing row is no answer that a client can do anything about.
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
                Self::new(Class::Moved, "precondition_failed", "it was changed since: read it again, then try again")
            }
            StoreError::TokenReused => Self::new(
                Class::Unprocessable,
                "idempotency_key_reused",
                "the idempotency key was used before, for another request",
            ),
            StoreError::Repeated(_) => Self::new(Class::Conflict, "repeated", "the request was carried out before"),
            StoreError::Failed(cause) => {
                let refusal = Self::new(Class::Internal, "internal_error", "the store failed");
                Self { cause: Some(cause.into()), ..refusal }
            }
        }
    }

    /// [`Refusal::of_store`], where a missing row is answered with this code and message.
    pub fn or_missing(code: &'static str, message: &'static str) -> impl Fn(StoreError) -> Self {
        move |error| match error {
            StoreError::Missing => Self::missing(code, message),
            error => Self::of_store(error),
        }
    }
}
