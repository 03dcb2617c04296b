//! Conditional requests: `ETag`, `If-None-Match` and `If-Match`.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};

use uuid::Uuid;

use crate::{CatalogError, ErrorKind, Generator, Timestamp};

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
