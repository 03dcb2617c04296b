//! What is answered when a request is carried out: a status, a body, and what the headers say of it.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::conditions::Conditions;
use super::failure::{Failure, Result};

/// What was found in a template, as JSON.
pub const WARNINGS: HeaderName = HeaderName::from_static("x-dropforge-warnings");
/// How much was found, also where the header has no room for all of it.
pub const WARNING_COUNT: HeaderName = HeaderName::from_static("x-dropforge-warning-count");
/// The answer is the one to an earlier request with the same key.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// How many bytes of warnings a header holds: proxies take headers of 8 KiB in all.
const ROOM: usize = 4096;

/// An answer, to be added to.
#[derive(Debug)]
pub(super) struct Answer(Response);

impl Answer {
    /// An answer with this body, as JSON.
    pub(super) fn json<T: Serialize + ?Sized>(status: StatusCode, body: &T) -> Result<Self> {
        let body = serde_json::to_vec(body).map_err(|_| Failure::internal("the answer is no JSON"))?;
        Ok(Self((status, [(header::CONTENT_TYPE, "application/json")], body).into_response()))
    }

    /// 200 with this body, as JSON.
    pub(super) fn ok<T: Serialize + ?Sized>(body: &T) -> Result<Self> {
        Self::json(StatusCode::OK, body)
    }

    /// 201 with this body, as JSON.
    pub(super) fn created<T: Serialize + ?Sized>(body: &T) -> Result<Self> {
        Self::json(StatusCode::CREATED, body)
    }

    /// 204, without a body.
    pub(super) fn gone() -> Self {
        Self(StatusCode::NO_CONTENT.into_response())
    }

    /// 200 with a text of this type.
    pub(super) fn text(content_type: &'static str, body: String) -> Self {
        Self(([(header::CONTENT_TYPE, content_type)], body).into_response())
    }

    /// Says what the state of the resource is called.
    pub(super) fn tagged(self, tag: &str) -> Self {
        self.with(header::ETAG, &format!("\"{tag}\"")).with(header::CACHE_CONTROL, "private, no-cache")
    }

    /// 304 instead, if the client has this state already.
    pub(super) fn unless_known(self, tag: &str, conditions: &Conditions) -> Self {
        if !conditions.knows(tag) {
            return self.tagged(tag);
        }
        Self(StatusCode::NOT_MODIFIED.into_response()).tagged(tag)
    }

    /// Says what was found in a template, as far as a header has room for it.
    pub(super) fn warned<T: Serialize>(self, warnings: &[T]) -> Self {
        if warnings.is_empty() {
            return self;
        }
        self.with(WARNING_COUNT, &warnings.len().to_string()).with(WARNINGS, &shown(warnings))
    }

    /// Says whether this is the answer to an earlier request.
    pub(super) fn replayed(self, replayed: bool) -> Self {
        if replayed { self.with(REPLAYED, "true") } else { self }
    }

    /// With a header. A value that is none is left out: nothing that comes here is one.
    pub(super) fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.0.headers_mut().insert(name, value);
        }
        self
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        self.0
    }
}

/// A JSON list of the first of these, in ASCII, in at most [`ROOM`] bytes.
fn shown<T: Serialize>(warnings: &[T]) -> String {
    let mut list = String::from("[");
    for warning in warnings {
        let Ok(text) = serde_json::to_string(warning) else { continue };
        let text = ascii(&text);
        if list.len() + text.len() + 2 > ROOM {
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

/// The same JSON without characters beyond ASCII; control characters are escaped in JSON already, but for DEL.
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
        let text = shown(&warnings);
        assert!(text.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{text}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), warnings);
    }

    #[test]
    fn warnings_beyond_the_room_are_counted_and_not_shown() {
        let warnings = vec!["x".repeat(1000); 100];
        let text = shown(&warnings);
        assert!(text.len() <= ROOM);
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap().len(), 4);
    }
}
