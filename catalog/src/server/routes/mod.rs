//! The routes. Each declares its own responses; those common to all routes are added to the OpenAPI description.
//! The files of the web page are embedded, and it loads nothing from other hosts.

mod generators;
mod metadata;
mod objects;
mod operations;
mod stamp;
mod templates;

use std::sync::Arc;

use axum::Router;
use axum::http::{StatusCode, Uri, header};
use axum::middleware::{self, from_fn_with_state};
use axum::routing::get;
use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::schema::{Object, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Components, ContentBuilder, InfoBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Required, ResponseBuilder,
};
use utoipa_axum::router::OpenApiRouter;

use super::response::{ApiError, ApiResponse, Preconditions};
use super::service::Service;
use super::{extract, observe};
use crate::checksum;

pub(super) use operations::probe_router;

/// The state of handlers.
pub(super) type Shared = Arc<Service>;

/// Prefix of the routes that need a key.
const ROOT: &str = "/api/v1";

/// The routes that need a key.
fn authenticated() -> OpenApiRouter<Shared> {
    let mut routes = OpenApiRouter::default()
        .merge(generators::routes())
        .merge(metadata::routes())
        .merge(objects::routes())
        .merge(operations::routes())
        .merge(templates::stack_routes())
        .merge(stamp::routes())
        .merge(templates::routes());
    add_common_responses(routes.get_openapi_mut());
    routes
}

/// The route of the metrics, which needs a key.
fn metrics() -> OpenApiRouter<Shared> {
    let mut routes = operations::metrics_routes();
    add_common_responses(routes.get_openapi_mut());
    routes
}

/// The description of all routes except those of the page.
pub(super) fn description() -> OpenApi {
    OpenApiRouter::with_openapi(base_description())
        .merge(operations::open_routes())
        .merge(metrics())
        .nest(ROOT, authenticated())
        .into_openapi()
}

/// All routes.
pub(super) fn router(service: &Shared) -> Router {
    let authenticate = from_fn_with_state(service.clone(), extract::authenticate);
    let authenticated = Router::from(authenticated()).route_layer(authenticate.clone());
    let metrics = Router::from(metrics()).route_layer(authenticate);
    Router::from(operations::open_routes())
        .merge(metrics)
        .merge(routes())
        .nest(ROOT, authenticated)
        .fallback(unknown)
        .method_not_allowed_fallback(not_allowed)
        .layer(middleware::from_fn_with_state(service.clone(), observe::observe))
        .with_state(service.clone())
}

async fn unknown(uri: Uri) -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "not_found", format!("no route {}", uri.path()))
}

async fn not_allowed(uri: Uri) -> ApiError {
    let message = format!("method not allowed for {}", uri.path());
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
}

/// The name of the security scheme.
const KEY: &str = "pak";

/// A description without routes.
fn base_description() -> OpenApi {
    let info = InfoBuilder::new().title("dropforge catalog").version(env!("CARGO_PKG_VERSION")).description(Some(
        "Templates with schemas, versions, matching rules, owners, and a provenance record of every render.",
    ));
    let mut components = Components::new();
    let description = "A key, with or without `Bearer`.";
    let scheme = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description("Authorization", description)));
    components.add_security_scheme(KEY, scheme);
    OpenApiBuilder::new().info(info.build()).components(Some(components)).build()
}

/// Adds the responses that every authenticated route may send.
fn add_common_responses(api: &mut OpenApi) {
    for item in api.paths.paths.values_mut() {
        add_common_headers(item);
        for operation in operations(item) {
            complete(operation);
        }
    }
}

/// The operations of a path.
fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.put, &mut item.post, &mut item.delete].into_iter().flatten()
}

/// Adds the header that makes a request conditional or safe to repeat, and the responses that come with it.
fn add_header(operation: &mut Operation, name: &str, description: &str, response: (&str, &str)) {
    let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Header).required(Required::False);
    let parameter = parameter.description(Some(description)).schema(Some(Object::with_type(Type::String))).build();
    operation.parameters.get_or_insert_default().push(RefOr::T(parameter));
    let (status, what) = response;
    operation.responses.responses.entry(status.to_owned()).or_insert_with(|| error_response(what));
}

fn add_common_headers(item: &mut PathItem) {
    for operation in [&mut item.put, &mut item.delete].into_iter().flatten() {
        let response = ("412", "The resource has changed: `precondition_failed`.");
        add_header(operation, "If-Match", "Requires this `ETag`.", response);
    }
    let repeatable = |operation: &&mut Operation| operation.responses.responses.contains_key("201");
    if let Some(operation) = item.post.as_mut().filter(repeatable) {
        let description = "Makes it safe to repeat the request: within 24 hours it is carried out once.";
        let response = ("422", "Another request had this idempotency key: `idempotency_key_reused`.");
        add_header(operation, "Idempotency-Key", description, response);
    }
}

fn complete(operation: &mut Operation) {
    operation.security = Some(vec![SecurityRequirement::new::<_, [&str; 0], &str>(KEY, [])]);
    let unknown =
        ResponseBuilder::new().description("The key is missing or unknown. The response has no body.").build();
    operation.responses.responses.entry("401".to_owned()).or_insert(RefOr::T(unknown));
    for (status, what) in common_responses(operation) {
        operation.responses.responses.entry(status.to_owned()).or_insert_with(|| error_response(what));
    }
}

/// Responses in addition to those declared at the operation.
fn common_responses(operation: &Operation) -> Vec<(&'static str, &'static str)> {
    let mut common_responses = vec![
        ("429", "Too many requests for the key: `too_many_requests`."),
        ("500", "The service failed: `internal_error`."),
        (
            "503",
            "The service is overloaded, too much of the caller's own work is waiting, or the store cannot be used: `busy`, \
             `renders_busy`, `store_unavailable`.",
        ),
    ];
    if has_parameters(operation) {
        common_responses.push(("400", "Invalid path or query: `invalid_path`, `invalid_query`."));
    }
    if operation.request_body.is_some() {
        common_responses.extend([
            ("400", "Unreadable body: `invalid_json`, `unreadable_body`."),
            ("408", "Timeout while reading the body: `request_timeout`."),
            ("413", "The body is too large: `payload_too_large`."),
            ("415", "Unexpected content type: `unsupported_media_type`."),
            ("422", "JSON of the wrong shape: `invalid_body`."),
        ]);
    }
    common_responses
}

/// Returns `true` if the operation has path or query parameters.
fn has_parameters(operation: &Operation) -> bool {
    let mut parameters = operation.parameters.iter().flatten();
    parameters.any(|parameter| match parameter {
        RefOr::T(parameter) => matches!(parameter.parameter_in, ParameterIn::Path | ParameterIn::Query),
        RefOr::Ref(_) => true,
    })
}

fn error_response(description: &str) -> RefOr<utoipa::openapi::Response> {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("ErrorResponse"))).build();
    RefOr::T(ResponseBuilder::new().description(description).content("application/json", content).build())
}

/// The document, which shows the view of its address.
const DOCUMENT: &str = include_str!("../page/index.html");

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
        (concat!("/page/", $name), include_str!(concat!("../page/", $name)))
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

    /// The paths of a router, read from its debug output because axum does not list them.
    fn paths(router: &Router<Shared>) -> BTreeSet<String> {
        let text = format!("{router:?}");
        let routed = |part: &&str| part.len() > 1 && part.starts_with('/') && !part.contains("__private__axum");
        text.split('"').filter(routed).map(str::to_owned).collect()
    }

    #[test]
    fn every_route_but_the_page_is_described() {
        let routed = paths(
            &Router::from(operations::open_routes())
                .merge(Router::from(metrics()))
                .nest(ROOT, Router::from(authenticated())),
        );
        let described: BTreeSet<_> = description().paths.paths.into_keys().collect();
        assert!(routed.len() > 20, "{routed:?}");
        assert_eq!(routed, described);
    }
}

#[cfg(test)]
mod page_tests {
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
