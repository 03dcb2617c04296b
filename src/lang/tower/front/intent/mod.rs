//! Whole intent definitions.
//!
//! [`Intent::parse`] reads an intent, [`Intent::validate`] checks it before it runs, [`Intent::resolve`] renders every
//! field, and [`Intent::resolve_step`] with [`Intent::step_completed`] renders it step by step, in an executor's order.
//! Template errors are sent to an audit sink, without values.

mod audit;
mod errors;
mod fields;
mod inputs;
mod model;
mod params;
mod resolve;
mod validate;

pub use audit::{AuditEvent, AuditSink};
pub use fields::{Field, Role};
pub use inputs::Inputs;
pub use model::{Intent, LONGEST_FIELD, Step, StepOutput};
pub use params::{Parameter, ParameterType};
pub use resolve::Resolved;
pub use validate::{Report, ValidateOptions};
