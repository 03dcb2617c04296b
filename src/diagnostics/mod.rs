//! Diagnostics: a stable code, labeled source excerpts, the names that were available, and the likely fix. A
//! [`Diagnostic`] carries all of it and is rendered as text or JSON.

mod codes;
mod count;
mod diagnostic;
mod list;
mod report;
mod suggest;

pub use codes::Code;
pub use count::{counted, thousands};
pub use diagnostic::{CULPRIT, Diagnostic, Label, Result, Severity};
pub use list::{Diagnostics, without_duplicates};
pub(crate) use report::listed;
pub use suggest::nearest;
