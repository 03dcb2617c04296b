//! Lists by the page: `?limit=` and `?cursor=`. Without a limit a list is whole, as the recorded service has it.

use axum::extract::{FromRequestParts, OriginalUri};
use axum::http::request::Parts;
use axum::http::{HeaderName, StatusCode, header};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;
use uuid::Uuid;

use super::answer::Answer;
use super::extract::Asked;
use super::failure::{Failure, Result};
use crate::store::Page;

/// How long a page may be.
const LONGEST: u32 = 1000;

/// Where the next page begins.
const NEXT_CURSOR: HeaderName = HeaderName::from_static("x-next-cursor");

/// Which part of a list is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// At most so many, 1 to 1000; without it the list is whole.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// `X-Next-Cursor` of the page before.
    cursor: Option<Uuid>,
}

/// Which part of a list is wanted, and how the next one is asked for.
pub(super) struct Paging {
    limit: Option<u32>,
    cursor: Option<Uuid>,
    path: String,
    others: Vec<(String, String)>,
}

impl<S: Send + Sync> FromRequestParts<S> for Paging {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let Asked(PageQuery { limit, cursor }) = Asked::from_request_parts(parts, state).await?;
        if limit.is_some_and(|limit| !(1..=LONGEST).contains(&limit)) {
            return Err(Failure::invalid("invalid_query", format!("a page has 1 to {LONGEST} entries")));
        }
        let Asked(mut others) = Asked::<Vec<(String, String)>>::from_request_parts(parts, state).await?;
        others.retain(|(name, _)| name != "limit" && name != "cursor");
        let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri);
        Ok(Self { limit, cursor, path: uri.path().to_owned(), others })
    }
}

impl Paging {
    /// What the catalog is asked for: one entry more than the page has, to know whether there is another page.
    pub(super) fn page(&self) -> Page {
        Page { after: self.cursor, limit: self.limit.map(|limit| limit + 1) }
    }

    /// The page, and where the next one is.
    pub(super) fn answer<T: Serialize>(&self, mut rows: Vec<T>, id: impl Fn(&T) -> Uuid) -> Result<Answer> {
        let limit = self.limit.map_or(usize::MAX, |limit| limit as usize);
        let more = rows.len() > limit;
        rows.truncate(limit);
        let answer = Answer::json(StatusCode::OK, &rows)?;
        match rows.last().filter(|_| more) {
            None => Ok(answer),
            Some(last) => Ok(self.continued(answer, id(last))),
        }
    }

    /// What the catalog is asked for where a whole list would be too much work.
    pub(super) fn bounded(&self) -> Page {
        Page { after: self.cursor, limit: Some(self.limit.unwrap_or(LONGEST)) }
    }

    /// The same answer, with where the next page is.
    pub(super) fn continued(&self, answer: Answer, cursor: Uuid) -> Answer {
        let limit = self.limit.unwrap_or(LONGEST);
        let mut link = format!("<{}?limit={limit}&cursor={cursor}", self.path);
        for (name, value) in &self.others {
            link.push_str(&format!("&{}={}", encoded(name), encoded(value)));
        }
        link.push_str(">; rel=\"next\"");
        answer.with(NEXT_CURSOR, &cursor.to_string()).with(header::LINK, &link)
    }
}

fn encoded(text: &str) -> percent_encoding::PercentEncode<'_> {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC)
}
