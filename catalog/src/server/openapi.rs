//! The OpenAPI description: the routes and the responses they have in common.

use utoipa::openapi::path::{Operation, ParameterIn, PathItem};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Components, ContentBuilder, InfoBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, ResponseBuilder};

/// The name of the security scheme.
const KEY: &str = "pak";

/// A description without routes.
pub(super) fn base() -> OpenApi {
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
pub(super) fn add_common_responses(api: &mut OpenApi) {
    for item in api.paths.paths.values_mut() {
        for operation in operations(item) {
            complete(operation);
        }
    }
}

/// The operations of a path.
fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.put, &mut item.post, &mut item.delete].into_iter().flatten()
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
        ("503", "The service is overloaded, or too much of the caller's own work is waiting: `busy`, `renders_busy`."),
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
