//! Charts: templates that are rendered together, for the values of a release.
//!
//! ```
//! use dropforge::chart::{Capabilities, ChartSource, Release, UserValues};
//! use dropforge::Engine;
//! let source = ChartSource::from_files([
//!     ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
//!     ("values.yaml", "port: 80\n"),
//!     ("templates/service.yaml", "kind: Service\nport: {{ .Values.port }}\n"),
//! ])?;
//! let chart = Engine::new().chart(&source)?;
//! let mut values = UserValues::default();
//! values.set("port=8080")?;
//! let render = chart.render(&values, &Release::default(), &Capabilities::default())?;
//! assert_eq!(render.output()?.text(), "---\n# Source: web/templates/service.yaml\nkind: Service\nport: 8080\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A chart compiles to an artifact ([`Engine::bundle_chart`](crate::Engine::bundle_chart)), which gives the same
//! texts ([`Artifact::chart`](crate::Artifact::chart)).

mod bundle;
mod render;
mod template;

pub use bundle::ChartBundling;
pub use render::{ChartRecording, ChartRender, OpenChart};
pub use template::ChartTemplate;
