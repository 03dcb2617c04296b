//! The web page. Its files are embedded, and it loads nothing from other hosts.

use axum::Router;
use axum::http::header;
use axum::routing::get;

use super::preconditions::Preconditions;
use super::response::ApiResponse;
use crate::checksum;

/// The document, which shows the view of its address.
const DOCUMENT: &str = include_str!("page/index.html");

/// Addresses of views. The document is served at each.
const ADDRESSES: &[&str] = &[
    "/",
    "/templates",
    "/templates/new",
    "/templates/{id}",
    "/templates/{owner}/{name}",
    "/stacks",
    "/stacks/{id}",
    "/objects/{id}",
    "/keys",
    "/audit",
];

/// A row of [`FILES`].
macro_rules! file {
    ($name:literal) => {
        (concat!("/page/", $name), include_str!(concat!("page/", $name)))
    };
}

/// Paths and texts of the files that the document loads.
const FILES: &[(&str, &str)] = &[
    file!("api.js"),
    file!("app.js"),
    file!("audit.js"),
    file!("base.css"),
    file!("changes.js"),
    file!("code.js"),
    file!("colour.js"),
    file!("compare.js"),
    file!("diff.js"),
    file!("dom.js"),
    file!("edit.js"),
    file!("errors.js"),
    file!("fields.js"),
    file!("form.js"),
    file!("icon.svg"),
    file!("json.js"),
    file!("keys.js"),
    file!("list.js"),
    file!("object.js"),
    file!("parts.css"),
    file!("router.js"),
    file!("schema.js"),
    file!("session.js"),
    file!("signin.js"),
    file!("stack.js"),
    file!("stacks.js"),
    file!("tabs.js"),
    file!("template.js"),
    file!("templates.js"),
    file!("use.js"),
    file!("why.js"),
    file!("words.js"),
];

/// Only resources from this host, and no framing.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The routes of the page.
pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let documents = ADDRESSES.iter().map(|&path| (path, DOCUMENT));
    documents.chain(FILES.iter().copied()).fold(Router::new(), |router, (path, text)| {
        let tag = checksum(text);
        router.route(path, get(move |have: Preconditions| async move { file(path, text, &tag, &have) }))
    })
}

/// The content type of a path. Addresses have no extension.
fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.') {
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    }
}

fn file(path: &str, text: &str, tag: &str, have: &Preconditions) -> ApiResponse {
    ApiResponse::text(content_type(path), text.to_owned())
        .or_not_modified(tag, have)
        .with(header::CONTENT_SECURITY_POLICY, POLICY)
        .with(header::REFERRER_POLICY, "no-referrer")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_file_of_the_folder_is_served() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/server/page");
        let names = std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").file_name());
        let paths = names.map(|name| format!("/page/{}", name.display())).filter(|path| path != "/page/index.html");
        let served = FILES.iter().map(|&(path, _)| path.to_owned());
        assert_eq!(paths.collect::<BTreeSet<_>>(), served.collect::<BTreeSet<_>>());
    }

    #[test]
    fn every_address_of_the_page_is_served() {
        let (_, app) = FILES.iter().find(|(path, _)| *path == "/page/app.js").expect("the script");
        let (_, routes) = app.split_once("const ROUTES = [").expect("the routes");
        let patterns = routes.lines().map_while(|line| match line.trim() {
            "" => Some(""),
            line => line.strip_prefix("[\"").and_then(|line| line.split('"').next()),
        });
        let braced = |part: &str| part.strip_prefix(':').map_or(part.to_owned(), |name| format!("{{{name}}}"));
        let path = |pattern: &str| pattern.split('/').map(braced).collect::<Vec<_>>().join("/");
        let patterns: Vec<_> = patterns.filter(|pattern| !pattern.is_empty()).map(path).collect();
        assert_eq!(patterns, ADDRESSES);
    }
}
