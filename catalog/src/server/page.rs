//! The web page. Its files are embedded, and it loads nothing from other hosts.

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;
use axum::routing::get;

/// Paths, content types and texts of the files.
const FILES: &[(&str, &str, &str)] = &[
    ("/", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("/api.js", "text/javascript; charset=utf-8", include_str!("page/api.js")),
    ("/app.js", "text/javascript; charset=utf-8", include_str!("page/app.js")),
    ("/diff.js", "text/javascript; charset=utf-8", include_str!("page/diff.js")),
    ("/dom.js", "text/javascript; charset=utf-8", include_str!("page/dom.js")),
    ("/form.js", "text/javascript; charset=utf-8", include_str!("page/form.js")),
    ("/icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
    ("/json.js", "text/javascript; charset=utf-8", include_str!("page/json.js")),
    ("/style.css", "text/css; charset=utf-8", include_str!("page/style.css")),
    ("/template.js", "text/javascript; charset=utf-8", include_str!("page/template.js")),
];

/// Only resources from this host, and no framing.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The routes of the page.
pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    FILES.iter().fold(Router::new(), |router, &(path, content_type, text)| {
        router.route(path, get(move || async move { file(content_type, text) }))
    })
}

fn file(content_type: &'static str, text: &'static str) -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, text)
}
