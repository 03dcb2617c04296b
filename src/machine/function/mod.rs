//! Functions: filters, tests and functions of a language, and those added by users.
//!
//! A builtin is one row of a [`functions!`](crate::functions) table: kind (`function` unless it says something else),
//! name, parameters, body, one line of documentation, and examples that run as tests. A program refers to functions by
//! name and is linked with a [`Registry`] when it is loaded, so adding a function renumbers nothing.
//!
//! ```text
//! functions! {
//!     /// Filters of text.
//!     pub static STRINGS:
//!     filter "repeat" (value: Str, times: Size = int 2, sep: Str = absent) = repeat, total (Str, Size, Absent),
//!         "Repeat a text." ["{{ 'ab' | repeat(times=3) }}" => "ababab"];
//!     filter "shout" (value: Str) => shout, "In capitals." [];
//!     "now" () = now, needs CLOCK, "The time." [];
//! }
//!
//! fn repeat<'v>(cx: &Cx<'v>, text: &'v str, times: usize, sep: Option<&'v str>) -> Result<String> {
//!     cx.charge(len)?;          // before the allocation
//!     …
//! }
//!
//! // After `=>`: appends text instead of returning it. Text that a template writes at once is not copied.
//! fn shout<'v>(cx: &Cx<'v>, text: &'v str, out: &mut String) -> Written<'v> {
//!     cx.charge(len)?;
//!     out.push_str(…);
//!     Ok(None)
//! }
//! ```
//!
//! The language's argument gate runs before the body, which takes the [`Cx`], if it needs it, and a Rust type for each
//! parameter ([`FromArgument`]). It returns a Rust type or a [`Value`] ([`IntoValue`]). Rows that share a body with
//! another constant call a function that returns the body.
//!
//! A row has one of four forms of parameters:
//!
//! * `(text: Str, times: Int = int 2)` have names, types and defaults ([`Type`], [`Default`]). A missing optional
//!   argument without a default is [`Value::Undefined`].
//! * `[Int, Str, ... Any]` are types that arguments are assigned to, without conversion ([`Target`]).
//! * `(list: (list Any), index: Number [null], ... more: Any) -> String or null` are types that arguments are converted
//!   to ([`Positional`]), with the values that a parameter also admits in brackets. The result is a type, or in braces
//!   the function that computes one; `or null` says that it may be null.
//! * Several signatures follow the examples, each with a body ([`overloads`]):
//!
//! ```text
//!     "size", "Returns the number of elements or characters." ["size('é')" => "1", "[1, 2].size()" => "2"]
//!         | "size_list" ((list A)) -> Int = size;
//!         | "list_size" member ((list A)) -> Int = size;
//!         | "size_map" ((map A B)) -> Int = size;
//! ```
//!
//! After the body, in this order: `needs` a capability. `mutates Map` changes a map among its arguments, `makes Map`
//! returns a map of its own. `reads Notes` depends on the errors recorded so far. `looks Keys` or `looks Kinds` looks at
//! no more of lists and maps ([`Looks`]). `total` declares kinds of arguments on which the body never fails and records
//! no error, so that a call may run earlier than its template says, or not at all.

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
mod table;
mod text;
mod typed;

#[doc(hidden)]
pub use assigned::{Assigned, Target};
#[doc(hidden)]
pub use body::{Body, ClosureBody, NativeBody, PositionalBody, TextBody};
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
#[doc(hidden)]
pub use typed::{Arguments, FromArgument, IntoValue, Rest, TypedBody, number, number_of, text_of, value_of, whole};

#[cfg(doc)]
use dropforge_value::Value;
