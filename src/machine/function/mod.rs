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

mod body;
mod capabilities;
mod context;
mod errors;
mod gate;
mod growing;
mod host;
mod linked;
mod mutation;
#[doc(hidden)]
pub mod overloads;
mod pace;
mod patterns;
mod registry;
mod spec;
mod text;
mod typed;

#[doc(hidden)]
pub use body::{Body, ClosureBody, NativeBody, PositionalBody, TextBody};
pub use capabilities::Capabilities;
#[doc(hidden)]
pub use context::{Budgets, Cx};
#[doc(hidden)]
pub use errors::{Fault, Note, Noted, Notes, Outcome, PathStep, Subject, Wrong, fitting};
#[doc(hidden)]
pub use gate::{Admits, Assigned, Positional, PositionalParam, ResultType, Target, check_in_order, with_arranged};
pub use gate::{excerpt, excerpt_in};
pub use growing::{Growing, Held};
pub use host::{ArgKey, Deserialized, Further, HostArgs, HostError, HostFunction, HostResult, Parameter};
#[doc(hidden)]
pub use host::{Host, HostFault, HostParam, HostParams, Misfit};
pub use linked::Direct;
#[doc(hidden)]
pub use linked::{Link, Linked, Made, MakerBody, Making, Request};
#[doc(hidden)]
pub use overloads::{Overload, Ty};
#[doc(hidden)]
pub use pace::{ANY, ASCII, Cut, LETTERS, LINES, PLAIN, WHOLE, WORDS};
#[doc(hidden)]
pub use patterns::Caches;
pub use patterns::{Pattern, Refusal};
#[doc(hidden)]
pub use registry::Feature;
pub use registry::{Function, Registry};
#[doc(hidden)]
pub use spec::{Builtin, Default, Example, Kind, Looks, Param, Params, Type};
pub use text::{Written, grown, written, written_in_pieces};
#[doc(hidden)]
pub use typed::{Arguments, FromArgument, IntoValue, Rest, TypedBody, number, number_of, text_of, value_of, whole};

#[cfg(doc)]
use dropforge_value::Value;

/// Declares a table of functions. See the documentation of the module.
#[macro_export]
#[doc(hidden)]
macro_rules! functions {
    (@kind) => { $crate::bytecode::ImportKind::Function };
    (@kind function) => { $crate::bytecode::ImportKind::Function };
    (@kind filter) => { $crate::bytecode::ImportKind::Filter };
    (@kind test) => { $crate::bytecode::ImportKind::Test };
    (@kind intrinsic) => { $crate::bytecode::ImportKind::Intrinsic };

    (@default) => { $crate::function::Default::Required };
    (@default absent) => { $crate::function::Default::Absent };
    (@default true) => { $crate::function::Default::Bool(true) };
    (@default false) => { $crate::function::Default::Bool(false) };
    (@default int $n:literal) => { $crate::function::Default::Int($n) };
    (@default str $text:literal) => { $crate::function::Default::Str($crate::value::Text::new($text)) };

    (@given Absent) => { $crate::function::Kind::Absent };
    (@given Present) => { $crate::function::Kind::Present };
    (@given $ty:ident) => { $crate::function::Kind::Is($crate::function::Type::$ty) };

    (@type Any) => { $crate::value::Type::Dynamic };
    (@type (list $element:tt)) => { $crate::value::Type::List(&$crate::functions!(@type $element)) };
    (@type (set $element:tt)) => { $crate::value::Type::Set(&$crate::functions!(@type $element)) };
    (@type (map $element:tt)) => { $crate::value::Type::Map(&$crate::functions!(@type $element)) };
    (@type $ty:ident) => { $crate::value::Type::$ty };
    (@result { $of:expr }) => {
        $crate::function::ResultType::Of(|cx, given| {
            $crate::function::TypedBody::call($of, $crate::function::Arguments::new(cx, given))?
        })
    };
    (@result $ty:tt) => { $crate::function::ResultType::Is($crate::functions!(@type $ty)) };
    (@not_null) => { true };
    (@not_null null) => { false };
    (@admits constraint) => { $crate::function::Admits::TYPE };
    (@admits dynamic) => { $crate::function::Admits::DYNAMIC };
    (@admits errors) => { $crate::function::Admits::ERRORS };
    (@admits marked) => { $crate::function::Admits::MARKED };
    (@admits null) => { $crate::function::Admits::NULL };
    (@admits unknown) => { $crate::function::Admits::UNKNOWN };
    (@converted $name:ident $ty:tt $([$($admits:ident)*])?) => {
        $crate::function::PositionalParam {
            name: std::borrow::Cow::Borrowed(stringify!($name)),
            ty: $crate::functions!(@type $ty),
            admits: $crate::function::Admits::NONE$($(.and($crate::functions!(@admits $admits)))*)?,
        }
    };

    (@ty ($($ty:tt)+)) => { $crate::functions!(@ty $($ty)+) };
    (@ty list $element:tt) => { $crate::function::Ty::List(&$crate::functions!(@ty $element)) };
    (@ty map $key:tt $value:tt) => {
        $crate::function::Ty::Map(&$crate::functions!(@ty $key), &$crate::functions!(@ty $value))
    };
    (@ty optional $of:tt) => { $crate::function::Ty::Optional(&$crate::functions!(@ty $of)) };
    (@ty type $of:tt) => { $crate::function::Ty::Type(&$crate::functions!(@ty $of)) };
    (@ty Type) => { $crate::function::Ty::Type(&$crate::function::Ty::Dyn) };
    (@ty $name:literal) => { $crate::function::Ty::Opaque($name) };
    (@ty A) => { $crate::function::Ty::Param("A") };
    (@ty B) => { $crate::function::Ty::Param("B") };
    (@ty K) => { $crate::function::Ty::Param("K") };
    (@ty T) => { $crate::function::Ty::Param("T") };
    (@ty V) => { $crate::function::Ty::Param("V") };
    (@ty $ty:ident) => { $crate::function::Ty::$ty };
    (@member) => { false };
    (@member member) => { true };

    // Parameters with names, which call sites know.
    (@params ($($param:ident: $ty:ident $(= $default:ident $($given:literal)?)?),* $(,)?)) => {
        $crate::function::Params::Named(&[$($crate::function::Param {
            name: stringify!($param),
            ty: $crate::function::Type::$ty,
            default: $crate::functions!(@default $($default $($given)?)?),
        }),*])
    };
    // Types that arguments are assigned to.
    (@params [$($ty:ident $(($capsule:literal))?),* $(,)? $(... $rest:ident)?]) => {
        $crate::function::Params::Assigned($crate::function::Assigned {
            params: const { &[$($crate::function::Target::$ty $(($capsule))?),*] },
            rest: $crate::functions!(@further $($rest)?),
        })
    };
    (@further) => { None };
    (@further $ty:ident) => { Some($crate::function::Target::$ty) };
    // Parameters that arguments are converted to.
    (@params (
        $($param:ident: $ty:tt $([$($admits:ident)*])?),* $(,)?
        $(... $rest:ident: $rest_ty:tt $([$($rest_admits:ident)*])?)?
    ) -> $result:tt $(or $null:ident)?) => {
        $crate::function::Params::Positional($crate::function::Positional {
            params: std::borrow::Cow::Borrowed(
                const { &[$($crate::functions!(@converted $param $ty $([$($admits)*])?)),*] }
            ),
            rest: $crate::functions!(@rest $($rest $rest_ty $([$($rest_admits)*])?)?),
            result: $crate::functions!(@result $result),
            not_null: $crate::functions!(@not_null $($null)?),
        })
    };
    (@rest) => { None };
    (@rest $($param:tt)+) => { Some($crate::functions!(@converted $($param)+)) };
    // Several signatures, each with a body.
    (@params $(| $($id:literal)+ $($member:ident)? ($($ty:tt),* $(,)?) -> $answer:tt = $body:expr;)+) => {
        $crate::function::Params::Overloaded(std::borrow::Cow::Borrowed(const { &[
            $($crate::function::Overload {
                id: concat!($($id),+),
                member: $crate::functions!(@member $($member)?),
                params: const { &[$($crate::functions!(@ty $ty)),*] },
                result: const { $crate::functions!(@ty $answer) },
                body: |cx, given| $crate::function::value_of($body, cx, given),
            }),*
        ] }))
    };

    (@body) => { $crate::function::Body::Overloaded };
    (@body = $body:expr) => {
        $crate::function::Body::Native(|cx, given| $crate::function::value_of($body, cx, given))
    };
    (@body => $body:expr) => {
        $crate::function::Body::Text(|cx, given, out| $crate::function::text_of($body, cx, given, out))
    };
    (@body -> $result:tt = $body:expr) => {
        $crate::function::Body::Positional(|cx, given| {
            $crate::function::TypedBody::call($body, $crate::function::Arguments::new(cx, given))?
        })
    };

    (
        $(#[$meta:meta])* $visibility:vis static $table:ident:
        $($($kind:ident)? $name:literal $(($($named:tt)*))? $([$($assigned:tt)*])?
            $(-> $result:tt $(or $null:ident)?)?
            $(= $body:expr)? $(=> $text:expr)?
            $(, needs $needs:ident)?
            $(, mutates $mutates:ident)?
            $(, makes $makes:ident)?
            $(, reads $place:ident)?
            $(, looks $looks:ident)?
            $(, total ($($first:ident),*) $(or ($($other:ident),*))*)?
            , $doc:literal
            [$($example:literal => $shown:literal),* $(,)?]
            $(| $($id:literal)+ $($member:ident)? ($($ty:tt),* $(,)?) -> $answer:tt = $overload:expr;)*
            $(;)?
        )*
    ) => {
        $(#[$meta])*
        $visibility static $table: &[$crate::function::Builtin] = &[$($crate::function::Builtin::declared(
            $crate::functions!(@kind $($kind)?),
            $name,
            $crate::functions!(@params $(($($named)*))? $([$($assigned)*])? $(-> $result $(or $null)?)?
                $(| $($id)+ $($member)? ($($ty),*) -> $answer = $overload;)*),
            $crate::functions!(@body $(-> $result)? $(= $body)? $(=> $text)?),
            $crate::function::Capabilities::NONE$(.and($crate::function::Capabilities::$needs))?,
            $doc,
            &[$(($example, $shown)),*],
        )$(.mutating($crate::function::Type::$mutates))?$(.making($crate::function::Type::$makes))?
            $(.reading($crate::bytecode::Place::$place))?$(.looking($crate::function::Looks::$looks))?
            $(.never_failing(&[&[$($crate::functions!(@given $first)),*]
                $(, &[$($crate::functions!(@given $other)),*])*]))?
        ),*];
    };
}
