//! The functions of the language.
//!
//! Each file has one topic and its tables. A function that the reference's standard library and OpenTofu share is in a
//! table that both use; a function that only one of them has, or that they define differently, is in a separate table.
//! The registries combine the tables. `intrinsics` are operations that only lowering calls: conditionals, loops, splats
//! and object constructors. The macro `functions` declares a table; `Arguments` are taken as the types of its bodies.

mod assumptions;
mod charsets;
mod conversions;
mod encodings;
mod files;
mod format;
mod intrinsics;
mod loops;
mod maps;
mod numbers;
mod searches;
mod sequences;
mod strings;
#[cfg(feature = "compile")]
mod templates;
mod yaml;

use std::cell::Cell;

use super::values::types::name;
use super::values::{is_set, is_wholly_known, number_of, shallow_type, type_of};
use dropforge_base::stdlib::strings::nfc;
use dropforge_machine::function::{Builtin, Cx, Fault, Outcome, Registry};
use dropforge_value::{BigNum, Capsule, CapsuleContent, Extended, Type, Value};
use intrinsics::INTRINSICS;

pub use assumptions::{EPHEMERAL, SENSITIVE};

/// Functions that the reference's standard library and OpenTofu share.
static SHARED: &[&[Builtin]] = &[
    conversions::ATTEMPTS,
    conversions::DOCUMENTS,
    format::FORMATS,
    maps::MAPS,
    numbers::NUMBERS,
    numbers::SHARED_OPERATORS,
    strings::PATTERNS,
    sequences::RANGES,
    searches::SEARCHES,
    sequences::SEQUENCES,
    searches::SETS,
    strings::STRINGS,
    numbers::TIMES,
];

/// Functions of the reference's standard library only.
static STANDARD: &[&[Builtin]] = &[
    conversions::STANDARD_CONVERSIONS,
    maps::STANDARD_MAPS,
    numbers::STANDARD_NUMBERS,
    numbers::OPERATORS,
    strings::STANDARD_PATTERNS,
    searches::STANDARD_SEARCHES,
    sequences::STANDARD_SEQUENCES,
    searches::STANDARD_SETS,
    strings::STANDARD_STRINGS,
    numbers::STANDARD_TIMES,
];

/// Functions of OpenTofu only.
static OPENTOFU: &[&[Builtin]] = &[
    assumptions::ASSUMPTIONS,
    encodings::CIPHERS,
    conversions::OPENTOFU_CONVERSIONS,
    encodings::ENCODINGS,
    files::FILES,
    maps::OPENTOFU_MAPS,
    numbers::NETWORKS,
    strings::OPENTOFU_PATTERNS,
    sequences::OPENTOFU_REDUCTIONS,
    searches::OPENTOFU_SEARCHES,
    assumptions::SECRETS,
    sequences::OPENTOFU_SEQUENCES,
    strings::OPENTOFU_STRINGS,
    numbers::OPENTOFU_TIMES,
    yaml::YAML,
];

/// Functions of OpenTofu that compile templates.
static COMPILED: &[&[Builtin]] = &[
    #[cfg(feature = "compile")]
    templates::TEMPLATES,
];

/// Returns the functions of the reference's standard library, with `try`, `can` and `convert`.
pub fn stdlib() -> Registry {
    of(&[SHARED, STANDARD])
}

/// Returns the functions of OpenTofu.
pub fn opentofu() -> Registry {
    of(&[SHARED, OPENTOFU, COMPILED])
}

/// Returns all functions: those of OpenTofu, and those of the standard library that have other names.
pub fn registry() -> Registry {
    of(&[SHARED, STANDARD, OPENTOFU, COMPILED])
}

/// Returns all functions except those that render templates.
#[cfg(feature = "compile")]
fn without_templates() -> Registry {
    of(&[SHARED, STANDARD, OPENTOFU])
}

/// Returns the language's own operations, and no function that a source can call.
pub fn bare() -> Registry {
    of(&[])
}

/// Adds the intrinsics to a registry that lacks them.
#[cfg(feature = "compile")]
pub fn complete(registry: &Registry) -> Registry {
    let mut all = registry.clone();
    // A registry has all of them or none.
    if INTRINSICS.first().is_some_and(|one| registry.get(one.kind, &one.name).is_none()) {
        INTRINSICS.iter().for_each(|builtin| all.insert(builtin.clone()));
    }
    all
}

fn of(tables: &[&[&'static [Builtin]]]) -> Registry {
    let all = [&[INTRINSICS][..], &tables.concat()].concat();
    Registry::of(&all)
}

/// The arguments of a call, taken in order.
pub struct Arguments<'a, 'v> {
    cx: &'a Cx<'v>,
    values: &'a [Value<'v>],
    taken: Cell<usize>,
}

impl<'a, 'v> Arguments<'a, 'v> {
    pub fn new(cx: &'a Cx<'v>, values: &'a [Value<'v>]) -> Self {
        Self { cx, values, taken: Cell::new(0) }
    }

    /// Takes the next argument: its index and its value.
    fn next(&self) -> Outcome<(usize, Value<'v>)> {
        let at = self.taken.replace(self.taken.get() + 1);
        let value = self.values.get(at).ok_or_else(|| self.cx.arity())?;
        Ok((at, *value))
    }

    /// Returns the arguments that have not been taken.
    pub fn rest(&self) -> &'a [Value<'v>] {
        self.values.get(self.taken.get()..).unwrap_or(&[])
    }
}

/// A type that a body takes as an argument.
pub trait FromArguments<'v>: Sized {
    /// Takes the next argument.
    fn take(arguments: &Arguments<'_, 'v>) -> Outcome<Self>;
}

impl<'v> FromArguments<'v> for Value<'v> {
    fn take(arguments: &Arguments<'_, 'v>) -> Outcome<Self> {
        Ok(arguments.next()?.1)
    }
}

impl<'v> FromArguments<'v> for &'v str {
    fn take(arguments: &Arguments<'_, 'v>) -> Outcome<Self> {
        let (at, value) = arguments.next()?;
        value.as_str().ok_or_else(|| Fault::argument(at, "a string is required"))
    }
}

/// The bytes of a string.
impl<'v> FromArguments<'v> for &'v [u8] {
    fn take(arguments: &Arguments<'_, 'v>) -> Outcome<Self> {
        <&str>::take(arguments).map(str::as_bytes)
    }
}

impl FromArguments<'_> for BigNum {
    fn take(arguments: &Arguments<'_, '_>) -> Outcome<Self> {
        let (at, value) = arguments.next()?;
        number(value, at)
    }
}

impl FromArguments<'_> for i64 {
    fn take(arguments: &Arguments<'_, '_>) -> Outcome<Self> {
        let (at, value) = arguments.next()?;
        whole(value, at)
    }
}

impl<'v> FromArguments<'v> for Type<'v> {
    fn take(arguments: &Arguments<'_, 'v>) -> Outcome<Self> {
        let (at, value) = arguments.next()?;
        match value.extended() {
            Some(Extended::Capsule(Capsule { content: CapsuleContent::Type(ty), .. })) => Ok(*ty),
            _ => Err(Fault::argument(at, "a type is required")),
        }
    }
}

/// Returns argument `at` as a number.
fn number(value: Value<'_>, at: usize) -> Outcome<BigNum> {
    number_of(value).ok_or_else(|| Fault::argument(at, "a number is required"))
}

/// Returns argument `at` as a 64-bit integer.
fn whole(value: Value<'_>, at: usize) -> Outcome<i64> {
    let whole = number(value, at)?.to_i64();
    whole.ok_or_else(|| Fault::wrong("a whole number between -9223372036854775808 and 9223372036854775807 is required"))
}

/// Makes a string value. Strings of the language are in normal form C.
fn string<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    Ok(cx.text(&nfc(text))?)
}

/// Makes a list of strings.
fn string_list<'v, 't>(cx: &Cx<'v>, texts: impl Iterator<Item = &'t str>) -> Outcome<Value<'v>> {
    let texts: Vec<_> = texts.map(|text| string(cx, text)).collect::<Outcome<_>>()?;
    Ok(cx.arena().typed(Type::List(&Type::String), cx.list(&texts)?))
}

/// Returns `true` if `value`, which may be unknown, is a list or tuple.
fn is_sequence<'v>(cx: &Cx<'v>, value: Value<'v>) -> bool {
    matches!(shallow_type(cx, value), Type::List(_) | Type::Tuple(_))
}

/// Returns `true` if `value`, which may be unknown, is a list, tuple or set.
fn has_elements<'v>(cx: &Cx<'v>, value: Value<'v>) -> bool {
    is_sequence(cx, value) || is_set(value)
}

/// Returns the name of the type of `value`, for messages.
fn type_name<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<String> {
    Ok(name(&type_of(cx, value)?))
}

/// Returns `value` as a 64-bit integer.
fn to_i64(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Int(n) => Some(n),
        value => number_of(value)?.to_i64(),
    }
}

/// The message for an index or a size that is not a 64-bit integer.
const WHOLE: &str = "a whole number of 64 bits is required";

/// Returns the elements of a known list, set or tuple.
fn items<'v>(value: Value<'v>) -> &'v [Value<'v>] {
    value.elements().unwrap_or(&[])
}

/// Adds the outer marks of each of `from` to `value`.
fn marked_as<'v>(cx: &Cx<'v>, value: Value<'v>, from: &[Value<'v>]) -> Value<'v> {
    from.iter().fold(value, |value, from| cx.arena().marked(value, from.unmarked().1))
}

/// Returns the element type of a list, set or map type, or the dynamic type.
fn element_of<'v>(ty: &Type<'v>) -> Type<'v> {
    ty.element().copied().unwrap_or(Type::Dynamic)
}

/// Returns the element type of a known list, and `None` for any other value.
fn type_of_list<'v>(value: Value<'v>) -> Option<Type<'v>> {
    match value.unmarked().0.extended() {
        Some(Extended::Typed(Type::List(element), _)) => Some(**element),
        _ => None,
    }
}

/// Returns `true` if the length of a list, set or tuple is known. Unknown elements of a set may turn out to be equal.
fn length_is_known<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<bool> {
    match value.elements() {
        None => Ok(false),
        Some(items) => Ok(!is_set(value) || items.len() == 1 || is_wholly_known(cx, value)?),
    }
}

/// Returns `true` if `value` is known to be true.
fn is_true(value: Value<'_>) -> bool {
    matches!(value.unmarked().0, Value::Bool(true))
}

/// Declares a table of functions whose arguments are given by position. Rows are data, not control flow.
///
/// A type is `Any`, `Bool`, `Number`, `String`, `(list T)`, `(set T)` or `(map T)`. In brackets after it is what the
/// parameter also admits: `null unknown dynamic marked errors constraint`. The result is a type, or in braces the
/// function that computes one; `or null` says that the result may be null.
///
/// A body takes the context, one value for each parameter (see [`FromArguments`](FromArguments)) and
/// the slice of all further arguments where the row has `...`. Constants in brackets after the body come last, so that
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
        $crate::builtins::FromArguments::take(&$arguments)?
    };
    (@all $rest:ident $arguments:ident) => { $arguments.rest() };
    (@call [$($param:ident)*] [$($rest:ident)?] $body:path [$($constant:expr),*]) => {
        |cx, values| {
            #[allow(unused_variables)] // by a function without parameters
            let arguments = $crate::builtins::Arguments::new(cx, values);
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

#[cfg(test)]
pub(crate) mod tests;
