//! Functions: filters, tests and functions of a language, and those added by users.
//!
//! A builtin is one row of a [`builtins!`](crate::builtins) table: kind, name, typed parameters with defaults, one line
//! of documentation, examples that run as tests, and a body. A program refers to functions by name and is linked with a
//! [`Registry`] when it is loaded, so adding a function renumbers nothing. The argument gate runs before the body,
//! which gets one value of the right type for each parameter, in the order of the row. A missing optional argument
//! without a default is [`Value::Undefined`]. `total` declares kinds of arguments on which the body never fails and records
//! no error, so that a call may run earlier than its template says, or not at all. `reads Notes` declares an intrinsic whose
//! result depends on the errors recorded so far.
//!
//! ```text
//! builtins! {
//!     /// Filters of text.
//!     pub static STRINGS:
//!     filter "repeat" (value: Str, times: Int = int 2, sep: Str = absent) = repeat, total (Str, Int, Absent),
//!         "Repeat a text." ["{{ 'ab' | repeat(times=3) }}" => "ababab"];
//!     function "now" () = now, needs CLOCK, "The time." [];
//!     filter "shout" (value: Str) => shout, "In capitals." [];
//! }
//!
//! fn repeat<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
//!     let [value, times] = args else { return Err(cx.arity()) };
//!     …
//!     cx.charge(len)?;          // before the allocation
//!     cx.text(&made)
//! }
//!
//! // After `=>`: appends text instead of returning it. Text that a template writes at once is not copied.
//! fn shout<'v>(cx: &Cx<'v>, args: &[Value<'v>], out: &mut String) -> Result<Option<Value<'v>>> {
//!     cx.charge(len)?;
//!     out.push_str(…);
//!     Ok(None)
//! }
//! ```

mod assigned;
mod body;
mod context;
mod errors;
mod files;
mod gate;
mod linked;
mod mutation;
#[doc(hidden)]
pub mod overloads;
mod patterns;
mod registry;
mod spec;
mod text;

#[doc(hidden)]
pub use assigned::{Assigned, Target};
#[doc(hidden)]
pub use body::{
    Body, ClosureBody, FromArgument, IntoValue, NativeBody, PositionalBody, TemplateBody, TextBody, TypedBody,
};
pub use body::{HostArgs, HostError, IntoHostResult};
#[doc(hidden)]
pub use context::{Budgets, Cx};
#[doc(hidden)]
pub use errors::{Fault, Note, Noted, Notes, Outcome, PathStep, Subject, Wrong, fitting};
pub use files::{Capabilities, FileError, Files, is_file};
#[doc(hidden)]
pub use gate::{Admits, Positional, PositionalParam, ResultType, check_in_order, with_arranged};
pub use gate::{excerpt, excerpt_in};
pub use linked::Direct;
#[doc(hidden)]
pub use linked::{Link, Linked, Made, MakerBody, Making, Request};
#[doc(hidden)]
pub use overloads::{Overload, Ty};
#[doc(hidden)]
pub use patterns::Caches;
pub use patterns::{Pattern, Refusal};
#[doc(hidden)]
pub use registry::{Function, Registry};
#[doc(hidden)]
pub use spec::{Builtin, Default, Example, Kind, Looks, Param, Params, Type};
pub use text::{Written, grown, written};

#[cfg(doc)]
use dropforge_value::Value;
