//! Lists: pages of bounded size, and whole lists that are sent while they are read.

use std::future::Future;
use std::sync::Arc;

use axum::body::Body;
use serde::Serialize;
use uuid::Uuid;

use super::error::{ApiError, Result};
use super::line_body::{CutOff, LineWriter, line_body};
use super::paging::Paging;
use super::response::ApiResponse;
use super::service::Service;
use crate::fair::Identity;
use crate::store::Page;

const JSON: &str = "application/json";
/// Number of rows that are read first, because a row may be as large as a request body.
const FIRST_ROWS: usize = 8;
/// Maximum number of rows that are read at once.
const MOST_ROWS: usize = 500;
/// Bytes that are read at once, as far as the rows before tell.
const CHUNK_BYTES: usize = 256 << 10;
/// Number of unsent chunks of a list.
const AHEAD: usize = 1;

/// Responds with a page, or with the whole list if the client asked for no page. A page ends early if it has more than
/// [`Settings::page_bytes`](super::Settings::page_bytes); it has at least one row.
pub(super) async fn list<T, R, F>(
    service: &Arc<Service>,
    paging: Paging,
    read: R,
    id: fn(&T) -> Uuid,
) -> Result<ApiResponse>
where
    T: Serialize + Send + 'static,
    R: Fn(Page) -> F + Send + Sync + 'static,
    F: Future<Output = crate::Result<Vec<T>>> + Send + 'static,
{
    let (limit, after) = (paging.limit(), paging.after());
    let mut reader = Reader { read, id, after, left: limit.unwrap_or(usize::MAX), rows: FIRST_ROWS };
    let whole = if limit.is_some() { service.settings.page_bytes } else { CHUNK_BYTES };
    let mut text = vec![b'['];
    let more = reader.fill(&mut text, whole).await?;
    if more && limit.is_none() {
        let (writer, body) = line_body(AHEAD);
        // What is read later is read for the same caller.
        tokio::spawn(Identity::current().scope(async move {
            let sent = send_rest(reader, text, &writer).await;
            writer.end(sent).await;
        }));
        return Ok(ApiResponse::body(JSON, Body::new(body)));
    }
    text.push(b']');
    let response = ApiResponse::body(JSON, Body::from(text));
    Ok(match reader.after.filter(|_| more) {
        Some(last) => paging.with_next(response, last),
        None => response,
    })
}

/// Sends the list from its beginning in `text` to its end.
async fn send_rest<T, R, F>(mut reader: Reader<T, R>, mut text: Vec<u8>, writer: &LineWriter) -> Result<(), CutOff>
where
    T: Serialize,
    R: Fn(Page) -> F,
    F: Future<Output = crate::Result<Vec<T>>>,
{
    loop {
        text.push(b',');
        writer.line(std::mem::take(&mut text)).await?;
        let more = reader.fill(&mut text, CHUNK_BYTES).await;
        if !more.map_err(|error| CutOff::Failed(error.into_cause()))? {
            break;
        }
    }
    text.push(b']');
    writer.line(text).await
}

/// Reads a list in chunks.
struct Reader<T, R> {
    read: R,
    id: fn(&T) -> Uuid,
    /// The last row read.
    after: Option<Uuid>,
    /// Maximum number of rows to read.
    left: usize,
    /// Number of rows to read next.
    rows: usize,
}

impl<T, R, F> Reader<T, R>
where
    T: Serialize,
    R: Fn(Page) -> F,
    F: Future<Output = crate::Result<Vec<T>>>,
{
    /// Appends rows in JSON, separated by commas, until there are none left or `text` has more than `most` bytes.
    /// Returns `true` if there are more rows.
    async fn fill(&mut self, text: &mut Vec<u8>, most: usize) -> Result<bool> {
        let (start, mut count) = (text.len(), 0);
        loop {
            let rows = self.rows.min(self.left);
            // One row more shows if there is another page.
            let limit = u32::try_from(rows).unwrap_or(u32::MAX).saturating_add(1);
            let read = (self.read)(Page { after: self.after, limit: Some(limit) }).await?;
            let more = read.len() > rows;
            for row in read.iter().take(rows) {
                let row_text = serde_json::to_vec(row).map_err(|_| ApiError::internal("cannot write a row as JSON"))?;
                if count > 0 && text.len() + row_text.len() > most {
                    return Ok(true);
                }
                if count > 0 {
                    text.push(b',');
                }
                text.extend_from_slice(&row_text);
                (self.after, count, self.left) = (Some((self.id)(row)), count + 1, self.left - 1);
            }
            if !more || self.left == 0 {
                return Ok(more);
            }
            self.rows = (CHUNK_BYTES * count / (text.len() - start).max(1)).clamp(1, MOST_ROWS);
        }
    }
}
