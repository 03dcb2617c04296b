//! Functions: what a language has beyond its syntax (filters, tests, functions), and what a user adds.
//!
//! A builtin is one row of a [`builtins!`](crate::builtins) table: kind, name, typed parameters with defaults,
//! a line of documentation, examples that run as tests, and a body. A program names its functions and is
//! linked against a [`Registry`] when it is loaded, so adding one renumbers nothing. The argument gate runs
//! before a body: the body gets one value for each parameter, in the order of the row, checked against the
//! parameter's type; an optional one without a default that is not given is [`Value::Undefined`].
//!
//! ```text
//! builtins! {
//!     /// Filters of text.
//!     pub static STRINGS:
//!     filter "repeat" (value: Str, times: Int = int 2, sep: Str = absent) = repeat,
//!         "Repeat a text." ["{{ 'ab' | repeat(times=3) }}" => "ababab"];
//!     function "now" () = now, needs CLOCK, "The time." [];
//! }
//!
//! fn repeat<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
//!     let [value, times] = args else { return Err(cx.arity()) };
//!     …
//!     cx.charge(len)?;          // the size is known: refuse before allocating
//!     cx.text(&made)
//! }
//! ```

mod context;
mod fault;
mod files;
mod gate;
mod host;
mod notes;
pub mod overloads;
mod positional;
mod registry;
mod spec;

pub use context::{Budgets, Caches, Capabilities, Cx};
pub use fault::{Fault, Outcome, PathStep, Wrong};
pub use files::{FileFault, Files};
pub(crate) use gate::excerpt;
pub use gate::{arrange, in_order};
pub use host::{HostArgs, IntoAnswer};
pub use notes::{Note, Noted, Notes, Subject};
pub use overloads::{Overload, Ty};
pub use positional::{Admits, Answer, ClosureBody, Place, Positional, PositionalBody};
pub use registry::{Linked, Registry};
pub use spec::{Body, Builtin, Default, Example, NativeBody, Param, Params, TemplateBody, Type};

#[cfg(doc)]
use crate::value::Value;
