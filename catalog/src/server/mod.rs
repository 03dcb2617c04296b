//! The HTTP service: the routes of Brokkr's clients and further ones, described at `/api/v1/openapi.json`.
//!
//! ```no_run
//! use dropforge_catalog::{Catalog, render};
//! use dropforge_catalog::server::{Server, Settings};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let catalog = Catalog::open("catalog.db", &render::Options::default()).await?;
//! let server = Server::bind(Settings::default(), catalog).await?;
//! println!("http://{}", server.address());
//! server.serve(async { drop(tokio::signal::ctrl_c().await) }).await;
//! # Ok(())
//! # }
//! ```

mod authentication;
mod background;
mod body;
mod connections;
mod driver;
mod error;
mod extract;
mod in_process;
mod line_body;
mod list;
mod loads;
mod metrics;
mod negotiation;
mod observe;
mod openapi;
mod origin;
mod page;
mod paging;
mod places;
mod preconditions;
mod progress;
mod rate_limit;
mod readiness;
mod record;
mod response;
mod routes;
mod service;
mod settings;
mod tls;
mod watched;

pub(crate) use extract::MayBePacked;

pub use connections::{MAX_HEAD_BYTES, MAX_HEADERS, Server};
pub use in_process::InProcess;
pub use response::{WARNING_COUNT, WARNINGS};
pub use settings::{Exchange, Log, Settings};
pub use tls::Tls;
