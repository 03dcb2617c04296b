//! The macro that declares a table of functions.

/// Declares a table of functions whose arguments are given by position. Rows are data, not control flow.
///
/// A type is `Any`, `Bool`, `Number`, `String`, `(list T)`, `(set T)` or `(map T)`. In brackets after it is what the
/// parameter also admits: `null unknown dynamic marked errors constraint`. The result is a type, or in braces the
/// function that computes one; `or null` says that the result may be null.
///
/// A body takes the context, one value for each parameter (see [`FromArguments`](super::arguments::FromArguments)) and
/// the slice of all further arguments where the row has `...`. Constants in brackets behind the body come last, so that
/// several rows can share it. The function of a result type is called in the same way.
///
/// ```text
/// functions! {
///     /// String functions.
///     pub static STRINGS:
///     "upper" (str: String) -> String = changed [upper], "Converts to upper case." ["upper(\"a\")" => "\"A\""];
///     "format" (format: String, ... args: Any [null dynamic]) -> String = format, "…" [];
///     "element" (list: Any, index: Number) -> {element_type} or null = element, "…" [];
/// }
/// ```
macro_rules! functions {
    (@type Any) => { dropforge_value::Type::Dynamic };
    (@type Bool) => { dropforge_value::Type::Bool };
    (@type Number) => { dropforge_value::Type::Number };
    (@type String) => { dropforge_value::Type::String };
    (@type (list $element:tt)) => { dropforge_value::Type::List(&functions!(@type $element)) };
    (@type (set $element:tt)) => { dropforge_value::Type::Set(&functions!(@type $element)) };
    (@type (map $element:tt)) => { dropforge_value::Type::Map(&functions!(@type $element)) };
    (@admits null) => { dropforge_machine::function::Admits::NULL };
    (@admits unknown) => { dropforge_machine::function::Admits::UNKNOWN };
    (@admits dynamic) => { dropforge_machine::function::Admits::DYNAMIC };
    (@admits errors) => { dropforge_machine::function::Admits::ERRORS };
    (@admits constraint) => { dropforge_machine::function::Admits::TYPE };
    (@admits marked) => { dropforge_machine::function::Admits::MARKED };
    (@param $name:ident $ty:tt [$($admits:ident)*]) => {
        dropforge_machine::function::PositionalParam {
            name: std::borrow::Cow::Borrowed(stringify!($name)),
            ty: functions!(@type $ty),
            admits: dropforge_machine::function::Admits::NONE$(.and(functions!(@admits $admits)))*,
        }
    };
    (@rest) => { None };
    (@rest $name:ident $ty:tt [$($admits:ident)*]) => { Some(functions!(@param $name $ty [$($admits)*])) };
    (@take $name:ident $arguments:ident) => {
        $crate::builtins::arguments::FromArguments::take(&$arguments)?
    };
    (@all $rest:ident $arguments:ident) => { $arguments.rest() };
    (@call [$($param:ident)*] [$($rest:ident)?] $body:path [$($constant:expr),*]) => {
        |cx, values| {
            #[allow(unused_variables)] // by a function without parameters
            let arguments = $crate::builtins::arguments::Arguments::new(cx, values);
            $body(
                cx,
                $(functions!(@take $param arguments),)*
                $(functions!(@all $rest arguments),)?
                $($constant),*
            )
        }
    };
    (@result [$($param:ident)*] [$($rest:ident)?] { $of:path $([$($constant:expr),*])? }) => {
        dropforge_machine::function::ResultType::Of(functions!(@call [$($param)*] [$($rest)?] $of [$($($constant),*)?]))
    };
    (@result [$($param:ident)*] [$($rest:ident)?] $ty:tt) => { dropforge_machine::function::ResultType::Is(functions!(@type $ty)) };
    (@not_null) => { true };
    (@not_null null) => { false };
    (
        $(#[$meta:meta])* $visibility:vis static $table:ident:
        $($name:literal
            ($($param:ident: $ty:tt $([$($admits:ident)*])?),* $(,)?
                $(... $rest:ident: $rest_ty:tt $([$($rest_admits:ident)*])?)?)
            -> $result:tt $(or $nullable:ident)?
            = $body:path $([$($constant:expr),*])?
            $(, needs $needs:ident)?
            , $doc:literal
            [$($example:literal => $shown:literal),* $(,)?];)*
    ) => {
        $(#[$meta])*
        $visibility static $table: &[dropforge_machine::function::Builtin] = &[$(dropforge_machine::function::Builtin::declared(
            dropforge_machine::bytecode::ImportKind::Function,
            $name,
            dropforge_machine::function::Params::Positional(dropforge_machine::function::Positional {
                params: std::borrow::Cow::Borrowed(const { &[$(functions!(@param $param $ty [$($($admits)*)?])),*] }),
                rest: functions!(@rest $($rest $rest_ty [$($($rest_admits)*)?])?),
                result: functions!(@result [$($param)*] [$($rest)?] $result),
                not_null: functions!(@not_null $($nullable)?),
            }),
            dropforge_machine::function::Body::Positional(
                functions!(@call [$($param)*] [$($rest)?] $body [$($($constant),*)?])
            ),
            dropforge_machine::function::Capabilities::NONE$(.and(dropforge_machine::function::Capabilities::$needs))?,
            $doc,
            &[$(($example, $shown)),*],
        )),*];
    };
}

pub(crate) use functions;
