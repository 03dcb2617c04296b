//! The table of functions: the macro that declares rows of all languages.

/// Declares a table of functions. See the documentation of [`crate::function`].
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
