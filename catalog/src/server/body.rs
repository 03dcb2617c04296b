//! Reading request bodies. Those in memory are counted, so that slow and large ones cannot fill it.

use std::future::poll_fn;
use std::pin::Pin;

use axum::body::Body;
use axum::http::StatusCode;
use hyper::body::Body as _;

use super::error::{ApiError, Result};
use crate::fair::Held;
use crate::{CatalogError, ErrorKind};

/// Memory to begin with.
const FIRST: usize = 8 << 10;

/// Reads a body of at most `limit` bytes. `held` counts the memory that it takes.
pub(super) async fn read(mut body: Body, limit: usize, held: &mut Held) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // A body without a declared length may have any.
    let expected = body.size_hint().exact().map_or(limit, |exact| usize::try_from(exact).unwrap_or(limit).min(limit));
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let Ok(data) = frame.map_err(|error| unreadable(&error, limit))?.into_data() else { continue };
        if data.len() > limit.saturating_sub(bytes.len()) {
            return Err(too_large(limit));
        }
        reserve(&mut bytes, data.len(), expected, held)?;
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Makes room for `more` bytes of a body that is expected to have at most `expected`.
fn reserve(bytes: &mut Vec<u8>, more: usize, expected: usize, held: &mut Held) -> Result<()> {
    let (needed, before) = (bytes.len() + more, bytes.capacity());
    if needed <= before {
        return Ok(());
    }
    let room = needed.max((2 * before).max(FIRST).min(expected));
    if !held.grow(room - before) {
        let message = "too many large requests are in progress: retry later";
        return Err(CatalogError::new(ErrorKind::Busy, "busy", message).into());
    }
    bytes.reserve_exact(room - bytes.len());
    Ok(())
}

/// An error for a body that is longer than `limit` bytes.
pub(super) fn too_large(limit: usize) -> ApiError {
    let message = format!("the body is larger than {limit} bytes");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large", message)
}

/// An error for a body that is too long or was cut off.
fn unreadable(error: &axum::Error, limit: usize) -> ApiError {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if error.is::<hyper::Error>() {
            return ApiError::invalid("unreadable_body", "cannot read the body");
        }
        cause = error.source();
    }
    too_large(limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::Budget;

    async fn outcome(length: usize, limit: usize, budget: &Budget) -> Result<(usize, Held), u16> {
        let mut held = budget.begin();
        match read(Body::from(vec![b'x'; length]), limit, &mut held).await {
            Ok(bytes) => Ok((bytes.len(), held)),
            Err(error) => Err(axum::response::IntoResponse::into_response(error).status().as_u16()),
        }
    }

    #[tokio::test]
    async fn bodies_are_bounded_alone_and_together() {
        let budget = Budget::new(200 << 10, 100 << 10);
        assert_eq!(outcome(0, 10, &budget).await.unwrap().0, 0);
        assert_eq!(outcome(10, 10, &budget).await.unwrap().0, 10);
        assert_eq!(outcome(11, 10, &budget).await.unwrap_err(), 413);
        let first = outcome(60 << 10, 90 << 10, &budget).await.unwrap();
        assert_eq!(outcome(60 << 10, 90 << 10, &budget).await.unwrap_err(), 503);
        drop(first);
        assert!(outcome(60 << 10, 90 << 10, &budget).await.is_ok());
    }
}
