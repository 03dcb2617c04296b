//! The routes. Each declares its own responses; those common to all routes are added to the description.

mod audit;
mod auth;
mod generators;
mod keys;
mod metadata;
mod metrics;
mod objects;
mod probes;
mod provenance;
mod purge;
mod stacks;
mod stamp;
mod templates;
mod versions;

use std::sync::Arc;

use axum::http::{StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::{Router, middleware};
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use super::error::ApiError;
use super::service::Service;
use super::{authentication, observe, openapi, page};

pub(super) use metrics::probe_router;

/// The state of handlers.
pub(super) type Shared = Arc<Service>;

/// Prefix of the routes that need a key.
const ROOT: &str = "/api/v1";

/// The routes that need a key.
fn authenticated() -> OpenApiRouter<Shared> {
    let mut routes = OpenApiRouter::default()
        .merge(audit::routes())
        .merge(auth::routes())
        .merge(generators::routes())
        .merge(provenance::routes())
        .merge(purge::routes())
        .merge(keys::routes())
        .merge(metadata::routes())
        .merge(objects::routes())
        .merge(stacks::routes())
        .merge(stamp::routes())
        .merge(templates::routes())
        .merge(versions::routes());
    openapi::add_common_responses(routes.get_openapi_mut());
    routes
}

/// The route of the metrics, which needs a key.
fn metrics() -> OpenApiRouter<Shared> {
    let mut routes = metrics::routes();
    openapi::add_common_responses(routes.get_openapi_mut());
    routes
}

/// The description of all routes except those of the page.
pub(super) fn description() -> OpenApi {
    OpenApiRouter::with_openapi(openapi::base())
        .merge(probes::routes())
        .merge(metrics())
        .nest(ROOT, authenticated())
        .into_openapi()
}

/// All routes.
pub(super) fn router(service: &Shared) -> Router {
    let authenticate = from_fn_with_state(service.clone(), authentication::authenticate);
    let authenticated = Router::from(authenticated()).route_layer(authenticate.clone());
    let metrics = Router::from(metrics()).route_layer(authenticate);
    Router::from(probes::routes())
        .merge(metrics)
        .merge(page::routes())
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
            &Router::from(probes::routes()).merge(Router::from(metrics())).nest(ROOT, Router::from(authenticated())),
        );
        let described: BTreeSet<_> = description().paths.paths.into_keys().collect();
        assert!(routed.len() > 20, "{routed:?}");
        assert_eq!(routed, described);
    }
}
