//! Responses: status, body and headers; errors, with a body of the form `{code, message, details}`; and bodies that are
//! written line by line; conditional requests: `ETag`, `If-None-Match` and `If-Match`.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use serde::Serialize;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use uuid::Uuid;

use crate::{CatalogError, ErrorKind, Generator, Timestamp};

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

/// A message to the body: a line, or the cause that it ends for. `None` ends it well.
type Piece = Option<Result<Bytes, Box<str>>>;

/// The body. If its lines cannot be completed, or its writer is dropped before [`LineWriter::end`], the body ends in an
/// error, so that clients notice the truncation.
pub(super) struct LineBody(Receiver<Piece>);

/// The writer of the body.
pub(super) struct LineWriter(Sender<Piece>);

/// The reason why a body ends early.
#[derive(Debug)]
pub(super) enum CutOff {
    /// The client has disconnected.
    Disconnected,
    /// The next line could not be made, for this cause.
    Failed(Box<str>),
}

/// Creates a body and its writer. The writer waits while `ahead` lines are unsent.
pub(super) fn line_body(ahead: usize) -> (LineWriter, LineBody) {
    let (sender, receiver) = channel(ahead.max(1));
    (LineWriter(sender), LineBody(receiver))
}

impl LineWriter {
    /// Writes a line.
    pub(super) async fn line(&self, mut line: Vec<u8>) -> Result<(), CutOff> {
        line.push(b'\n');
        self.0.send(Some(Ok(line.into()))).await.map_err(|_| CutOff::Disconnected)
    }

    /// Ends the body: in an error if its lines could not be completed.
    pub(super) async fn end(self, written: Result<(), CutOff>) {
        let last = match written {
            Ok(()) => None,
            Err(CutOff::Failed(cause)) => Some(Err(cause)),
            Err(CutOff::Disconnected) => return,
        };
        // The client may have disconnected.
        let _ = self.0.send(last).await;
    }

    /// Completes when the client disconnects.
    pub(super) async fn disconnected(&self) {
        self.0.closed().await;
    }
}

impl hyper::body::Body for LineBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.0.poll_recv(cx).map(|piece| match piece {
            Some(Some(Ok(line))) => Some(Ok(Frame::data(line))),
            Some(None) => None,
            Some(Some(Err(cause))) => Some(Err(io::Error::other(&*cause))),
            None => Some(Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the response was cut off"))),
        })
    }
}

/// Separates the last change from the last use in the tag of a generator. No other tag contains it.
const USE: char = '.';

/// The preconditions of a request.
#[derive(Debug, Default)]
pub(super) struct Preconditions {
    none: Option<ETags>,
    only: Option<ETags>,
}

/// The entity tags of a header: any, or a list.
#[derive(Debug, PartialEq)]
enum ETags {
    Any,
    These(Vec<ETag>),
}

#[derive(Debug, PartialEq)]
struct ETag {
    weak: bool,
    text: String,
}

impl ETag {
    /// The tag without the part that is no change for `If-Match`.
    fn state(&self) -> &str {
        self.text.split_once(USE).map_or(self.text.as_str(), |(state, _)| state)
    }
}

impl Preconditions {
    /// Returns `true` if the client has this state (`If-None-Match`, weak comparison).
    pub(super) fn if_none_match(&self, tag: &str) -> bool {
        match &self.none {
            None => false,
            Some(ETags::Any) => true,
            Some(ETags::These(tags)) => tags.iter().any(|known| known.text == tag),
        }
    }

    /// Returns `true` if a change is conditional (`If-Match`).
    pub(super) fn has_if_match(&self) -> bool {
        matches!(self.only, Some(ETags::These(_)))
    }

    /// Reads the present state if a change is conditional, and checks `If-Match` against its tag.
    pub(super) async fn expected<T>(
        &self,
        present: impl Future<Output = Result<T, CatalogError>>,
        tag: impl Fn(&T) -> String,
    ) -> Result<Option<T>, CatalogError> {
        if !self.has_if_match() {
            return Ok(None);
        }
        let present = present.await?;
        self.check_if_match(&tag(&present))?;
        Ok(Some(present))
    }

    /// Checks `If-Match` against the current tag (strong comparison). The state may still change afterwards, so the
    /// store checks again.
    pub(super) fn check_if_match(&self, present: &str) -> Result<(), CatalogError> {
        match &self.only {
            None | Some(ETags::Any) => Ok(()),
            Some(ETags::These(tags)) if tags.iter().any(|tag| !tag.weak && tag.state() == present) => Ok(()),
            Some(ETags::These(_)) => Err(CatalogError::new(
                ErrorKind::PreconditionFailed,
                "precondition_failed",
                "the resource has changed: read it again, then retry",
            )),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Preconditions {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let tags = |name: HeaderName| tags(&parts.headers, &name);
        Ok(Self { none: tags(header::IF_NONE_MATCH), only: tags(header::IF_MATCH) })
    }
}

/// The tag of a row that never changes (a template version, a label, an annotation, a key): its ID.
pub(super) fn row_etag(id: Uuid) -> String {
    id.to_string()
}

/// The tag of a row that changes: the time of its last change.
pub(super) fn change_etag(at: &Timestamp) -> String {
    at.timestamp_micros().to_string()
}

/// The tag of a generator. It also changes when the key is used, which is no change for `If-Match`.
pub(super) fn generator_etag(generator: &Generator) -> String {
    let used = generator.last_active_at.map_or(0, |at| at.timestamp_micros());
    format!("{}{USE}{used}", change_etag(&generator.updated_at))
}

/// The tags of a header. Malformed ones are left out and match nothing.
fn tags(headers: &HeaderMap, name: &HeaderName) -> Option<ETags> {
    let mut values = headers.get_all(name).iter().peekable();
    values.peek()?;
    let mut tags = Vec::new();
    for value in values {
        let text = value.to_str().unwrap_or_default();
        if text.trim() == "*" {
            return Some(ETags::Any);
        }
        tags.extend(text.split(',').filter_map(|tag| read(tag.trim())));
    }
    Some(ETags::These(tags))
}

/// Parses `"x"` or `W/"x"`. The service's own tags contain no commas.
fn read(text: &str) -> Option<ETag> {
    let (weak, quoted) = text.strip_prefix("W/").map_or((false, text), |rest| (true, rest));
    let text = quoted.strip_prefix('"')?.strip_suffix('"')?;
    Some(ETag { weak, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use hyper::body::Body as _;

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

    /// The lines of a body, and its error.
    async fn read(mut body: LineBody) -> (usize, Option<String>) {
        let mut lines = 0;
        loop {
            match poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
                Some(Ok(_)) => lines += 1,
                Some(Err(error)) => return (lines, Some(error.to_string())),
                None => return (lines, None),
            }
        }
    }

    #[tokio::test]
    async fn a_body_that_is_not_completed_ends_in_its_cause() {
        for (written, expected) in [
            (Ok(()), None),
            (Err(CutOff::Failed("the disk is gone".into())), Some("the disk is gone")),
            (Err(CutOff::Disconnected), Some("the response was cut off")),
        ] {
            let (writer, body) = line_body(2);
            writer.line(b"1".to_vec()).await.unwrap();
            writer.end(written).await;
            assert_eq!(read(body).await, (1, expected.map(str::to_owned)));
        }
    }
}

#[cfg(test)]
mod preconditions_tests {
    use axum::http::HeaderValue;

    use super::*;

    fn of(name: HeaderName, values: &[&'static str]) -> Preconditions {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(&name, HeaderValue::from_static(value));
        }
        Preconditions { none: tags(&headers, &header::IF_NONE_MATCH), only: tags(&headers, &header::IF_MATCH) }
    }

    #[test]
    fn a_state_is_known_by_its_name_weak_or_strong() {
        let known = |values: &[&'static str], tag| of(header::IF_NONE_MATCH, values).if_none_match(tag);
        assert!(known(&["\"a\""], "a"));
        assert!(known(&["W/\"a\""], "a"));
        assert!(known(&["\"b\", \"a\""], "a"));
        assert!(known(&["\"b\"", "\"a\""], "a"));
        assert!(known(&["*"], "a"));
        assert!(!known(&["a"], "a"));
        assert!(!known(&["\"b\""], "a"));
        assert!(!known(&[], "a"));
    }

    #[test]
    fn a_change_depends_on_strong_names_only() {
        let expected = |values: &[&'static str]| of(header::IF_MATCH, values).check_if_match("a");
        assert!(expected(&[]).is_ok());
        assert!(expected(&["*"]).is_ok());
        assert!(expected(&["\"b\", \"a\""]).is_ok());
        assert!(expected(&["\"a.1\""]).is_ok());
        assert!(expected(&["\"b.a\""]).is_err());
        assert_eq!(expected(&["W/\"a\""]).unwrap_err().kind, ErrorKind::PreconditionFailed);
        assert_eq!(expected(&["a"]).unwrap_err().kind, ErrorKind::PreconditionFailed);
        assert_eq!(expected(&[""]).unwrap_err().kind, ErrorKind::PreconditionFailed);
    }
}
