//! Analysis of programs: the inputs that a program reads and the functions that it calls, found without running it.
//!
//! ```
//! use dropforge::bytecode::analysis::Reads;
//! use dropforge::engine::{Dialect, Engine};
//! let source = "{% for port in service.ports %}{{ port.number }}{% endfor %}";
//! let template = Engine::new().compile(Dialect::Tera, "ports", source)?;
//! let reads = Reads::of(template.program());
//! let paths: Vec<_> = reads.paths.keys().map(ToString::to_string).collect();
//! assert_eq!(paths, ["service.ports", "service.ports[].number"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod control;
mod effects;
mod held;
mod lookup;
mod missing;
mod reads;
mod slots;
mod walk;

pub use control::ControlDependence;
pub use lookup::Lack;
pub use missing::missing;
pub use reads::places_of_reads;
pub use reads::{InputPath, Reads, display_path};
pub use walk::{Effect, Miss};
