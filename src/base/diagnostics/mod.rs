//! Diagnostics: a stable code, labeled source excerpts, the names that were available, and the likely fix. A
//! [`Diagnostic`] carries all of it and is rendered as text or JSON.

mod codes;
mod count;
mod diagnostic;
mod encoding;
mod identity;
mod list;
mod reasons;
mod report;
mod short_names;
mod suggest;

pub use codes::Code;
#[doc(hidden)]
pub use count::with_article;
pub use count::{counted, thousands};
#[doc(hidden)]
pub use diagnostic::{CULPRIT, LOOKED_UP, PROBLEM};
pub use diagnostic::{Diagnostic, Fix, Label, Replacement, Result, Severity};
pub use encoding::not_utf8;
pub use identity::{Identity, firsts};
pub use list::Diagnostics;
#[doc(hidden)]
pub use list::{at_most, joined, without_duplicates};
#[doc(hidden)]
pub use reasons::with_reason;
#[doc(hidden)]
pub use report::{listed, listed_of};
#[doc(hidden)]
pub use suggest::nearest;
