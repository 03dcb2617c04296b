//! Pagination by `?limit=` and `?cursor=`. Without a limit a list is complete, as in Brokkr's service.

use axum::extract::{FromRequestParts, OriginalUri};
use axum::http::request::Parts;
use axum::http::{HeaderName, header};
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use super::error::{ApiError, Result};
use super::extract::Query;
use super::response::ApiResponse;
use crate::CatalogError;
use crate::store::Page;

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
