//! Lists: pages of bounded size by `?limit=` and `?cursor=`, and whole lists that are sent while they are read. Without a
//! limit a list is complete, as in Brokkr's service.

use std::future::Future;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, OriginalUri};
use axum::http::request::Parts;
use axum::http::{HeaderName, header};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;
use uuid::Uuid;

use super::extract::Query;
use super::response::{ApiError, ApiResponse, CutOff, LineWriter, Result, line_body};
use super::service::Service;
use crate::fair::Identity;
use crate::store::Page;
use crate::{Catalog, CatalogError};

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
/// [`Settings::page_bytes`](super::Settings::page_bytes); it has at least one row. `read` reads rows, `id` is the ID of one.
pub(super) async fn list<T, R, F>(
    service: &Arc<Service>,
    paging: Paging,
    read: R,
    id: fn(&T) -> Uuid,
) -> Result<ApiResponse>
where
    T: Serialize + Send + 'static,
    R: Fn(Catalog, Page) -> F + Send + Sync + 'static,
    F: Future<Output = crate::Result<Vec<T>>> + Send + 'static,
{
    let (limit, after) = (paging.limit(), paging.after());
    let catalog = service.catalog.clone();
    let mut reader = Reader { catalog, read, id, after, left: limit.unwrap_or(usize::MAX), rows: FIRST_ROWS };
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
    R: Fn(Catalog, Page) -> F,
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
    catalog: Catalog,
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
    R: Fn(Catalog, Page) -> F,
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
            let read = (self.read)(self.catalog.clone(), Page { after: self.after, limit: Some(limit) }).await?;
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

/// Maximum page size.
const MAX_PAGE_SIZE: u32 = 1000;

/// Cursor of the next page.
const NEXT_CURSOR: HeaderName = HeaderName::from_static("x-next-cursor");

/// Query parameters of a page.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// Maximum number of entries, 1 to 1000. Default: all.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// `X-Next-Cursor` of the previous page.
    cursor: Option<Uuid>,
}

/// The requested page, and how to request the next one.
pub(super) struct Paging {
    limit: Option<u32>,
    cursor: Option<Uuid>,
    path: String,
    others: Vec<(String, String)>,
}

impl<S: Send + Sync> FromRequestParts<S> for Paging {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let Query(PageQuery { limit, cursor }) = Query::from_request_parts(parts, state).await?;
        if limit.is_some_and(|limit| !(1..=MAX_PAGE_SIZE).contains(&limit)) {
            return Err(ApiError::invalid("invalid_query", format!("`limit` must be 1 to {MAX_PAGE_SIZE}")));
        }
        // All IDs have this version.
        if cursor.is_some_and(|cursor| cursor.get_version_num() != 7) {
            return Err(CatalogError::bad_cursor().into());
        }
        let Query(mut others) = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await?;
        others.retain(|(name, _)| name != "limit" && name != "cursor");
        let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri);
        Ok(Self { limit, cursor, path: uri.path().to_owned(), others })
    }
}

impl Paging {
    /// Maximum number of entries. `None` stands for a complete list.
    pub(super) fn limit(&self) -> Option<usize> {
        self.limit.map(|limit| limit as usize)
    }

    /// The last entry of the previous page.
    pub(super) fn after(&self) -> Option<Uuid> {
        self.cursor
    }

    /// Bounds the page where a complete list would be too long.
    pub(super) fn or_longest(self) -> Self {
        Self { limit: Some(self.limit.unwrap_or(MAX_PAGE_SIZE)), ..self }
    }

    /// The page to read where a complete list would be too expensive.
    pub(super) fn bounded(&self) -> Page {
        Page { after: self.cursor, limit: Some(self.limit.unwrap_or(MAX_PAGE_SIZE)) }
    }

    /// Adds the link to the next page.
    pub(super) fn with_next(&self, response: ApiResponse, cursor: Uuid) -> ApiResponse {
        let limit = self.limit.unwrap_or(MAX_PAGE_SIZE);
        let mut link = format!("<{}?limit={limit}&cursor={cursor}", self.path);
        for (name, value) in &self.others {
            link.push_str(&format!("&{}={}", encoded(name), encoded(value)));
        }
        link.push_str(">; rel=\"next\"");
        response.with(NEXT_CURSOR, &cursor.to_string()).with(header::LINK, &link)
    }
}

fn encoded(text: &str) -> percent_encoding::PercentEncode<'_> {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC)
}
