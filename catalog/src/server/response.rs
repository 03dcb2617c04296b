//! Successful responses: status, body and headers.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::error::{ApiError, Result};
use super::preconditions::Preconditions;

/// Findings about a template, as JSON.
pub const WARNINGS: HeaderName = HeaderName::from_static("x-dropforge-warnings");
/// Number of findings. The header with the findings may hold only the first ones.
pub const WARNING_COUNT: HeaderName = HeaderName::from_static("x-dropforge-warning-count");
/// Metadata the response to a replayed request.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// Maximum bytes of the header with findings. Proxies accept 8 KiB for all headers.
const MAX_WARNINGS_BYTES: usize = 4096;

/// A response under construction.
#[derive(Debug)]
pub(super) struct ApiResponse(Response);

impl ApiResponse {
    /// A response with a JSON body.
    pub(super) fn json<T: Serialize + ?Sized>(status: StatusCode, body: &T) -> Result<Self> {
        let body = serde_json::to_vec(body).map_err(|_| ApiError::internal("cannot write the response as JSON"))?;
        Ok(Self((status, [(header::CONTENT_TYPE, "application/json")], body).into_response()))
    }

    /// A response with status 200 and a JSON body.
    pub(super) fn ok<T: Serialize + ?Sized>(body: &T) -> Result<Self> {
        Self::json(StatusCode::OK, body)
    }

    /// A response with status 201 and a JSON body.
    pub(super) fn created<T: Serialize + ?Sized>(body: &T) -> Result<Self> {
        Self::json(StatusCode::CREATED, body)
    }

    /// A response with status 204 and no body.
    pub(super) fn no_content() -> Self {
        Self(StatusCode::NO_CONTENT.into_response())
    }

    /// A response with status 200 and a text body.
    pub(super) fn text(content_type: &'static str, body: String) -> Self {
        Self(([(header::CONTENT_TYPE, content_type)], body).into_response())
    }

    /// A response with status 200 and a body.
    pub(super) fn body(content_type: &'static str, body: Body) -> Self {
        Self(([(header::CONTENT_TYPE, content_type)], body).into_response())
    }

    /// Adds the `ETag`.
    pub(super) fn with_etag(self, tag: &str) -> Self {
        self.with(header::ETAG, &format!("\"{tag}\"")).with(header::CACHE_CONTROL, "private, no-cache")
    }

    /// Adds the `ETag` of a resource whose response shows a secret and is never stored.
    pub(super) fn with_key_etag(self, tag: &str) -> Self {
        self.with(header::ETAG, &format!("\"{tag}\""))
    }

    /// Adds the `ETag`. Replaces the response by status 304 if the client has this state.
    pub(super) fn or_not_modified(self, tag: &str, preconditions: &Preconditions) -> Self {
        if !preconditions.if_none_match(tag) {
            return self.with_etag(tag);
        }
        Self(StatusCode::NOT_MODIFIED.into_response()).with_etag(tag)
    }

    /// Adds the findings about a template, as many as the header can hold.
    pub(super) fn with_warnings<T: Serialize>(self, warnings: &[T]) -> Self {
        if warnings.is_empty() {
            return self;
        }
        self.with(WARNING_COUNT, &warnings.len().to_string()).with(WARNINGS, &warnings_header(warnings))
    }

    /// Metadata the response if the request was a repetition.
    pub(super) fn with_replayed(self, replayed: bool) -> Self {
        if replayed { self.with(REPLAYED, "true") } else { self }
    }

    /// Adds a header. Leaves out invalid values, which no caller passes.
    pub(super) fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.0.headers_mut().insert(name, value);
        }
        self
    }
}

impl IntoResponse for ApiResponse {
    fn into_response(self) -> Response {
        self.0
    }
}

/// The first findings as a JSON list in ASCII, at most [`MAX_WARNINGS_BYTES`] bytes long.
fn warnings_header<T: Serialize>(warnings: &[T]) -> String {
    let mut list = String::from("[");
    for warning in warnings {
        let Ok(text) = serde_json::to_string(warning) else { continue };
        let text = ascii(&text);
        if list.len() + text.len() + 2 > MAX_WARNINGS_BYTES {
            break;
        }
        if list.len() > 1 {
            list.push(',');
        }
        list.push_str(&text);
    }
    list.push(']');
    list
}

/// Escapes characters beyond ASCII, and DEL. JSON already escapes the other control characters.
fn ascii(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() && character != '\x7f' {
            text.push(character);
            continue;
        }
        let mut units = [0; 2];
        for unit in character.encode_utf16(&mut units) {
            text.push_str(&format!("\\u{unit:04x}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_ascii_and_still_the_same_json() {
        let warnings = ["é\u{7f}\"\n", "\u{1f600}"];
        let text = warnings_header(&warnings);
        assert!(text.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{text}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), warnings);
    }

    #[test]
    fn warnings_beyond_the_room_are_counted_and_not_shown() {
        let warnings = vec!["x".repeat(1000); 100];
        let text = warnings_header(&warnings);
        assert!(text.len() <= MAX_WARNINGS_BYTES);
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap().len(), 4);
    }
}
