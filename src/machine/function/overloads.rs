//! Functions with several signatures. The gate picks one by the arguments of a call, a checker by their types.
//!
//! ```text
//! overloads! {
//!     /// Functions of text.
//!     pub static STRINGS:
//!     "charAt": "Returns the character at an index; the empty string at the end."
//!         ["'abc'.charAt(1)" => "'b'", "'abc'.charAt(4)" => "E0403"]
//!         fn "string_char_at_int" member (String, Int) -> String = char_at;
//!     "lists.range": "Returns the integers from 0 up to, but not including, a number." ["lists.range(2)" => "[0, 1]"]
//!         fn "lists_range" (Int) -> (list Int) = range;
//!     "size": "Returns the number of elements or characters." ["size('é')" => "1", "[1, 2].size()" => "2"]
//!         fn "size_list" ((list A)) -> Int = size;
//!         fn "list_size" member ((list A)) -> Int = size;
//!         fn "size_map" ((map A B)) -> Int = size;
//! }
//!
//! fn char_at<'v>(cx: &Cx<'v>, text: &'v str, index: i64) -> Result<&'v str> {
//!     pay(cx, text)?;
//!     let rest = text.get(byte_of(text, index)?..).unwrap_or("");
//!     Ok(rest.get(..rest.chars().next().map_or(0, char::len_utf8)).unwrap_or(""))
//! }
//! ```
//!
//! A body takes the [`Cx`](super::Cx), if it needs it, and an argument of the matching Rust type for each parameter
//! ([`FromArgument`](super::FromArgument)). It returns a Rust type or a [`Value`](dropforge_value::Value)
//! ([`IntoValue`](super::IntoValue)).
//!
//! An overload's id is unique. Type checks, costs and errors refer to it.
//!
//! A type is `Dyn Null Bool Int Uint Double String Bytes Timestamp Duration Type`, `(list T)`, `(map K V)`, `(optional
//! T)`, `(type T)`, the quoted name of an opaque type (`"net.IP"`), or a capital letter for a type parameter. A
//! `member` overload is called as `receiver.name(…)`, with the receiver as its first parameter; others as `name(…)`.
//! Overloads may share a body. It gets values of the parameter types; collections are checked up to their first
//! element.
//!
//! The registry joins the overloads of a function from several tables. If two have the same id, the later one wins.
//! Examples are expressions with an equal value of the same type, or the code of their error. Each runs as a test.

use std::borrow::Cow;
use std::fmt;

use super::body::NativeBody;

/// The type of a parameter or a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ty {
    /// Any value, of a type known at run time.
    Dyn,
    /// Null.
    Null,
    /// A boolean.
    Bool,
    /// A signed integer.
    Int,
    /// An unsigned integer.
    Uint,
    /// A 64-bit float.
    Double,
    /// Text.
    String,
    /// Bytes.
    Bytes,
    /// A timestamp.
    Timestamp,
    /// A duration.
    Duration,
    /// A type as a value: this one, or any type for [`Ty::Dyn`].
    Type(&'static Ty),
    /// A list of elements of one type.
    List(&'static Ty),
    /// A map from keys of one type to values of another.
    Map(&'static Ty, &'static Ty),
    /// A value of this type, or none.
    Optional(&'static Ty),
    /// A type parameter by its name.
    Param(&'static str),
    /// An opaque type by its name.
    Opaque(&'static str),
}

/// A signature of a function with its body.
#[derive(Debug, Clone)]
pub struct Overload {
    /// The id in checked programs and cost tables, unique in a language.
    pub id: &'static str,
    /// `true` if it is called on a receiver, which is its first parameter.
    pub member: bool,
    /// The types of the parameters, that of the receiver first.
    pub params: &'static [Ty],
    /// The type of the result.
    pub result: Ty,
    /// The body. It gets one value for each parameter.
    pub body: NativeBody,
}

impl Overload {
    /// Returns the parts that call sites depend on: id, form of call, types.
    pub(super) fn signature(&self) -> String {
        let types: Vec<_> = self.params.iter().map(ToString::to_string).collect();
        format!("{}{}({})->{};", self.id, if self.member { "." } else { "" }, types.join(","), self.result)
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ty::Dyn => "dyn",
            Ty::Null => "null",
            Ty::Bool => "bool",
            Ty::Int => "int",
            Ty::Uint => "uint",
            Ty::Double => "double",
            Ty::String => "string",
            Ty::Bytes => "bytes",
            Ty::Timestamp => "timestamp",
            Ty::Duration => "duration",
            Ty::Type(Ty::Dyn) => "type",
            Ty::Type(of) => return write!(f, "type({of})"),
            Ty::List(element) => return write!(f, "list({element})"),
            Ty::Map(key, value) => return write!(f, "map({key}, {value})"),
            Ty::Optional(of) => return write!(f, "optional_type({of})"),
            Ty::Param(name) | Ty::Opaque(name) => name,
        })
    }
}

/// Appends `more` to `overloads`. An overload with an existing id replaces the old one.
pub(super) fn joined(overloads: &[Overload], more: &[Overload]) -> Cow<'static, [Overload]> {
    let mut all = overloads.to_vec();
    for overload in more {
        match all.iter_mut().find(|other| other.id == overload.id) {
            Some(other) => *other = overload.clone(),
            None => all.push(overload.clone()),
        }
    }
    Cow::Owned(all)
}

/// Declares a table of overloaded functions. See the documentation of [`crate::function::overloads`].
#[macro_export]
#[doc(hidden)]
macro_rules! overloads {
    (@type ($($ty:tt)+)) => { $crate::overloads!(@type $($ty)+) };
    (@type list $element:tt) => { $crate::function::Ty::List(&$crate::overloads!(@type $element)) };
    (@type map $key:tt $value:tt) => {
        $crate::function::Ty::Map(&$crate::overloads!(@type $key), &$crate::overloads!(@type $value))
    };
    (@type optional $of:tt) => { $crate::function::Ty::Optional(&$crate::overloads!(@type $of)) };
    (@type type $of:tt) => { $crate::function::Ty::Type(&$crate::overloads!(@type $of)) };
    (@type Dyn) => { $crate::function::Ty::Dyn };
    (@type Null) => { $crate::function::Ty::Null };
    (@type Bool) => { $crate::function::Ty::Bool };
    (@type Int) => { $crate::function::Ty::Int };
    (@type Uint) => { $crate::function::Ty::Uint };
    (@type Double) => { $crate::function::Ty::Double };
    (@type String) => { $crate::function::Ty::String };
    (@type Bytes) => { $crate::function::Ty::Bytes };
    (@type Timestamp) => { $crate::function::Ty::Timestamp };
    (@type Duration) => { $crate::function::Ty::Duration };
    (@type Type) => { $crate::function::Ty::Type(&$crate::function::Ty::Dyn) };
    (@type $name:literal) => { $crate::function::Ty::Opaque($name) };
    (@type $param:ident) => { $crate::function::Ty::Param(stringify!($param)) };
    (@member) => { false };
    (@member member) => { true };
    (
        $(#[$meta:meta])* $visibility:vis static $table:ident:
        $($name:literal $(needs $needs:ident)? : $doc:literal [$($example:literal => $result:literal),* $(,)?]
            $(fn $($id:literal)+ $($member:ident)? ($($param:tt),* $(,)?) -> $answer:tt = $body:expr;)*
        )*
    ) => {
        $(#[$meta])*
        $visibility static $table: &[$crate::function::Builtin] = &[$($crate::function::Builtin::declared(
            $crate::bytecode::ImportKind::Function,
            $name,
            $crate::function::Params::Overloaded(std::borrow::Cow::Borrowed(const { &[
                $($crate::function::Overload {
                    id: concat!($($id),+),
                    member: $crate::overloads!(@member $($member)?),
                    params: const { &[$($crate::overloads!(@type $param)),*] },
                    result: const { $crate::overloads!(@type $answer) },
                    body: |cx, arguments| $crate::function::TypedBody::call($body, cx, arguments),
                }),*
            ] })),
            $crate::function::Body::Overloaded,
            $crate::function::Capabilities::NONE$(.and($crate::function::Capabilities::$needs))?,
            $doc,
            &[$(($example, $result)),*],
        )),*];
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytecode::ImportKind;
    use crate::function::{Builtin, Cx, Params, Registry};
    use dropforge_base::diagnostics::Result;
    use dropforge_value::Value;

    fn first<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
        args.first().copied().ok_or_else(|| cx.arity())
    }

    overloads! {
        static ONE:
        "f": "The first." ["f([1])" => "1"]
            fn "f_list" ((list A)) -> A = first;
            fn "f_map" member ((map String (list Int)), "net.IP") -> (optional B) = first;
    }

    overloads! {
        static OTHER:
        "f": "The first, again." ["f(int)" => "int"]
            fn "f_list" ((list Dyn)) -> Dyn = first;
            fn "f_type" (Type, (type A)) -> Bool = first;
    }

    fn overloads(builtin: &Builtin) -> Vec<String> {
        let Params::Overloaded(overloads) = &builtin.params else { panic!("not overloaded") };
        overloads.iter().map(Overload::signature).collect()
    }

    #[test]
    fn tables_print_type_names() {
        assert_eq!(
            overloads(&ONE[0]),
            ["f_list(list(A))->A;", "f_map.(map(string, list(int)),net.IP)->optional_type(B);"]
        );
    }

    #[test]
    fn overloads_of_one_name_are_joined_and_later_ones_count() {
        let registry = Registry::of(&[ONE, OTHER]);
        let function = registry.get(ImportKind::Function, "f").unwrap();
        assert_eq!(
            overloads(function),
            [
                "f_list(list(dyn))->dyn;",
                "f_map.(map(string, list(int)),net.IP)->optional_type(B);",
                "f_type(type,type(A))->bool;"
            ]
        );
        assert_eq!(function.doc, "The first. The first, again.");
        assert_eq!(*function.examples, [("f([1])", "1"), ("f(int)", "int")]);
        let alone = Registry::of(&[ONE]);
        assert_ne!(alone.get(ImportKind::Function, "f").unwrap().signature(), function.signature());
        assert_eq!(Registry::of(&[ONE, ONE]).get(ImportKind::Function, "f").unwrap().signature(), ONE[0].signature());
    }

    #[test]
    fn replacing_every_overload_replaces_the_documentation() {
        let registry = Registry::of(&[OTHER, OTHER]);
        let function = registry.get(ImportKind::Function, "f").unwrap();
        assert_eq!((&*function.doc, function.examples.len()), ("The first, again.", 1));
    }
}
