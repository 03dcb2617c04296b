//! Parameters that are given by their places, with the types of a language that has types.

use std::borrow::Cow;
use std::sync::Arc;

use super::context::Cx;
use super::fault::Outcome;
use crate::value::{Type, Value};

/// What a parameter admits beside known, unmarked values of its type that are not null.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Admits(u8);

impl Admits {
    /// Nothing else.
    pub const NONE: Self = Self(0);
    /// Null.
    pub const NULL: Self = Self(1);
    /// Values that are not known: the body sees them. Else the answer is unknown, and the body does not run.
    pub const UNKNOWN: Self = Self(2);
    /// Values of which not even the type is known. Else the answer's type is not known either.
    pub const DYNAMIC: Self = Self(4);
    /// Errors of the argument's expression: the body gets, in front of each such argument, how many errors had been
    /// noted before it was evaluated.
    pub const ERRORS: Self = Self(16);
    /// A type, written as one: the body gets a capsule that holds it.
    pub const TYPE: Self = Self(32);
    /// Marked values: the body sees the marks. Else they are taken off, and the answer gets them.
    pub const MARKED: Self = Self(8);

    /// Both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every one of `other` is here.
    pub const fn include(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A parameter that is given by its place.
#[derive(Debug, Clone)]
pub struct Place {
    /// Its name, for messages.
    pub name: Cow<'static, str>,
    /// Its type: what is given is converted to it. [`Type::Dynamic`] takes anything.
    pub ty: Type<'static>,
    /// What it admits beside that.
    pub admits: Admits,
}

/// What type an answer has, before the function runs.
#[derive(Debug, Clone, Copy)]
pub enum Answer {
    /// Always this one.
    Is(Type<'static>),
    /// That of what the body answers, which runs with arguments that are not known to say so.
    OfBody,
    /// As these arguments have it. It is asked only where one that is not known keeps the body from running, so the body
    /// checks for itself what it is given. Where it cannot say more: [`Type::Dynamic`].
    Of(for<'v> fn(&Cx<'v>, &[Value<'v>]) -> Outcome<Type<'v>>),
}

/// The parameters of a function that takes them by place, and its answer.
#[derive(Debug, Clone)]
pub struct Positional {
    /// The parameters, each of which must be given.
    pub params: Cow<'static, [Place]>,
    /// What all further arguments are, where there may be some.
    pub rest: Option<Place>,
    /// The type of the answer.
    pub answer: Answer,
    /// Whether the answer is never null, so that this is known of an unknown one.
    pub not_null: bool,
}

/// A body of a function whose arguments are given by place; it gets them converted, in order.
pub type PositionalBody = for<'v> fn(&Cx<'v>, &[Value<'v>]) -> Outcome<Value<'v>>;

/// The same as a closure: a function that a program or its user defines.
pub type ClosureBody = Arc<dyn for<'v> Fn(&Cx<'v>, &[Value<'v>]) -> Outcome<Value<'v>> + Send + Sync>;

/// Declares a table of functions whose arguments are given by place: data only.
///
/// A type is `Any`, `Bool`, `Number`, `String` or `(list T)`, `(set T)`, `(map T)`; behind it in brackets what the
/// parameter admits (`null unknown dynamic marked errors constraint`). The answer is a type, or the body that computes it in braces;
/// `or null` behind it says that it may be null.
///
/// ```text
/// positional! {
///     /// Functions of text.
///     pub static STRINGS:
///     "upper" (str: String) -> String = upper, "Upper case." ["upper(\"a\")" => "\"A\""];
///     "format" (format: String, ... args: Any [null dynamic]) -> String = format, "…" [];
///     "element" (list: Any, index: Number) -> {element_type} or null = element, "…" [];
/// }
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! positional {
    (@type Any) => { $crate::value::Type::Dynamic };
    (@type Bool) => { $crate::value::Type::Bool };
    (@type Number) => { $crate::value::Type::Number };
    (@type String) => { $crate::value::Type::String };
    (@type (list $element:tt)) => { $crate::value::Type::List(&$crate::positional!(@type $element)) };
    (@type (set $element:tt)) => { $crate::value::Type::Set(&$crate::positional!(@type $element)) };
    (@type (map $element:tt)) => { $crate::value::Type::Map(&$crate::positional!(@type $element)) };
    (@admits null) => { $crate::function::Admits::NULL };
    (@admits unknown) => { $crate::function::Admits::UNKNOWN };
    (@admits dynamic) => { $crate::function::Admits::DYNAMIC };
    (@admits errors) => { $crate::function::Admits::ERRORS };
    (@admits constraint) => { $crate::function::Admits::TYPE };
    (@admits marked) => { $crate::function::Admits::MARKED };
    (@place $name:ident $ty:tt [$($admits:ident)*]) => {
        $crate::function::Place {
            name: std::borrow::Cow::Borrowed(stringify!($name)),
            ty: $crate::positional!(@type $ty),
            admits: $crate::function::Admits::NONE$(.and($crate::positional!(@admits $admits)))*,
        }
    };
    (@rest) => { None };
    (@rest $name:ident $ty:tt [$($admits:ident)*]) => { Some($crate::positional!(@place $name $ty [$($admits)*])) };
    (@answer { $of:path }) => { $crate::function::Answer::Of($of) };
    (@answer $ty:tt) => { $crate::function::Answer::Is($crate::positional!(@type $ty)) };
    (@not_null) => { true };
    (@not_null null) => { false };
    (@needs) => { $crate::function::Capabilities::NONE };
    (@needs $needs:ident) => { $crate::function::Capabilities::$needs };
    (
        $(#[$meta:meta])* $visibility:vis static $table:ident:
        $($name:literal
            ($($param:ident: $ty:tt $([$($admits:ident)*])?),* $(,)? $(... $rest:ident: $rest_ty:tt $([$($rest_admits:ident)*])?)?)
            -> $answer:tt $(or $nullable:ident)?
            = $body:path
            $(, needs $needs:ident)?
            , $doc:literal
            [$($example:literal => $result:literal),* $(,)?];)*
    ) => {
        $(#[$meta])*
        $visibility static $table: &[$crate::function::Builtin] = &[$($crate::function::Builtin {
            kind: $crate::bytecode::ImportKind::Function,
            name: std::borrow::Cow::Borrowed($name),
            params: $crate::function::Params::Positional($crate::function::Positional {
                params: std::borrow::Cow::Borrowed(const { &[$($crate::positional!(@place $param $ty [$($($admits)*)?])),*] }),
                rest: $crate::positional!(@rest $($rest $rest_ty [$($($rest_admits)*)?])?),
                answer: $crate::positional!(@answer $answer),
                not_null: $crate::positional!(@not_null $($nullable)?),
            }),
            doc: std::borrow::Cow::Borrowed($doc),
            examples: std::borrow::Cow::Borrowed(&[$(($example, $result)),*]),
            needs: $crate::positional!(@needs $($needs)?),
            pure: true $(& $crate::function::Capabilities::$needs.is_none())?,
            body: $crate::function::Body::Positional($body),
        }),*];
    };
}
